"""The lexical metrics against the libraries that define them, on ordinary, random and awkward text."""

import importlib.util
import math
import random
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from explanations_model import LENGTH, save_model
from given import NLTK
from huggingface_hub import constants
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from medtasks_utils.benchmarks.medexqa.explanations import Explanations
from medtasks_utils.benchmarks.medexqa.metrics import ExplanationMetric, make_metrics
from medtasks_utils.benchmarks.medexqa.metrics import bertscore as bertscore_module
from medtasks_utils.benchmarks.medexqa.metrics.bertscore import BertScore
from medtasks_utils.benchmarks.medexqa.metrics.bleu import Bleu
from medtasks_utils.benchmarks.medexqa.metrics.rouge import RougeL
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.errors import MedtasksError

Scores = Callable[[Sequence[str], Sequence[Sequence[str]]], list[float]]

SENTENCES = (
    "The doctor treats the sick man quickly with 2.5 mg of a drug.",
    "A physician cures an ill man rapidly; medication (2.5 mg) is given.",
    "His heart beats fast, so the malady is treated first.",
    "The hearts of men are pumps: they pulse, pound and went on moving.",
)
AWKWARD = (
    "x",
    "don't",
    "...",
    "e.g., 1,000.5-mg (b.i.d.)",
    "<skipped> one-\ntwo &amp;lt; &quot;three&quot; <skip<skipped>ped>",
    "a-<skipped>\nb",
    "😀 heart 👩‍⚕️ ❤️",
    "心脏 pumps 血液 в сердце قلب",
    "İstanbul ﬁne ß ΣΊΣΥΦΟΣ",
    "\x00\x01\x1f\x7f\u200b\ufeff",
    "tab\tand\x0bvertical\x0cfeed\u00a0space\u2028line\x85end",
    "y" * 3000,
    "The The the THE the. the, the",
    "word" * 40,
)


def words(count: int, seed: int) -> str:
    vocabulary = " ".join(SENTENCES).split() + [f"term{i}s" for i in range(400)]
    return " ".join(random.Random(seed).choices(vocabulary, k=count))


PAIRS: list[tuple[str, tuple[str, ...]]] = [
    *((a, (b, c)) for a in SENTENCES for b, c in pairwise(SENTENCES)),
    *((text, (other,)) for text in AWKWARD for other in (text, SENTENCES[0])),
    *((SENTENCES[0], (text, SENTENCES[1])) for text in AWKWARD),
    *((words(150, seed), (words(60, seed + 1), words(45, seed + 2))) for seed in range(20)),
    (words(10_000, 1), (words(60, 2), words(500, 3))),
    (words(3, 1), (words(10_000, 2),)),
]
TEXT = st.one_of(
    st.lists(
        st.sampled_from([*" ".join(SENTENCES).split(), *AWKWARD, ".", ",", "-\n", "&lt;", "1.", "é"]), max_size=30
    ).map(" ".join),
    st.text(st.sampled_from("aby .,-\n&;1<>\t'é心"), max_size=60),
    st.text(max_size=40),
)
REFERENCES = st.lists(TEXT.filter(str.strip), min_size=1, max_size=2)


