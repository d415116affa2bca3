"""Measure the scores that are reached on each benchmark without reading the question.

Usage: python measurements/shortcuts.py DATA [--json] [--write] [--folds 10]

DATA is a data directory, as for ``--data``. Each reader below sees the named part of an example, never the question.
It is trained on nine tenths of the rows and tested on the others, in ten folds; both answers of a row, and rows of one
note or question, are in the same fold. Its answers are scored like a model's. Intervals are at 95 %, with the
benchmark's clusters. With ``--write``, the figures are saved in the package's ``shortcuts.json``.

    medhallu.answer_text            words and pairs of words of the shown answer
    medhallu.style                  six counts in the shown answer: characters, words, commas, digits, capitals, hedges
    medmcqa.options, medexqa.options                          the four options, their lengths and places
    medmcqa.always_one_letter, medexqa.always_one_letter      the letter that is right most often in the other folds
    medcalc_bench.no_note           the calculator's median (of dates, the most frequent) in the other folds, or in the
                                    split train where DATA has it
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import Example, LoadReport, TaskInfo
from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, NOT_AVAILABLE
from medtasks_utils.benchmarks.shortcuts import content_hash, measured
from medtasks_utils.benchmarks.tables import find_split
from medtasks_utils.errors import DataError
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.harness.sources import BenchmarkFiles
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.score_arrays import MetricScores, integer_codes
from medtasks_utils.writing import table

Predict = Callable[[Sequence[Example], Sequence[Example]], list[Any]]
"""A function that trains a reader on the first examples, and returns its answers to the second."""


# ---- readers


def answer_text(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    reader = make_pipeline(words, LogisticRegression(C=10, max_iter=2000))
    reader.fit([example["answer"] for example in train], [example["target"] for example in train])
    return list(map(str, reader.predict([example["answer"] for example in test])))


_HEDGES = re.compile(r"\b(?:may|might|could|possibly|likely|suggests?|appears?|seems?)\b", re.IGNORECASE)


def style(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    def counts(examples: Sequence[Example]) -> list[list[int]]:
        texts = [example["answer"] for example in examples]
        return [
            [
                len(text),
                len(text.split()),
                text.count(","),
                sum(character.isdigit() for character in text),
                sum(character.isupper() for character in text),
                len(_HEDGES.findall(text)),
            ]
            for text in texts
        ]

    reader = make_pipeline(StandardScaler(), LogisticRegression())
    reader.fit(counts(train), [example["target"] for example in train])
    return list(map(str, reader.predict(counts(test))))


def options(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    texts = [text for example in train for text in example["options"]]
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit(texts)

    def features(examples: Sequence[Example]) -> Any:
        shown = words.transform([text for example in examples for text in example["options"]])
        shapes = [shape for example in examples for shape in _shapes(example["options"])]
        return sparse.hstack([shown, sparse.csr_matrix(np.array(shapes, dtype=float))]).tocsr()

    is_right_option = [place == example["answer_idx"] for example in train for place in range(4)]
    reader = LogisticRegression(C=0.1, max_iter=2000).fit(features(train), is_right_option)
    best = reader.decision_function(features(test)).reshape(-1, 4).argmax(axis=1)
    return [LETTERS[place] for place in best]


def _shapes(texts: Sequence[str]) -> Iterator[list[float]]:
    """Yield features of each option: place, longest, shortest, relative length, digits, "all", "none"."""
    lengths = np.array(list(map(len, texts)))
    for place, text in enumerate(texts):
        places = [float(place == other) for other in range(4)]
        relative = float((lengths[place] - lengths.mean()) / (lengths.std() + 1))
        extremes = [float(lengths[place] == lengths.max()), float(lengths[place] == lengths.min()), relative]
        words = text.lower()
        yield [*places, *extremes, float(any(map(str.isdigit, words))), float("all" in words), float("none" in words)]


def always_one_letter(train: Sequence[Example], test: Sequence[Example]) -> list[str]:
    ((letter, _),) = Counter(example["answer_letter"] for example in train).most_common(1)
    return [letter] * len(test)


def no_note(train: Sequence[Example], test: Sequence[Example]) -> list[Any]:
    known: dict[int, list[Any]] = defaultdict(list)
    for example in train:
        if example["ground_truth"] != NOT_AVAILABLE:
            known[example["calculator_id"]].append(KINDS[example["judgement"]].strict(example["ground_truth"]))
    return [_middle(known[example["calculator_id"]], example["judgement"]) for example in test]


def _middle(values: Sequence[Any], kind: str) -> Any:
    if not values:
        return None
    return Counter(values).most_common(1)[0][0] if kind in ("date", "weeks_days") else median_low(values)


READERS: dict[str, dict[str, Predict]] = {
    "medhallu": {"answer_text": answer_text, "style": style},
    "medmcqa": {"options": options, "always_one_letter": always_one_letter},
    "medexqa": {"options": options, "always_one_letter": always_one_letter},
    "medcalc_bench": {"no_note": no_note},
}
"""The readers by benchmark. For benchmarks in ``KEPT``, the first reader's verdict on each example is saved too."""
KEPT = {"medhallu"}
GROUPS = {"medhallu": "row", "medmcqa": "question", "medexqa": "question", "medcalc_bench": "note"}


