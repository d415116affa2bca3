"""The lexical metrics against the libraries that define them, on ordinary, random and awkward text."""

import json
import math
import random
import shutil
import sys
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest
from explanations_model import save_model
from given import NLTK, TASKS, each_row, sample_rows, table, write_rows
from huggingface_hub import constants
from lm_eval.tasks import TaskManager
from running import evaluate, load, samples
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from medtasks_utils import judging
from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.medexqa.explanations import Explanations
from medtasks_utils.benchmarks.medexqa.metrics import METRICS, bertscore
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.errors import MedtasksError

METEOR = "medtasks_utils.benchmarks.medexqa.metrics.meteor"
SENTENCES = table("sentences")
AWKWARD = [*table("awkward_texts"), "y" * 3000, "word" * 40]


def words(count, seed):
    vocabulary = " ".join(SENTENCES).split() + [f"term{i}s" for i in range(400)]
    return " ".join(random.Random(seed).choices(vocabulary, k=count))


PAIRS = [
    *((a, (b, c)) for a in SENTENCES for b, c in pairwise(SENTENCES)),
    *((text, (other,)) for text in AWKWARD for other in (text, SENTENCES[0])),
    *((SENTENCES[0], (text, SENTENCES[1])) for text in AWKWARD),
    *((words(150, seed), (words(60, seed + 1), words(45, seed + 2))) for seed in range(5)),
]
LONG = [(words(2_000, 1), (words(60, 2), words(500, 3))), (words(3, 1), (words(2_000, 2),))]
"""Pairs that only METEOR's library scores within seconds."""


def reference_rouge(candidate, references):
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=False).score_multi(references, candidate)["rougeL"].fmeasure


def reference_bleu(candidate, references):
    """BLEU-4 by NLTK's precisions and penalty, without smoothing; the shortest reference sets the length."""
    from nltk.translate.bleu_score import brevity_penalty, modified_precision

    words, *others = (Tokenizer13a()(text).split() for text in (candidate, *references))
    precisions = [float(modified_precision(others, words, n)) for n in range(1, 5)]
    return brevity_penalty(min(map(len, others)), len(words)) * math.prod(precisions) ** 0.25


def reference_meteor(candidate, references):
    import nltk
    from nltk.translate.meteor_score import meteor_score

    words = [nltk.word_tokenize(text) for text in (candidate, *references)]
    return meteor_score(words[1:], words[0], wordnet=sys.modules[METEOR].wordnet)


REFERENCES = {
    "rougeL": (reference_rouge, PAIRS),
    "bleu": (reference_bleu, PAIRS),
    "meteor": (reference_meteor, PAIRS + LONG),
}
"""By the name of a metric, its value by the library that defines it, and what to score."""


@contextmanager
def nltk_data(folder):
    """NLTK with a folder of data, none of which is loaded yet. NLTK itself is slow to import."""
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader
    from nltk.tokenize import _get_punkt_tokenizer

    _get_punkt_tokenizer.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nltk.data.path", [str(folder)])
        patch.setattr(f"{METEOR}.wordnet", LazyCorpusLoader("wordnet", WordNetCorpusReader, None))
        yield
    _get_punkt_tokenizer.cache_clear()


@pytest.fixture(scope="module")
def metrics():
    with nltk_data(NLTK):
        yield {name: METRICS[name]() for name in REFERENCES}


# ---- the same values as the libraries'


@pytest.mark.parametrize("name", REFERENCES)
def test_every_metric_is_that_of_its_library_and_0_for_an_empty_text(name, metrics):
    metric, (reference, pairs) = metrics[name], REFERENCES[name]
    scores = metric.score(*zip(*pairs, strict=True))
    assert scores == pytest.approx([100 * reference(*pair) for pair in pairs], abs=1e-9)
    assert metric.score(["", " \n\t"], [["The heart.", "A pump."]] * 2) == [0.0, 0.0]
    assert not metric.score([], [])


@each_row("signatures_of_metrics")
def test_signatures_of_explanation_metrics_state_every_setting(name, begin, metrics):
    assert metrics[name].signature.startswith(begin)


# ---- WordNet and Punkt's model: found, fetched, or an error


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """An empty data path, and a folder to which downloads would go."""
    folder = tmp_path / "home" / "nltk_data"
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with nltk_data(folder):
        yield folder


PLACES = {"wordnet": "corpora", "punkt_tab": "tokenizers"}


