"""Find how sure a model is of its answer to an example, and score it.

============  ==========================================================================================================
``logits``    the probability of the chosen letter among all choices, for tasks of log-likelihoods
``stated``    what the response states, with the option ``ask_confidence``; None where it states nothing
``agreement`` the share of the generations that give the most frequent answer, with ``repeats`` and without the option
============  ==========================================================================================================

An answer that abstains has no confidence, since it claims nothing.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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
    """Return the metrics of confidences that a task reports; none if its answers have no confidence."""
    if not benchmark.task.generates:
        return *CONFIDENCE_METRICS, NLL
    has_any = benchmark.options.ask_confidence or benchmark.options.repeats > 1
    return CONFIDENCE_METRICS if has_any else ()


class Confidence(NamedTuple):
    """The confidences of one example.

    Attributes:
        origin: ``logits``, ``stated`` or ``agreement``.
        values: one for each generation that is scored by itself, 0 to 1; None if there is none.
        right: for each, whether the answer is right, 0 or 1, or a share for a tie of a vote.
        of_target: for log-likelihoods, the probability of the right choice; else None.
    """

    origin: str
    values: list[float | None]
    right: Sequence[float]
    of_target: float | None = None

    @property
    def logged(self) -> JsonObject:
        """The field ``confidence`` of the sample."""
        return {"origin": self.origin, "values": self.values}

    def scores(self) -> dict[str, list[Score]]:
        """Return the scores of ``brier`` and ``nll`` and, under ``confidence``, those of all other metrics."""
        pairs = list(zip(self.right, self.values, strict=True))
        return {
            "nll": [None if self.of_target is None else -math.log(max(self.of_target, 1e-300))],
            "brier": [None if sure is None else sure**2 - 2 * sure * right + right for right, sure in pairs],
            "confidence": [None if sure is None else score_of_confidence(right, sure) for right, sure in pairs],
        }


def of_answers(
    benchmark: Benchmark[Any], answers: Sequence[Answer], right: Sequence[float], together: dict[str, float]
) -> Confidence:
    """Return the confidences of an example's answers, which are stated, or that of their majority.

    Args:
        benchmark: the benchmark.
        answers: the answer of each generation.
        right: whether each is right, 0 or 1.
        together: the metrics over all generations; empty for a single one.
    """
    abstention = benchmark.report.abstention
    claims = [abstention is None or answer != abstention.answer for answer in answers]
    if benchmark.options.ask_confidence:
        stated = (answer.details.get("confidence") for answer in answers)
        return Confidence(
            "stated", [sure if claim else None for sure, claim in zip(stated, claims, strict=True)], right
        )
    votes = Counter(answer for answer in answers if answer.value is not None)
    majority = max(votes.values(), default=0)
    is_claim = any(votes[answer] == majority for answer, claim in zip(answers, claims, strict=True) if claim)
    return Confidence("agreement", [majority / len(answers) if is_claim else None], [together["maj@k"]])


def of_choices(log_likelihoods: Sequence[float], targets: Sequence[int]) -> Confidence:
    """Return the confidence in the most likely of several choices, of which those at ``targets`` are right."""
    shares = np.exp(np.array(log_likelihoods) - np.logaddexp.reduce(log_likelihoods))
    chosen = int(np.argmax(shares))
    return Confidence("logits", [float(shares[chosen])], [float(chosen in targets)], float(shares[targets].sum()))
