"""What reading results has to know of each benchmark: a table, and nothing else in this package knows more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Breakdown:
    """A way to divide a benchmark's examples.

    Attributes:
        name: of the division, as in ``by subject``.
        key: the group of a document; None leaves it out.
        metrics: what is of interest in the groups, out of the task's metrics; the first is the one compared.
    """

    name: str
    key: Callable[[Row], str | None]
    metrics: tuple[str, ...] = ("acc",)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of this pack.

    Attributes:
        name: as under ``--metadata``.
        title: as its authors write it.
        metrics: its metrics, the most important first; those that a run did not compute are passed over.
        compared: those on which runs are compared.
        breakdowns: the divisions that matter.
        cluster: the field that examples share which are not independent; none if all are.
        stratum: the field whose groups enter macro averages with equal weight.
        prompt_fields: fields of a document that belong to the prompt and not to the example.
        answers: the answers there are, as logged, and what they mean; empty where they are not a few.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    compared: tuple[str, ...]
    breakdowns: tuple[Breakdown, ...]
    cluster: str | None = None
    stratum: str | None = None
    prompt_fields: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)


def _field(name: str) -> Callable[[Row], str | None]:
    def read(doc: Row) -> str | None:
        value = doc.get(name)
        return None if value in (None, "") else str(value)

    return read


def _kind_of_hallucination(doc: Row) -> str | None:
    """The kind, of the examples that show the hallucinated answer: the true answer has none."""
    return str(doc["category"]) if doc.get("shown") == "hallucinated" and doc.get("category") else None


UNANSWERED = "[invalid]"
"""What stands for an answer in the logs where none was found."""

_LETTERS = {"A": "A", "B": "B", "C": "C", "D": "D", UNANSWERED: "no answer"}

BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            name="medmcqa",
            title="MedMCQA",
            metrics=("acc", "answered", "format"),
            compared=("acc",),
            breakdowns=(Breakdown("subject", _field("subject_name")),),
            answers=_LETTERS,
        ),
        Benchmark(
            name="medexqa",
            title="MedExQA",
            metrics=(
                "macro_acc",
                "acc",
                "combined",
                "explanation",
                "rougeL",
                "bleu",
                "meteor",
                "bertscore",
                "answered",
            ),
            compared=("macro_acc", "acc", "combined", "explanation"),
            breakdowns=(Breakdown("specialty", _field("specialty"), ("acc", "combined", "explanation")),),
            stratum="specialty",
            answers=_LETTERS,
        ),
        Benchmark(
            name="medcalc_bench",
            title="MedCalc-Bench",
            metrics=("acc", "answered", "tool_calls", "turns"),
            compared=("acc",),
            breakdowns=(
                Breakdown("category", _field("category")),
                Breakdown("calculator", _field("calculator_name")),
            ),
            prompt_fields=("example_note", "example_question", "example_explanation", "example_answer"),
        ),
        Benchmark(
            name="medhallu",
            title="MedHallu",
            metrics=("f1", "acc", "precision", "recall", "accuracy_answered", "reward", "unsure_rate", "answered"),
            compared=("f1", "acc"),
            breakdowns=(
                Breakdown("difficulty", _field("difficulty"), ("f1", "acc", "precision", "recall", "unsure_rate")),
                Breakdown("kind", _kind_of_hallucination, ("acc", "unsure_rate")),
            ),
            cluster="row",
            answers={"0": "factual", "1": "hallucinated", "2": "unsure", UNANSWERED: "no answer"},
        ),
    )
}

EXPLANATION_METRICS = frozenset(
    ("explanation", "combined", "rougeL", "bleu", "meteor", "bertscore", "support", "coverage")
)
"""Metrics that depend on the explanation metrics or the judge that a run was given."""

PERCENT_METRICS = EXPLANATION_METRICS | {"answer_accuracy"}
"""Metrics that go from 0 to 100."""

UNBOUNDED_METRICS = frozenset(("reward", "tool_calls", "turns"))
"""Metrics without a fixed range; all others go from 0 to 1."""

GROUPS = {
    "medexqa": "the macro average over the five specialties",
    "medexqa_logits": "the macro average over the five specialties",
    "medtasks": "the unweighted mean over the four benchmarks",
}
"""Groups of tasks whose metrics are unweighted means over the tasks."""

_SCORER = re.compile(r"medtasks_utils\.(?:benchmarks\.)?(\w+)\.")
_TASK_NAME = re.compile(r"(medmcqa)_openmed|(medexqa)(?:_\w+)?|(medcalc_bench)(?:_\w+)?|(medhallu)(?:_\w+)?")


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The benchmark that a task belongs to, or None if it is not one of this pack.

    The harness has tasks of its own with such names, so the name counts only where the run's configuration is lost.
    """
    if config:
        match = _SCORER.match(str(config.get("process_results")))
        return match[1] if match and match[1] in BENCHMARKS else None
    match = _TASK_NAME.fullmatch(task)
    return next(name for name in match.groups() if name) if match else None
