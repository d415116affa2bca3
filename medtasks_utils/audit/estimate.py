"""Shares of all responses of a task, estimated from a stratified sample of them, with 95 % intervals.

A stratum's share is weighted by its part of all responses (Cochran, *Sampling Techniques*, chapter 5; with equal
probabilities within strata this is the Horvitz–Thompson estimate). The interval puts the strata's Wilson intervals,
which hold at the edges too, together by the method of variance estimates recovery (Yan & Su, *Statistics in
Biopharmaceutical Research* 2010); a stratum of which all is known adds nothing to its width.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from medtasks_utils.statistics.intervals import share_interval


class Estimate(TypedDict):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


class Counts(NamedTuple):
    """How many responses a stratum has, how many of them were read, and how many of these have the property."""

    hits: int
    read: int
    responses: int


def share(strata: Sequence[Counts]) -> Estimate | None:
    """The share of responses with the property, 0–1; None where none was read.

    Responses that were drawn and could not be read are taken to be like those of their stratum that were; of a stratum
    of which none was read, the share may be anything.
    """
    total, all_read = sum(stratum.responses for stratum in strata), sum(stratum.read for stratum in strata)
    if not all_read:
        return None
    value = below = above = 0.0
    for hits, read, responses in strata:
        own = hits / read if read else sum(stratum.hits for stratum in strata) / all_read
        low, high = share_interval(own, read) if read else (0.0, 1.0)
        weight = responses / total
        unknown = weight**2 * (1 - read / responses) if responses else 0.0
        value += weight * own
        below += unknown * (own - low) ** 2
        above += unknown * (high - own) ** 2
    return _within(value, math.sqrt(below), math.sqrt(above))


def changed(base: float, gains: Estimate, losses: Estimate) -> Estimate:
    """A known share after estimated gains and losses."""
    below = math.hypot(gains["value"] - gains["low"], losses["high"] - losses["value"])
    above = math.hypot(gains["high"] - gains["value"], losses["value"] - losses["low"])
    return _within(base + gains["value"] - losses["value"], below, above)


def _within(value: float, below: float, above: float) -> Estimate:
    return Estimate(value=value, low=max(0.0, value - below), high=min(1.0, value + above))