def reference_rouge(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return [
        100 * scorer.score_multi(texts, text)["rougeL"].fmeasure
        for text, texts in zip(candidates, references, strict=True)
    ]


def reference_bleu(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """BLEU-4 by the paper's formula, with sums over all places of an n-gram and nothing shared with the metric."""
    return [100 * one_bleu(text, texts) for text, texts in zip(candidates, references, strict=True)]


def one_bleu(candidate: str, references: Sequence[str]) -> float:
    words, *others = ([*Tokenizer13a()(text).split()] for text in (candidate, *references))
    product = 1.0
    for n in range(1, 5):
        grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        clipped = 0
        for gram in set(grams):
            in_references = (sum(tuple(o[i : i + n]) == gram for i in range(len(o) - n + 1)) for o in others)
            clipped += min(grams.count(gram), max(in_references))
        if clipped == 0:
            return 0.0
        product *= (clipped / len(grams)) ** 0.25
    shortest = min(map(len, others))
    return product * (1.0 if len(words) > shortest else math.exp(1 - shortest / len(words)))


def split(pairs: Sequence[tuple[str, Sequence[str]]]) -> tuple[list[str], list[Sequence[str]]]:
    return [candidate for candidate, _ in pairs], [texts for _, texts in pairs]


@contextmanager
def nltk_data(folder: Path) -> Iterator[Any]:
    """NLTK with a folder of data, none of which is loaded yet; gives its WordNet. NLTK itself is slow to import."""
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader
    from nltk.tokenize import _get_punkt_tokenizer

    wordnet = LazyCorpusLoader("wordnet", WordNetCorpusReader, None)
    _get_punkt_tokenizer.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nltk.data.path", [str(folder)])
        patch.setattr("medtasks_utils.benchmarks.medexqa.metrics.meteor.wordnet", wordnet)
        yield wordnet
    _get_punkt_tokenizer.cache_clear()


@pytest.fixture(scope="module")
def wordnet():
    with nltk_data(NLTK) as found:
        yield found


def new_meteor() -> ExplanationMetric:
    (metric,) = make_metrics(["meteor"])
    return metric


@pytest.fixture(scope="module")
def meteor(wordnet):
    metric = new_meteor()
    metric.prepare()
    return metric


@pytest.fixture(scope="module")
def reference_meteor(wordnet):
    import nltk
    from nltk.translate.meteor_score import meteor_score

    def scores(candidates, references):
        return [
            100
            * meteor_score([nltk.word_tokenize(other) for other in texts], nltk.word_tokenize(text), wordnet=wordnet)
            for text, texts in zip(candidates, references, strict=True)
        ]

    return scores


# ---- the same values as the libraries'


@pytest.mark.parametrize(("metric", "reference"), [(RougeL(), reference_rouge), (Bleu(), reference_bleu)])
def test_rouge_and_bleu_equal_the_library(metric, reference):
    candidates, references = split([pair for pair in PAIRS if len(pair[0]) < 10_000])
    assert metric.score(candidates, references) == pytest.approx(reference(candidates, references), abs=1e-9)


@given(TEXT, REFERENCES)
@settings(max_examples=60)
def test_rouge_and_bleu_equal_the_library_on_any_text(candidate, texts):
    assert RougeL().score([candidate], [texts]) == reference_rouge([candidate], [texts])
    assert Bleu().score([candidate], [texts]) == pytest.approx(reference_bleu([candidate], [texts]), abs=1e-9)


def test_meteor_equals_nltk_and_knows_synonyms(meteor, reference_meteor):
    candidates, references = split([*PAIRS, ("doctor", ("physician",))])
    scores = meteor.score(candidates, references)
    assert scores == reference_meteor(candidates, references) and scores[-1] == 50.0


@given(candidate=TEXT, texts=REFERENCES)
@settings(max_examples=60)
def test_meteor_equals_nltk_on_any_text(meteor, reference_meteor, candidate, texts):
    assert meteor.score([candidate], [texts]) == reference_meteor([candidate], [texts])


def test_an_empty_candidate_scores_0(meteor):
    for metric in (RougeL(), Bleu(), meteor):
        assert metric.score(["", " \n\t"], [["The heart.", "A pump."]] * 2) == [0.0, 0.0]
        assert metric.score([], []) == []


# ---- WordNet and Punkt's model: found, fetched, or an error


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """An empty data path, and a folder to which downloads would go."""
    folder = tmp_path / "home" / "nltk_data"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with nltk_data(folder):
        yield folder


PLACES = {"wordnet": "corpora", "punkt_tab": "tokenizers"}


def test_both_are_fetched_once_and_said_so(no_data, monkeypatch, caplog):
    fetched = []

    def download(name, **settings):
        fetched.append(name)
        place = no_data / PLACES[name]
        if name == "wordnet":  # which NLTK leaves packed
            place.mkdir(parents=True)
            shutil.make_archive(str(place / name), "zip", NLTK / PLACES[name], name)
        else:
            shutil.copytree(NLTK / PLACES[name], place)
        return True

    monkeypatch.setattr("nltk.download", download)
    for _ in range(2):
        metric = new_meteor()
        metric.prepare()
    assert fetched == ["wordnet", "punkt_tab"]
    assert caplog.text.count("downloading it") == 2
    assert metric.score(["doctor"], [["physician"]]) == [50.0]
    assert "wordnet:0.1" in metric.signature


def test_without_punkt_and_internet_there_is_an_error(no_data, monkeypatch):
    shutil.copytree(NLTK / "corpora", no_data / "corpora")
    monkeypatch.setattr("nltk.download", lambda *args, **kwargs: False)
    with pytest.raises(MedtasksError, match=r"^meteor needs NLTK's punkt_tab, which is missing"):
        new_meteor().score(["a"], [["a"]])
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(MedtasksError, match="punkt_tab"):
        new_meteor().prepare()


def test_data_that_others_may_write_to_is_refused_with_nltk_s_reason(no_data):
    shutil.copytree(NLTK, no_data)
    no_data.chmod(0o777)
    with pytest.raises(MedtasksError, match=r"wordnet.*chmod go-w"):
        new_meteor().prepare()


# ---- making metrics, and scoring with all of them


def test_signatures_pin_every_choice(meteor):
    assert RougeL().signature.startswith("rougeL|measure:f|stem:none|refs:best|rouge-score:")
    assert Bleu().signature.startswith("bleu|max-order:4|tok:13a|case:mixed|smooth:none|length:shortest|sacrebleu:")
    assert meteor.signature.startswith("meteor|tok:word_tokenize|case:lc|refs:best|wordnet:0.1|nltk:")


# ---- BERTScore

HAS_BERT_SCORE = importlib.util.find_spec("bert_score") is not None


def with_bert_score(test: Any) -> Any:
    """Mark a test that needs bert-score, and skip it without; CI installs it with the extra."""
    return pytest.mark.torch(pytest.mark.skipif(not HAS_BERT_SCORE, reason="needs bert-score")(test))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Its tokenizer names no length, as SciBERT's."""
    return save_model(tmp_path_factory.mktemp("model") / "scibert_scivocab_test")


@with_bert_score
def test_bertscore_is_the_library_s_and_0_without_a_token(tmp_path):
    import bert_score

    model = str(save_model(tmp_path / "model", model_max_length=LENGTH))
    candidates, references = split([pair for pair in PAIRS if len(pair[0].split()) < 200 and "\x00" not in pair[0]])
    scores = BertScore(model, device="cpu").score([*candidates, ""], [*references, ["a"]])
    for candidate, texts, score in zip(candidates, references, scores, strict=False):
        (theirs,) = bert_score.score([candidate], [list(texts)], model_type=model, num_layers=2, device="cpu")[2]
        assert score == pytest.approx(100 * float(theirs), abs=1e-3)
    assert scores[-1] == 0 and max(scores) - min(scores[:-1]) > 20


@with_bert_score
def test_a_tokenizer_without_a_length_reads_as_many_tokens_as_the_model(model, tmp_path):
    def limit(**changed):
        folder = save_model(tmp_path / str(len(list(tmp_path.iterdir()))), **changed)
        return int(bertscore_module._load(str(folder))._tokenizer.model_max_length)

    assert [limit(), limit(positions=600), limit(positions=600, model_max_length=500)] == [LENGTH, 600, 500]
    assert BertScore(str(model)).signature == f"bertscore|{model}|layer:2|measure:f1|no-idf|no-rescaling|refs:best"


def test_all_that_is_missing_is_named_at_once_with_the_ways_out(no_data, monkeypatch):
    monkeypatch.setitem(sys.modules, "bert_score", None)
    monkeypatch.setattr("nltk.download", lambda *args, **kwargs: False)
    bertscore_module._load.cache_clear()
    says = r"NLTK's wordnet.*NLTK's punkt_tab.*needs bert-score.*Run medtasks fetch.*--set medexqa.explanation_metrics="
    with pytest.raises(MedtasksError, match=says):
        Explanations(MedExQAOptions.model_validate({}), "medexqa_all")


def test_without_bert_score_there_is_an_error_before_any_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "bert_score", None)
    bertscore_module._load.cache_clear()
    with pytest.raises(MedtasksError, match=r"needs bert-score.*medtasks\[bertscore\]"):
        make_metrics(["bertscore"])[0].prepare()