# ---- what is measured


@dataclass(frozen=True)
class Data:
    """Rows on which readers are trained and tested, and the tasks that use them or a part of them."""

    benchmark: str
    task: str
    options: dict[str, Any] = field(default_factory=dict)
    parts: tuple[tuple[str, dict[str, Any]], ...] = ()
    specialties: bool = False


def _data() -> list[Data]:
    levels = tuple(("medhallu", {"difficulty": level}) for level in ("easy", "medium", "hard"))
    return [
        Data("medhallu", "medhallu", {}, (*levels, ("medhallu_style_balanced", {"style_balanced": True}))),
        Data("medhallu", "medhallu_artificial", {"subset": "pqa_artificial"}),
        Data("medmcqa", "medmcqa_openmed"),
        Data("medexqa", "medexqa_all", specialties=True),
        Data("medcalc_bench", "medcalc_bench", {}, (("medcalc_bench_lite", {"per_calculator": 4}),)),
        Data("medcalc_bench", "medcalc_bench_v1_2", {"dataset_version": "1.2"}),
        Data("medcalc_bench", "medcalc_bench_corrected", {"dataset_version": "corrected"}),
    ]


def bound(data: Data, task: str = "", options: dict[str, Any] | None = None, subset: str | None = None) -> Any:
    """Return the benchmark of the rows, bound to their options and further ones."""
    benchmark = benchmarks()[data.benchmark]
    settings = benchmark.options_class(**{**data.options, **(options or {})})
    return benchmark(settings, TaskInfo(task or data.task, subset))


def load(root: str, benchmark: Benchmark[Any]) -> list[Example]:
    split = getattr(benchmark.options, "split", "train")
    return benchmark.load(BenchmarkFiles(root, type(benchmark)), split, LoadReport())


def answers_out_of_fold(predict: Predict, examples: Sequence[Example], group: str, folds: int) -> list[Any]:
    """Return an answer to each example, by a reader that was trained without its group."""
    answers: list[Any] = [None] * len(examples)
    groups = integer_codes(" ".join(str(example[group]).split()).casefold() for example in examples)
    for train, test in GroupKFold(folds).split(groups, groups=groups):
        predicted = predict([examples[index] for index in train], [examples[index] for index in test])
        for index, answer in zip(test, predicted, strict=True):
            answers[index] = answer
    return answers


def figures(benchmark: Benchmark[Any], examples: Sequence[Example], answers: Sequence[Any]) -> dict[str, Any]:
    """Return by metric the value, low and high that a run with these answers would have."""
    scored = [benchmark.scores(Answer(a), e) for e, a in zip(examples, answers, strict=True)]
    clusters = integer_codes(benchmark.data.cluster_of(example) for example in examples)
    strata = integer_codes(benchmark.data.stratum_of(example) or "" for example in examples)
    found = {}
    for metric in benchmark.metrics:
        if metric.name in ("acc", *benchmark.report.compared) and metric.name in scored[0]:
            scores = MetricScores.of([[own[metric.name]] for own in scored], clusters, strata)
            own = estimate(scores, metric)
            found[metric.name] = [None if end is None else round(end, 4) for end in (own.value, own.low, own.high)]
    return found


PARTS = {"medexqa": "935 of the 940 rows of MedExQA", "medcalc_bench": "the first release"}
"""What part of the Hub's rows the files have, if it is not all."""


