"""Seconds per 1,000 examples of each explanation metric, beside the library that defines it, in one run.

Usage: python measurements/explanations.py [--examples 940] [--bertscore-examples 60] [--repeat 3] [--metrics NAME ...]

Each example has two references of some 60 words and a response of some 150, drawn from the explanations of the bundled
sample. rouge-score and NLTK are called once per example, bert-score by this package once per example and beside it once
for all, in batches of 64. For BERTScore there is a BERT with the dimensions of SciBERT and random weights. Models are
loaded beforehand. The two sides take turns on the same threads; their fastest and slowest turns are shown, and the
ratio of the fastest. METEOR needs WordNet and punkt_tab, and is left out without them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from medtasks_utils.errors import MedtasksError

os.environ["TQDM_DISABLE"] = "1"

from medtasks_utils.benchmarks.medexqa.metrics import ExplanationMetric, make_metrics

COMPARED = ("rougeL", "meteor", "bertscore")  # no library has BLEU as it is here
SAMPLE = Path(__file__).resolve().parents[1] / "medtasks_utils" / "sample" / "medexqa"
PACKAGES = ("rouge-score", "sacrebleu", "nltk", "bert-score", "rapidfuzz", "torch", "transformers")

References = list[list[str]]
Scores = list[float]
Library = Callable[[Sequence[str], References], Scores]


def vocabulary() -> list[str]:
    """Words with punctuation as they stand in the sample's explanations, as often as they do there."""
    lines = [line for path in sorted(SAMPLE.glob("*/*.tsv")) for line in path.read_text(encoding="utf-8").splitlines()]
    return " ".join(field for line in lines for field in line.split("\t")[5:7]).split()


def examples(words: Sequence[str], count: int, rng: random.Random) -> tuple[list[str], References]:
    """Responses and references; a third of a response is quoted from its references in runs of five words."""
    candidates, references = [], []
    for _ in range(count):
        pair = [rng.choices(words, k=rng.randint(45, 75)) for _ in range(2)]
        candidate = rng.choices(words, k=rng.randint(110, 190))
        for start in range(0, len(candidate) - 5, 15):
            source = rng.choice(pair)
            place = rng.randrange(len(source) - 5)
            candidate[start : start + 5] = source[place : place + 5]
        candidates.append(" ".join(candidate))
        references.append([" ".join(reference) for reference in pair])
    return candidates, references


def rouge_score(candidates: Sequence[str], references: References) -> Scores:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = zip(candidates, references, strict=True)
    return [100 * scorer.score_multi(texts, candidate)["rougeL"].fmeasure for candidate, texts in pairs]


def nltk_meteor(candidates: Sequence[str], references: References) -> Scores:
    from nltk import word_tokenize
    from nltk.translate.meteor_score import meteor_score

    pairs = zip(candidates, references, strict=True)
    return [100 * meteor_score([*map(word_tokenize, texts)], word_tokenize(candidate)) for candidate, texts in pairs]


@contextmanager
def saved_bert(words: Sequence[str]) -> Iterator[Path]:
    """A BERT of SciBERT's dimensions with random weights, and a WordPiece tokenizer learnt from the words."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel

    # No random name: bert-score takes every model with "t5" in its path for a T5.
    folder = Path(tempfile.gettempdir()) / f"bert-{os.getpid()}"
    folder.mkdir()
    try:
        tokenizer = BertWordPieceTokenizer(lowercase=True)
        tokenizer.train_from_iterator(words, vocab_size=1500, show_progress=False)
        tokenizer.save_model(str(folder))
        # bert-score cannot read a tokenizer that names no length.
        (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "model_max_length": 512}))
        BertModel(BertConfig(vocab_size=31_090)).save_pretrained(folder)
        yield folder
    finally:
        shutil.rmtree(folder)


def bert_score(folder: Path) -> Library:
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=8, device="cpu")

    def scores(candidates: Sequence[str], references: References) -> Scores:
        return [100 * value for value in scorer.score(candidates, references)[2].tolist()]

    return scores


def seconds(call: Callable[[], Scores]) -> tuple[float, Scores]:
    started = time.perf_counter()
    scores = call()
    return time.perf_counter() - started, scores


def compare(
    make: Callable[[], ExplanationMetric],
    library: Library,
    candidates: Sequence[str],
    references: References,
    repeat: int,
) -> None:
    """Print a row of the table; a new metric each time, since it remembers words."""
    ours, theirs, difference = [], [], 0.0
    for _ in range(repeat):
        metric = make()
        metric.prepare()
        time_ours, scores = seconds(lambda metric=metric: metric.score(candidates, references))  # type: ignore[misc]
        time_theirs, expected = seconds(lambda: library(candidates, references))
        ours.append(time_ours)
        theirs.append(time_theirs)
        difference = max(difference, *(abs(a - b) for a, b in zip(scores, expected, strict=True)))
    per_thousand = 1000 / len(candidates)
    spans = (f"{min(times) * per_thousand:.3g} – {max(times) * per_thousand:.3g}" for times in (ours, theirs))
    ratio = min(theirs) / min(ours)
    print(f"| {make().name} | {len(candidates)} | {' | '.join(spans)} | {ratio:.1f} | {difference:.1g} |", flush=True)


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--examples", type=int, default=940)
    parser.add_argument("--bertscore-examples", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--metrics", nargs="+", choices=COMPARED, default=COMPARED)
    arguments = parser.parse_args()
    words = vocabulary()
    candidates, references = examples(words, arguments.examples, random.Random(0))

    print(f"{platform.system()}, {processor()}, {os.cpu_count()} cores, Python {platform.python_version()},")
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES) + "\n")
    print("| metric | examples | seconds per 1,000 | the library, s per 1,000 | ratio | largest difference, on 0–100 |")
    print("|---|---|---|---|---|---|")
    libraries: dict[str, Library] = {"rougeL": rouge_score, "meteor": nltk_meteor}
    for name in arguments.metrics:
        if name == "bertscore":
            few = arguments.bertscore_examples
            with saved_bert(words) as folder:

                def bertscore(model: str = str(folder)) -> ExplanationMetric:
                    return make_metrics(["bertscore"], model=model, device="cpu")[0]

                compare(bertscore, bert_score(folder), candidates[:few], references[:few], arguments.repeat)
            continue
        try:
            make_metrics([name])[0].prepare()
        except MedtasksError as error:
            print(f"| {name} | left out: {error} | | | | |")
            continue
        compare(
            lambda name=name: make_metrics([name])[0],  # type: ignore[misc]
            libraries[name],
            candidates,
            references,
            arguments.repeat,
        )


if __name__ == "__main__":
    main()