def test_wordnet_and_punkt_are_downloaded_once_with_a_message(no_data, monkeypatch, caplog):
    fetched = []

    def download(name, **settings):
        fetched.append(name)
        place = no_data / PLACES[name]
        if name == "wordnet":  # which NLTK leaves packed
            place.mkdir(parents=True)
            shutil.make_archive(str(place / name), "zip", NLTK / PLACES[name], name)
        else:
            shutil.copytree(NLTK / PLACES[name], place)

    monkeypatch.setattr("nltk.download", download)
    for _ in range(2):
        metric = METRICS["meteor"]()
        metric.prepare()
    assert fetched == ["wordnet", "punkt_tab"]
    assert caplog.text.count("downloading it") == 2
    assert metric.score(["doctor"], [["physician"]]) == [50.0]


def test_a_missing_punkt_is_an_error_and_offline_nothing_is_requested(no_data, monkeypatch):
    shutil.copytree(NLTK / "corpora", no_data / "corpora")
    asked = []
    monkeypatch.setattr("nltk.download", lambda name, **settings: asked.append(name))
    for offline in (False, True):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        with pytest.raises(MedtasksError, match=r"^meteor needs NLTK's punkt_tab, which is missing"):
            METRICS["meteor"]().score(["a"], [["a"]])
    assert asked == ["punkt_tab"]


def test_data_that_others_may_write_to_is_refused_with_nltk_s_reason(no_data):
    shutil.copytree(NLTK, no_data)
    no_data.chmod(0o777)
    with pytest.raises(MedtasksError, match=r"wordnet.*chmod go-w"):
        METRICS["meteor"]().prepare()


# ---- BERTScore


@pytest.mark.torch
def test_bertscore_is_the_library_s_and_0_without_a_token(tmp_path):
    bert_score = pytest.importorskip("bert_score")
    model = str(save_model(tmp_path / "model"))
    pairs = [pair for pair in PAIRS if len(pair[0].split()) < 200 and "\x00" not in pair[0]]
    scores = bertscore.BertScore(model, device="cpu").score(*zip(*pairs, ("", ("a",)), strict=True))
    for (candidate, texts), score in zip(pairs, scores, strict=False):
        (theirs,) = bert_score.score([candidate], [list(texts)], model_type=model, num_layers=2, device="cpu")[2]
        assert score == pytest.approx(100 * float(theirs), abs=1e-3)
    assert scores[-1] == 0 and max(scores) - min(scores[:-1]) > 20


