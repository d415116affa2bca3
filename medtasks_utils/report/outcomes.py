"""Where the points go: is an example lost to knowledge, or to the form of the answer?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from medtasks_utils.results import Sample

STRICT, FLEXIBLE = "strict-match", "flexible-extract"

RIGHT = "right"
FORM = "right, lost to its form"
STRICT_ONLY = "right for the strict rule alone"
WRONG = "wrong"
UNSURE = "unsure"
UNANSWERED = "no answer found"

OUTCOMES = {
    RIGHT: "both filters read the right answer",
    FORM: "flexible-extract reads the right answer, the benchmark's published rule (strict-match) does not",
    STRICT_ONLY: "strict-match finds the right answer where flexible-extract does not",
    WRONG: "an answer was found, and it is wrong",
    UNSURE: "the model said that it is unsure",
    UNANSWERED: "flexible-extract finds no answer",
}
"""Outcomes in the order in which they are shown, and what they mean."""


def outcome(sample: Sample) -> str | None:
    """The outcome of one example, right meaning right in most generations; None if it was not scored by accuracy."""
    by_filter = {name: metrics.get("acc") for name, metrics in sample.metrics.items()}
    names = [name for name in (FLEXIBLE, *by_filter) if by_filter.get(name) is not None]
    if not names:
        return None
    metrics = sample.metrics[names[0]]
    flexible = (metrics["acc"] or 0) > 0.5
    strict_value = by_filter.get(STRICT)
    strict = flexible if strict_value is None else strict_value > 0.5
    if flexible or strict:
        return RIGHT if flexible and strict else FORM if flexible else STRICT_ONLY
    if (metrics.get("unsure_rate") or 0) > 0.5:
        return UNSURE
    return UNANSWERED if metrics.get("answered") is not None and metrics["answered"] < 0.5 else WRONG  # type: ignore[operator]


def outcomes(samples: Iterable[Sample]) -> dict[str, int]:
    """How many examples have each outcome, in the order of :data:`OUTCOMES`; those that none has are left out."""
    counts = Counter(outcome(sample) for sample in samples)
    return {name: counts[name] for name in OUTCOMES if counts[name]}
