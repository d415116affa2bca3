"""Define the server's answers, and compute the scores that must follow from them.

The benchmark scores a response by its known answer, and each metric's aggregation combines the scores. The parts that
are checked (the harness and the filters) are not used here.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.statistics.score_arrays import MetricScores, integer_codes
from medtasks_utils.statistics.scores import Score

BEHAVIOURS = {
    "right": "always right",
    "first": "always the first option",
    "random": "drawn at random",
    "malformed": "missing, or reasoning that is cut off",
    "unsure": "that the model is unsure",
}
"""The behaviours of the server, each with a description that completes "answers are …"."""


ExpectedScores = dict[str, float | None]
"""Values by metric; None if a metric has no value."""


class KnownAnswer(NamedTuple):
    """The server's response to a prompt: its text, and the answer in it, which is empty if there is none."""

    text: str
    answer: str


def known_answer(benchmark: Benchmark, behaviour: str, example: Example, seed: str) -> KnownAnswer:
    """Return the server's response to an example's prompt.

    Args:
        benchmark: the example's benchmark.
        behaviour: a key of :data:`BEHAVIOURS`.
        example: the example.
        seed: the seed of the random choices; examples with the same prompt need the same seed, so that they get the
            same response.
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
    """Return the value that each metric of a task must have; None if it must have none."""
    examples = list(examples)
    any_end_is_known = any(known.text for _, known in examples)
    scores: dict[str, list[list[Score]]] = defaultdict(list)
    strata: dict[str, list[str]] = defaultdict(list)
    for example, known in examples:
        answer = benchmark.content(known.answer, example, options, known.text)
        scored = benchmark.score(answer, example, options)
        of_ending = {  # the server ends every reply with "stop"; the end of an empty reply is unknown
            "cut": 0.0 if any_end_is_known else None,
            "acc_finished": scored.values["acc"] if known.text else None,
        }
        for name, score in (scored.values | of_ending).items():
            scores[name].append([score])
            strata[name].append(scored.stratum or "")
    expected: ExpectedScores = {}
    for name, rows in scores.items():
        codes = integer_codes(strata[name])
        expected[name] = metric_of(name, benchmark.name).aggregation.value(MetricScores.of(rows, codes, codes))
    return expected
