"""What the server answers, and what every score then must be.

A response's scores are those that the benchmark itself gives the answer in it, without the harness, the reading of the
response and the arrays of the statistics, which are what is checked; each aggregation's plain definition puts them
together.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.errors import did_you_mean
from medtasks_utils.statistics.metrics import Metric

BEHAVIOURS = {
    "right": "the right answer",
    "first": "always the first answer there is",
    "random": "one drawn at random",
    "malformed": "nothing, or reasoning that is cut off",
    "unsure": "that it is unsure",
}
"""The ways in which the server answers, in words."""


class Reply(NamedTuple):
    """An answer served for one document: the response, and the answer in it, empty if there is none."""

    text: str
    given: str


def reply_of(benchmark: Benchmark, behaviour: str, doc: Example, seed: str) -> Reply:
    """What the server answers; documents with the same prompt have the same ``seed``, and so the same answer."""
    chance, right = random.Random(seed), str(doc[benchmark.truth])
    if behaviour == "malformed":
        return Reply(chance.choice(["", f"<think>It is {right}"]), "")
    if behaviour == "unsure" and benchmark.abstention is None:
        return Reply("<think>I am unsure.</think>", "")
    unsure = benchmark.abstention.answer if benchmark.abstention else ""
    choices = [each for each in benchmark.answers if each not in (UNANSWERED, unsure)] or ["1", right]
    by_behaviour = {"right": right, "first": choices[0], "random": chance.choice(choices), "unsure": unsure}
    given = str(by_behaviour[behaviour])
    return Reply(f"<think>Let me see.</think>\n{benchmark.written % given}", given)


def expected(benchmark: Benchmark, options: Any, examples: Iterable[tuple[Example, Reply]]) -> dict[str, float]:
    """The value of every metric of a task; those that no example has are left out."""
    scores: dict[str, list[Any]] = defaultdict(list)
    strata: dict[str, list[str]] = defaultdict(list)
    for doc, reply in examples:
        answer = benchmark.content(reply.given, doc, options, reply.text)
        own = benchmark.score(answer, doc, options)
        for name, score in own.values.items():
            known = [] if score is None else [score]
            scores[name] += known
            strata[name] += [own.stratum or ""] * len(known)
    found: dict[str, float] = {}
    for name, known in scores.items():
        aggregation = metric_of(name, benchmark.name).aggregation
        value = aggregation.by_definition(known, strata[name]) if known else aggregation.of_nothing
        if value is not None:
            found[name] = value
    return found


def undeclared(benchmark: Benchmark, options: Any, examples: Iterable[tuple[Example, Reply]], task: str) -> list[str]:
    """Return a line for each score that the benchmark gives and does not declare, which no run would report."""
    declared = {metric.name for metric in benchmark.metrics}
    given: dict[str, None] = {}
    for doc, reply in examples:
        answer = benchmark.content(reply.given, doc, options, reply.text)
        given |= dict.fromkeys(benchmark.score(answer, doc, options).values)
    return [
        f"{task}: score gives {name}{did_you_mean(name, declared)}, which is not among the metrics of the benchmark "
        f"{benchmark.name}, so that no run reports it: declare it there"
        for name in given
        if name not in declared
    ]


def never_given(declared: Iterable[Metric], reported: Collection[str], task: str) -> list[str]:
    """Return a line for each metric that a task declares and its results lack."""
    return [
        f"{task}: the metric {metric.name} is declared and never given: give it in score, or leave it out in metrics_of"
        for metric in declared
        if metric.name not in reported
    ]
