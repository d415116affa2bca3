"""The answers that the server gives, and the scores that must follow from them.

A response's scores are computed by the benchmark from the known answer, and are combined by each aggregation's plain
definition. So the parts that are checked are not used here: the harness, the filters, and the arrays of the statistics.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.errors import did_you_mean
from medtasks_utils.statistics.metrics import REPLY_METRICS, Metric

BEHAVIOURS = {
    "right": "always right",
    "first": "always the first option",
    "random": "drawn at random",
    "malformed": "missing, or reasoning that is cut off",
    "unsure": "that the model is unsure",
}
"""The ways in which the server answers: names, and descriptions that complete "answers are …"."""


ExpectedScores = dict[str, float | None]
"""Values by metric; None where a metric has no value."""


class KnownAnswer(NamedTuple):
    """The server's response to one prompt: its text, and the answer in it (empty if there is none)."""

    text: str
    answer: str


def known_answer(benchmark: Benchmark, behaviour: str, example: Example, seed: str) -> KnownAnswer:
    """Return the server's response to an example's prompt.

    Args:
        benchmark: the example's benchmark.
        behaviour: a key of :data:`BEHAVIOURS`.
        example: the example.
        seed: seed of the random choices; examples with the same prompt must have the same seed, and so get the same
            answer.
    """
    chance, right = random.Random(seed), str(example[benchmark.truth])
    if behaviour == "malformed":
        return KnownAnswer(chance.choice(["", f"<think>It is {right}"]), "")
    if behaviour == "unsure" and benchmark.abstention is None:
        return KnownAnswer("<think>I am unsure.</think>", "")
    unsure = benchmark.abstention.answer if benchmark.abstention else ""
    choices = [answer for answer in benchmark.answers if answer not in (UNANSWERED, unsure)] or ["1", right]
    by_behaviour = {"right": right, "first": choices[0], "random": chance.choice(choices), "unsure": unsure}
    answer = str(by_behaviour[behaviour])
    return KnownAnswer(f"<think>Let me see.</think>\n{benchmark.written % answer}", answer)


def expected_scores(
    benchmark: Benchmark, options: Any, examples: Iterable[tuple[Example, KnownAnswer]]
) -> ExpectedScores:
    """Return the value that each metric of a task must have; None where it must have none."""
    examples = list(examples)
    any_end_is_known = any(known.text for _, known in examples)
    scores: dict[str, list[Any]] = defaultdict(list)
    strata: dict[str, list[str]] = defaultdict(list)
    for example, known in examples:
        answer = benchmark.content(known.answer, example, options, known.text)
        scored = benchmark.score(answer, example, options)
        of_ending = {  # the server ends every reply by itself; of an empty one it is not known how it ended
            "cut": 0.0 if any_end_is_known else None,
            "acc_finished": scored.values["acc"] if known.text else None,
        }
        for name, score in (scored.values | of_ending).items():
            scores.setdefault(name, [])
            if score is not None:
                scores[name].append(score)
                strata[name].append(scored.stratum or "")
    expected: ExpectedScores = {}
    for name, values in scores.items():
        aggregation = metric_of(name, benchmark.name).aggregation
        expected[name] = aggregation.by_definition(values, strata[name]) if values else aggregation.empty_value
    return expected


def metric_problems(
    task: str, benchmark: Benchmark, declared: Iterable[Metric], computed: Iterable[str], reported: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each score that is computed but not declared, and for each metric that is declared but lacking.

    Args:
        task: the task's name.
        benchmark: the task's benchmark.
        declared: the metrics that the task declares.
        computed: names of the scores that the benchmark computes, and of the metrics of replies.
        reported: the keys of the task's results, such as ``acc,strict-match``.
    """
    known = {metric.name for metric in (*benchmark.metrics, *REPLY_METRICS)}
    for name in computed:
        if name not in known:
            yield (
                f"{task}: score() returns {name}{did_you_mean(name, known)}, which no run reports, since the benchmark "
                f"{benchmark.name} does not declare it: add it to its metrics"
            )
    for lacking in {metric.name for metric in declared} - {key.partition(",")[0] for key in reported}:
        yield (
            f"{task}: the metric {lacking} is declared but never computed: return it from score(), or leave it out in "
            "metrics_of()"
        )
