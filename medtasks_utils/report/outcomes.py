"""Where the points go: is an example lost to knowledge, or to the form of the answer?"""

from __future__ import annotations

import math
from collections.abc import Iterable

from medtasks_utils.results.samples import FLEXIBLE, STRICT, Sample

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


def shares(sample: Sample) -> dict[str, float]:
    """The share of an example's generations that have each outcome; empty if it was not scored by accuracy.

    Of what the two filters read, only the shares that are right are known: as many generations as can be are taken as
    right for both.
    """
    by_filter = {name: metrics.get("acc") for name, metrics in sample.metrics.items()}
    known = {name: value for name in (FLEXIBLE, *by_filter) if (value := by_filter.get(name)) is not None}
    if not known:
        return {}
    name, flexible = next(iter(known.items()))
    strict = known.get(STRICT, flexible)
    answered, unsure = (sample.metrics[name].get(metric) for metric in ("answered", "unsure_rate"))
    left = 1 - max(flexible, strict)
    found = {RIGHT: min(flexible, strict), FORM: max(0.0, flexible - strict), STRICT_ONLY: max(0.0, strict - flexible)}
    found[UNSURE] = min(left, unsure or 0.0)
    found[UNANSWERED] = min(left - found[UNSURE], 0.0 if answered is None else 1 - answered)
    found[WRONG] = left - found[UNSURE] - found[UNANSWERED]
    return {name: share for name, share in found.items() if share > 1e-9}


def outcome(sample: Sample) -> str | None:
    """The outcome of all generations of an example; None if they differ, or it was not scored by accuracy."""
    found = shares(sample)
    return next(iter(found)) if len(found) == 1 else None


def outcomes(samples: Iterable[Sample]) -> dict[str, float]:
    """How many examples have each outcome, in the order of :data:`OUTCOMES`; those that none has are left out.

    With repeats, the numbers expected of one generation: of four generations, two right ones are half a right example.
    """
    counts: dict[str, list[float]] = {name: [] for name in OUTCOMES}
    for sample in samples:
        for name, share in shares(sample).items():
            counts[name].append(share)
    return {name: round(math.fsum(found), 6) for name, found in counts.items() if found}