def test_of_a_model_that_bert_score_does_not_know_two_thirds_of_the_layers_are_used(monkeypatch, tmp_path):
    config = SimpleNamespace(num_hidden_layers=12, max_position_embeddings=512)
    tokenizer = MagicMock(all_special_ids=[0], model_max_length=10**30, __len__=lambda self: 9)
    scorer = Mock(return_value=Mock(_tokenizer=tokenizer))
    for name, module in (
        ("bert_score", Mock(BERTScorer=scorer)),
        ("bert_score.utils", Mock(model2layers={})),
        ("transformers", Mock(**{"AutoConfig.from_pretrained.return_value": config})),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    bertscore._load(str(tmp_path))
    assert (scorer.call_args.kwargs["num_layers"], tokenizer.model_max_length) == (8, 512)


@each_row("devices_of_bertscore")
def test_bertscore_uses_the_device_that_is_named_or_the_best_and_else_the_cpu(name, device, there, used, monkeypatch):
    def to(chosen):
        if chosen.partition(":")[0] not in (*there, "cpu"):
            raise RuntimeError("no such device")

    scorer = Mock(**{"_model.to": to, "num_layers": 2})
    torch = Mock(**{"cuda.is_available": lambda: "cuda" in there, "backends.mps.is_available": lambda: "mps" in there})
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(bertscore, "find_spec", bool)
    monkeypatch.setattr(bertscore, "_load", lambda model: scorer)
    metric = bertscore.BertScore("m", device)
    assert metric.score([" "], [["a"]]) == [0.0]
    assert scorer.device == used
    assert metric.signature == "bertscore|m|layer:2|measure:f1|no-idf|no-rescaling|refs:best"


@pytest.mark.parametrize(
    ("requested", "others"),
    [("all", "bleu,meteor,rougeL"), ("bleu,bertscore", "bleu"), ("bertscore", "bleu,meteor,rougeL")],
)
def test_a_missing_package_is_named_with_the_ways_out_before_anything_is_downloaded(
    requested, others, no_data, monkeypatch
):
    monkeypatch.setattr(bertscore, "find_spec", lambda name: None)
    options = MedExQAOptions.model_validate({"explanation_metrics": requested.split(",")})
    with pytest.raises(MedtasksError, match=rf"\[bertscore\].*Run medtasks fetch.*explanation_metrics={others},"):
        Explanations(options, "medexqa_all")


# ---- a run's scores of explanations: which count, references, weights

LEXICAL = {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}


def test_a_right_answer_is_scored_against_the_references_that_there_are_and_a_wrong_one_with_0(tmp_path):
    """The second of four rows has no reference, and the last is answered wrongly."""
    task, file = "medexqa_clinical_psychology", "medexqa/test/clinical_psychologist_test.tsv"
    rows = sample_rows(file)
    rows[0]["explanation_1"], rows[1]["explanation_1"], rows[1]["explanation_2"] = "", "", "  "
    write_rows(rows, tmp_path / file, header=False)

    def said(doc):
        place = doc["answer_idx"] - (doc["question"] == rows[3]["question"])
        return f"The answer is {'ABCD'[place]}. {doc['explanation_2'] or doc['explanation_1']}"

    def expected(sample):
        doc = sample["doc"]
        references = [text for text in (doc["explanation_1"], doc["explanation_2"]) if text.strip()]
        if not references:
            return [None] * 4
        rouge, bleu = (
            sample["acc"] * METRICS[name]().score([said(doc)], [references])[0] for name in ("rougeL", "bleu")
        )
        mean = (rouge + bleu) / 2
        return pytest.approx([rouge, bleu, mean, 30 * sample["acc"] + 0.7 * mean], abs=1e-9)

    options = {**LEXICAL, "mcq_weight": 0.3, "explanation_weight": 0.7}
    result = evaluate(task, lambda doc: f"<think>C?</think>{said(doc)}", data=tmp_path, metadata={"medexqa": options})
    logged, names = samples(result), ("rougeL", "bleu", "explanation", "combined")
    assert [sample["acc"] for sample in logged] == [1, 1, 1, 0] and "meteor" not in logged[0]
    found = [[sample[name] for name in names] for sample in logged]
    assert found == [*map(expected, logged)] and min(found[2]) > 0
    means = [sum(scores) / 3 for scores in zip(found[0], *found[2:], strict=True)]
    assert [result["results"][task][f"{name},strict-match"] for name in names] == pytest.approx(means)
    (remark,) = result["configs"][task]["metadata"]["remarks"]
    assert remark.startswith("examples without a reference explanation") and remark.endswith("1 of 4")


def test_a_judge_is_asked_as_the_options_say_and_each_example_has_its_scores(monkeypatch, tmp_path, caplog):
    """A failure counts once for each of two generations, over whose scores means are taken."""
    checked: list[Any] = []
    failed = judging.Judgement(None, "timeout", "too late")
    judged = [judging.Judgement(60.0, output={"support": 40.0, "coverage": 80.0}), failed]
    monkeypatch.setattr(judging, "check_endpoint", checked.append)
    monkeypatch.setattr(judging, "judge_all", lambda judge, settings, cases: judged[: len(cases)])
    monkeypatch.setenv("KEY", "a key")
    (options,) = table("options_of_a_judge")
    scorer = Explanations(MedExQAOptions(**options, judge_cache=str(tmp_path)), "mine", processes=3)
    assert checked == [judging.JudgeSettings(model, "http://h/v1", "a key", tmp_path, 5, 99) for model in "ab"]
    assert scorer.signatures["factscore"].endswith("|model:a+b")
    row = {"specialty": "", "question": "?", "options": ["x"] * 4, "answer_letter": "A", "explanation_2": ""}
    names, letters, references, expected = zip(*table("scores_of_a_judge"), strict=True)
    docs = [{**row, "id": name, "explanation_1": text} for name, text in zip(names, references, strict=True)]
    answers = [*map(Answer, letters, names)]
    scorer.add_scores(list(zip(docs, answers, strict=True)))
    assert json.loads(json.dumps([answer.scores for answer in answers])) == [*expected]
    assert [answer.details["judge"] for answer in answers] == [judged[0].logged, failed.logged, None, None]
    assert f"mine: the judge failed on {names[1]}; " in caplog.text and "timeout: too late" in caplog.text
    assert scorer.failure is None
    judged[0] = failed
    scorer.add_scores(list(zip(docs, answers, strict=True)))
    assert "failed on every explanation (2 in all; timeout: too late)" in str(scorer.failure)


def test_explanations_are_scored_by_default_but_not_in_the_group_of_accuracies():
    defaults = TaskManager(include_path=str(TASKS), include_defaults=False, metadata={"medtasks_data": "sample"})
    assert defaults.load(["medexqa_be"])["tasks"]["medexqa_biomedical_engineering"].options.use_explanations
    assert not defaults.load(["medtasks"])["tasks"]["medexqa_all"].options.use_explanations
    by_likelihood = load("medexqa_biomedical_engineering_logits", medexqa=LEXICAL).benchmark
    assert [metric.name for metric in by_likelihood.reported()] == ["acc", "answered", "answer_accuracy"]
