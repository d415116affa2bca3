"""Estimate shares of all responses to a task from a stratified sample, with 95 % intervals.

A stratum's share is weighted by its fraction of all responses (Cochran, *Sampling Techniques*, chapter 5; with equal
probabilities within strata this is the Horvitz–Thompson estimate). The interval combines the strata's Wilson
intervals, which are valid near 0 and 1, by the method of variance estimates recovery (Yan & Su, *Statistics in
Biopharmaceutical Research* 2010). A stratum that was read completely does not widen it.
"""

import math
from collections import Counter
from collections.abc import Mapping

from medtasks_utils.statistics.intervals import share_interval
from medtasks_utils.statistics.ratio import Z

Strata = Mapping[str, Counter[str]]
"""By stratum, the numbers of all ``responses``, of those that were ``read``, and of those with each property."""


def estimated(strata: Strata, gain: str, loss: str = "", base: float = 0.0) -> dict[str, float] | None:
    """Estimate the share of responses with a property, or a known share that some responses increase or decrease.

    Drawn responses that could not be read are assumed to resemble the others in their stratum. If none of a stratum was
    read, the interval of its share is 0 to 1.

    Args:
        strata: the counts of each stratum.
        gain: the property of the responses that are counted, or that increase the known share.
        loss: the property of those that decrease it; empty if there are none. A response cannot have both, so the
            shares g and l in n responses of a stratum have the covariance ``−g l / n``, which increases the variance of
            their difference by ``2 g l / n``.
        base: the known share.

    Returns:
        The share as ``value``, and the ends of its 95 % interval as ``low`` and ``high``, each from 0 to 1; None if no
        response was read.
    """
    whole = sum(strata.values(), Counter[str]())
    if not whole["read"]:
        return None
    value, below, above = base, 0.0, 0.0
    for counts in strata.values():
        gained, low_gain, high_gain = _share(counts, gain, whole)
        lost, low_loss, high_loss = _share(counts, loss, whole) if loss else (0.0, 0.0, 0.0)
        read, responses = counts["read"], counts["responses"]
        weight = responses / whole["responses"]
        unknown = weight**2 * (1 - read / max(1, responses))
        covariance = 2 * Z**2 * gained * lost / read if read else 0.0
        value += weight * (gained - lost)
        below += unknown * ((gained - low_gain) ** 2 + (high_loss - lost) ** 2 + covariance)
        above += unknown * ((high_gain - gained) ** 2 + (lost - low_loss) ** 2 + covariance)
    low, high = max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above))
    return {"value": value, "low": low, "high": high}


def _share(counts: Counter[str], name: str, whole: Counter[str]) -> tuple[float, float, float]:
    """Return the share of a stratum's responses with a property, with the ends of its Wilson interval."""
    read = counts["read"]
    if not read:
        return whole[name] / whole["read"], 0.0, 1.0
    share = counts[name] / read
    return share, *share_interval(share, read)