def measure(root: str, data: Data, folds: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entries of ``shortcuts.json`` for these rows: parts, and verdicts."""
    benchmark = bound(data)
    examples, content = load(root, benchmark), benchmark.data.content
    keys = [content_hash([example], content) for example in examples]
    group = GROUPS[data.benchmark]
    answers = {}
    for name, predict in READERS[data.benchmark].items():
        if name == "no_note" and (train := _train_split(root, data)):
            answers[name] = dict(zip(keys, predict(train, examples), strict=True))
        else:
            answers[name] = dict(zip(keys, answers_out_of_fold(predict, examples, group, folds), strict=True))
    kept = {}
    if data.benchmark in KEPT:
        first = answers[next(iter(READERS[data.benchmark]))]
        contents = sorted(
            (json.dumps([example[name] for name in content]), first[key] == example["target"])
            for key, example in zip(keys, examples, strict=True)
        )
        bits = "".join(str(int(right)) for _, right in contents)
        kept[content_hash(examples, content)] = f"{int(bits, 2):x}"
        measured(benchmark.data.shortcuts)["verdicts"].update(kept)
    parts: list[tuple[str, dict[str, Any], str | None]] = [(data.task, {}, None)]
    parts += [(task, options, None) for task, options in data.parts]
    if data.specialties:
        parts += [(f"medexqa_{name}", {}, name) for name in dict.fromkeys(e["specialty"] for e in examples)]
    found = {}
    for task, options, subset in parts:
        part = bound(data, task, options, subset)
        rows = load(root, part)
        keys_of_part = [content_hash([row], content) for row in rows]
        own = {name: figures(part, rows, [by_key[key] for key in keys_of_part]) for name, by_key in answers.items()}
        if options.get("style_balanced"):
            again = answers_out_of_fold(answer_text, rows, group, folds)
            own["answer_text_trained_on_it"] = figures(part, rows, again)
        shown = ",".join(f"{key}={value}" for key, value in options.items())
        found[content_hash(rows, content)] = {
            "task": task,
            "options": shown,
            "n": len(rows),
            "source": _source(root, benchmark),
            "measured": date.today().isoformat(),
            "package": f"scikit-learn {sklearn.__version__}",
            **({"part": PARTS[data.benchmark]} if data.benchmark in PARTS and root != "hub" else {}),
            "readers": own,
        }
    return found, kept


def _source(root: str, benchmark: Benchmark[Any]) -> str:
    """Return the repository and its revision, or ``files`` for a directory."""
    repository = benchmark.repository
    files = BenchmarkFiles(root, type(benchmark))
    commit = files.folder(repository).name if root == "hub" else ""
    return f"{repository.name}@{commit}" if commit else "files"


def _train_split(root: str, data: Data) -> list[Example]:
    """Return the solved rows of the split train; empty if DATA has none."""
    benchmark = bound(data)
    if getattr(benchmark.options, "is_corrected", True):
        return []
    folder = BenchmarkFiles(root, type(benchmark)).folder(benchmark.repository)
    return load(root, bound(data, options={"split": "train"})) if find_split(folder, "train") else []


def by_reader(measured_parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the figures by ``benchmark.reader``: those of all rows first, with the parts under ``parts``."""
    found: dict[str, Any] = {}
    for name, parts in measured_parts.items():
        for content, part in parts.items():
            for reader, own in part["readers"].items():
                values = {metric: value for metric, (value, _, _) in own.items()}
                intervals = {metric: [low, high] for metric, (_, low, high) in own.items()}
                told = {key: part[key] for key in ("task", "options", "n", "source", "measured")}
                row = {**values, **told, "intervals": intervals, "content": content}
                found.setdefault(f"{name}.{reader}", {**row, "parts": []})["parts"].append(row)
    return found


def as_text(readers: dict[str, Any]) -> str:
    head = ("", "task", "n", "metric", "%", "95 %")
    rows = []
    for key, found in readers.items():
        for part in found["parts"]:
            for metric, (low, high) in part["intervals"].items():
                ends = "" if low is None else f"{100 * low:.1f}–{100 * high:.1f}"
                rows.append(
                    (key, f"{part['task']} {part['options']}", part["n"], metric, f"{100 * part[metric]:.1f}", ends)
                )
    return table([head, *rows], left=(0, 1))


def write(path: Path, parts: dict[str, Any], kept: dict[str, str]) -> None:
    """Add the figures to the package's file, which keeps those of other rows."""
    known = json.loads(path.read_text(encoding="utf-8"))
    known["parts"].update(parts)
    known["verdicts"].update(kept)
    path.write_text(_compact(known) + "\n", encoding="utf-8")


def _compact(known: dict[str, Any]) -> str:
    """Return JSON with one line for each part."""
    blocks = []
    for name, entries in known.items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
        blocks.append(f" {json.dumps(name)}: {{\n{lines}\n }}" if lines else f" {json.dumps(name)}: {{}}")
    return "{\n" + ",\n".join(blocks) + "\n}"


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", help="a data directory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", action="store_true", help="save the figures in the package")
    parser.add_argument("--folds", type=int, default=10, help="number of folds; the few rows of the sample need fewer")
    arguments = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    for data in _data():
        try:
            parts, kept = measure(arguments.data, data, arguments.folds)
        except DataError as error:
            print(f"{data.task}: left out: {error}", file=sys.stderr)
            continue
        parts = {content: part for content, part in parts.items() if content not in found.get(data.benchmark, {})}
        if arguments.write:
            write(bound(data).data.shortcuts, parts, kept)
        found[data.benchmark] = {**parts, **found.get(data.benchmark, {})}
    if not found:
        raise SystemExit(f"nothing to measure in {arguments.data}")
    readers = by_reader(found)
    print(json.dumps(readers, indent=2) if arguments.json else as_text(readers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
