"""Estimate shares of all responses to a task from a stratified sample, with 95 % intervals.

A stratum's share is weighted by its fraction of all responses (Cochran, *Sampling Techniques*, chapter 5; with equal
probabilities within strata this is the Horvitz–Thompson estimate). The interval combines the strata's Wilson
intervals, which are valid near 0 and 1, by the method of variance estimates recovery (Yan & Su, *Statistics in
Biopharmaceutical Research* 2010). A stratum that was read completely does not widen it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from medtasks_utils.statistics.intervals import share_interval
from medtasks_utils.statistics.ratio import Z


class Counts(NamedTuple):
    """The counts of a stratum: responses with a property among those read, responses read, and all responses."""

    hits: int
    read: int
    responses: int


def estimated(gains: Sequence[Counts], losses: Sequence[Counts] = (), base: float = 0.0) -> dict[str, float] | None:
    """Estimate the share of responses with a property, or a known share to which some responses add or remove.

    Drawn responses that could not be read are assumed to resemble the others in their stratum. If none of a stratum was
    read, the interval of its share is 0 to 1.

    Args:
        gains: the counts of the responses with the property, or of those that add to the known share, by stratum.
        losses: the counts of the responses that remove from it, in the same strata. A response cannot be both, so the
            shares g and l in n responses of a stratum have the covariance ``−g l / n``, which increases the variance of
            their difference by ``2 g l / n``.
        base: the known share.

    Returns:
        The share as ``value``, and the ends of its 95 % interval as ``low`` and ``high``, each from 0 to 1; None if no
        response was read.
    """
    if not any(stratum.read for stratum in gains):
        return None
    total = sum(stratum.responses for stratum in gains)
    lost = _shares(losses) or [(0.0, 0.0, 0.0)] * len(gains)
    value, below, above = base, 0.0, 0.0
    for (gain, low_gain, high_gain), (loss, low_loss, high_loss), counts in zip(
        _shares(gains), lost, gains, strict=True
    ):
        weight = counts.responses / total
        unknown = weight**2 * (1 - counts.read / max(1, counts.responses))
        covariance = 2 * Z**2 * gain * loss / counts.read if counts.read else 0.0
        value += weight * (gain - loss)
        below += unknown * ((gain - low_gain) ** 2 + (high_loss - loss) ** 2 + covariance)
        above += unknown * ((high_gain - gain) ** 2 + (loss - low_loss) ** 2 + covariance)
    low, high = max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above))
    return {"value": value, "low": low, "high": high}


def _shares(strata: Sequence[Counts]) -> list[tuple[float, float, float]]:
    """Return the share of each stratum with the ends of its Wilson interval."""
    all_read = sum(stratum.read for stratum in strata)
    shares = []
    for hits, read, _ in strata:
        estimate = hits / read if read else sum(stratum.hits for stratum in strata) / all_read
        shares.append((estimate, *(share_interval(estimate, read) if read else (0.0, 1.0))))
    return shares
