"""Determine a model's confidence in its answer to an example, and score it.

============  ==========================================================================================================
``logits``    the probability of the most likely choice among all choices, in tasks that compare log-likelihoods
``stated``    the confidence that the response states, with ``ask_confidence``; None if it states none
``agreement`` the share of generations with the most frequent answer, with ``repeats`` above 1 and no ``ask_confidence``
============  ==========================================================================================================

An answer that abstains has no confidence, since it claims nothing.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.statistics.metrics import CONFIDENCE_METRICS, NLL, Metric
from medtasks_utils.statistics.scores import Score, score_of_confidence
from medtasks_utils.writing import JsonObject

WAY_TO_ONE = (
    "needs a confidence: set ask_confidence=true (stated by the model) or repeats above 1 (agreement of the "
    "generations), or run a task whose name ends in _logits"
)


def confidence_metrics(benchmark: Benchmark[Any]) -> tuple[Metric, ...]:
    """Return the confidence metrics that a task reports; none if its answers have no confidence."""
    if not benchmark.task.generates:
        return *CONFIDENCE_METRICS, NLL
    has_any = benchmark.options.ask_confidence or benchmark.options.repeats > 1
    return CONFIDENCE_METRICS if has_any else ()


class Confidence(NamedTuple):
    """The confidences in the answers to an example, and their scores.

    Attributes:
        logged: the entry of the sample log: ``origin``, from the first column of the module's table, and ``values``,
            the confidences from 0 to 1, with None for an answer without a confidence.
        scores: scores by name. All confidence metrics except ``brier`` and ``nll`` are computed from ``confidence``.
    """

    logged: JsonObject
    scores: dict[str, list[Score]]


def scored(origin: str, values: Sequence[float | None], right: Sequence[float]) -> Confidence:
    """Score confidences.

    Args:
        origin: the origin of the confidences, from the first column of the module's table.
        values: the confidences from 0 to 1; None for an answer without a confidence.
        right: for each confidence, 1 for a right answer, else 0; in a tied vote, the share of the tied answers that are
            right.
    """
    pairs = list(zip(right, values, strict=True))
    squares: list[Score] = [None if sure is None else sure**2 - 2 * sure * share + share for share, sure in pairs]
    both: list[Score] = [None if sure is None else score_of_confidence(share, sure) for share, sure in pairs]
    return Confidence({"origin": origin, "values": values}, {"brier": squares, "confidence": both})


def of_answers(
    benchmark: Benchmark[Any], answers: Sequence[Answer], right: Sequence[float], together: dict[str, float]
) -> Confidence:
    """Return the confidence that each answer states or, without ``ask_confidence``, the agreement of all answers.

    Args:
        benchmark: the benchmark.
        answers: the answer of each generation.
        right: 1 for each right answer, else 0.
        together: the metrics from :func:`.generations.scores_together`; empty for a single generation.
    """
    abstention = benchmark.report.abstention
    claims = [abstention is None or answer != abstention.answer for answer in answers]
    if benchmark.options.ask_confidence:
        stated = (answer.details.get("confidence") for answer in answers)
        return scored("stated", [sure if claim else None for sure, claim in zip(stated, claims, strict=True)], right)
    votes = Counter(answer for answer in answers if answer.value is not None)
    majority = max(votes.values(), default=0)
    is_claim = any(votes[answer] == majority for answer, claim in zip(answers, claims, strict=True) if claim)
    return scored("agreement", [majority / len(answers) if is_claim else None], [together["maj@k"]])


def of_choices(choices: Sequence[str], target: Any, results: Sequence[tuple[float, bool]]) -> Confidence:
    """Return the confidence in the most likely choice; its scores include the right choices' negative log-likelihood.

    Args:
        choices: the texts of the choices.
        target: the right choice, or its index; a list if several are right.
        results: the log-likelihood of each choice, and whether greedy decoding would produce it.
    """
    shares = softmax([value for value, _ in results[: len(choices)]])
    is_right = np.isin(choices, target) | np.isin(range(len(choices)), target)
    chosen = int(shares.argmax())
    confidence = scored("logits", [float(shares[chosen])], [float(is_right[chosen])])
    confidence.scores["nll"] = [-math.log(max(float(shares[is_right].sum()), 1e-300))]
    return confidence
