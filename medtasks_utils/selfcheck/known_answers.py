"""Define the server's answers, and compute the scores expected from them.

The benchmark scores a response by its known answer, and the scores are combined by the metric's plain definition. The
components under test (the harness, the filters and the statistics' arrays) are not used here, except for aggregations
of other distributions.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.statistics.aggregation import Aggregation, Total
from medtasks_utils.statistics.score_arrays import MetricScores, integer_codes
from medtasks_utils.statistics.scores import Score, terms_of

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

StratumScore = tuple[str | None, Score]
"""The stratum of an example, and its score on a metric."""


class KnownAnswer(NamedTuple):
    """A response, and the answer that a filter should read from its text; empty if it should find none."""

    text: str
    answer: str


def known_answer(benchmark: Benchmark[Any], behaviour: str, example: Example, seed: str) -> KnownAnswer:
    """Return the server's response to an example's prompt for a behaviour, a key of :data:`BEHAVIOURS`.

    Examples with the same prompt need the same seed, to get the same response.
    """
    chance, right = random.Random(seed), str(example[benchmark.data.truth])
    if behaviour == "malformed":
        return KnownAnswer(chance.choice(["", f"<think>It is {right}"]), "")
    abstention = benchmark.report.abstention
    unsure = abstention.answer if abstention else ""
    if behaviour == "unsure" and not unsure:
        return KnownAnswer("<think>I am unsure.</think>", "")
    choices = [answer for answer in benchmark.answers if answer != unsure] or ["1", right]
    by_behaviour = {"right": right, "first": choices[0], "random": chance.choice(choices), "unsure": unsure}
    answer = str(by_behaviour[behaviour])
    return KnownAnswer(f"<think>Let me see.</think>\n{benchmark.written % answer}", answer)


def expected_scores(benchmark: Benchmark[Any], examples: Iterable[tuple[Example, KnownAnswer]]) -> ExpectedScores:
    """Return the expected value of each metric of a task; None if it should be undefined."""
    examples = list(examples)
    any_end_is_known = any(known.text for _, known in examples)
    scores: dict[str, list[StratumScore]] = defaultdict(list)
    for example, known in examples:
        answer = benchmark.answer(known.answer, example, known.text)
        scored = benchmark.scores(answer, example)
        of_ending = {  # the server ends every reply with "stop"; the end of an empty reply is unknown
            "cut": 0.0 if any_end_is_known else None,
            "acc_finished": scored["acc"] if known.text else None,
        }
        for name, score in (scored | of_ending).items():
            scores[name].append((benchmark.data.stratum_of(example), score))
    return {name: combined(metric_of(name, benchmark.name).aggregation, pairs) for name, pairs in scores.items()}


def combined(aggregation: Aggregation, scores: Sequence[StratumScore]) -> float | None:
    """Compute a metric by its plain definition: a sum, or a mean of ratios of sums, overall or by stratum.

    Without any score, return the aggregation's ``empty_value``. An aggregation of another distribution computes its own
    value.
    """
    if type(aggregation).__module__ != Aggregation.__module__:  # of another distribution, whose definition is unknown
        codes = integer_codes([str(stratum) for stratum, _ in scores])
        return aggregation.value(MetricScores.of([[score] for _, score in scores], codes, codes))
    if aggregation.within_stratum:
        by_stratum: dict[str | None, list[StratumScore]] = defaultdict(list)
        for stratum, score in scores:
            by_stratum[stratum].append((stratum, score))
        return fmean(combined(aggregation.within_stratum, members) or 0.0 for members in by_stratum.values())
    terms = [terms_of(score) for _, score in scores if score is not None]
    if not terms:
        return aggregation.empty_value
    pairs_of_classes = zip(*terms, strict=True)
    sums = [tuple(map(math.fsum, zip(*pairs, strict=True))) for pairs in pairs_of_classes]
    if isinstance(aggregation, Total):
        return sums[0][0]
    return fmean([numerator / denominator for numerator, denominator in sums if denominator] or [0.0])
