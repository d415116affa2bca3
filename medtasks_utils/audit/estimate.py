"""Estimate shares of all responses to a task from a stratified sample, with 95 % intervals.

A stratum's share is weighted by its fraction of all responses (Cochran, *Sampling Techniques*, chapter 5; with equal
probabilities within strata this is the Horvitz–Thompson estimate). Responses are drawn without replacement, so the
interval of a stratum is that of the mid-p hypergeometric test. It is valid near 0 and 1, and has no width if all
responses were read. With several strata, the confidence distributions of these tests are added (Singh, Xie &
Strawderman, *IMS Lecture Notes* 2007).
"""

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import scipy

from medtasks_utils.statistics.ratio import ALPHA, Z
from medtasks_utils.statistics.score_arrays import Array

Strata = Mapping[str, Counter[str]]
"""By stratum, the number of ``responses``, of ``read`` responses, and of read responses with each property."""

_QUANTILES = (np.arange(400) + 0.5) / 400


def estimated(strata: Strata, gain: str, loss: str = "", base: float = 0.0) -> dict[str, float] | None:
    """Estimate the share of responses with a property, or correct a known share by the responses that change it.

    Drawn responses that could not be read are assumed to resemble the others in their stratum. If none of a stratum was
    read, its share is assumed to be that of all read responses, with an interval from 0 to 1.

    Args:
        strata: the counts of each stratum.
        gain: the property to count, or the property of responses that increase the known share.
        loss: the property of responses that decrease the known share; empty if none do. A response cannot have both
            properties, so the shares g and l in n responses of a stratum have the covariance ``−g l / n``, which
            increases the variance of their difference by ``2 g l / n``.
        base: the known share.

    Returns:
        The share as ``value``, and the ends of its 95 % interval as ``low`` and ``high``, each from 0 to 1; None if no
        response was read.
    """
    whole = sum(strata.values(), Counter[str]())
    if not whole["read"]:
        return None
    value, covariance, likely = base, 0.0, np.array([base])
    for counts in strata.values():
        read, responses = counts["read"], counts["responses"]
        weight = responses / whole["responses"]
        for sign, name in ((1, gain), (-1, loss)):
            if name and responses:
                value += sign * weight * (counts[name] / read if read else whole[name] / whole["read"])
                sums = np.add.outer(likely, sign * weight * _likely_shares(counts[name], read, responses))
                likely = np.quantile(sums, _QUANTILES)
        if read and loss:
            covariance += weight**2 * (1 - read / responses) * 2 * counts[gain] * counts[loss] / read**3
    outside = round(ALPHA / 2 * len(likely)) - 1  # so that no share that the test allows is lost by interpolation
    low, high = likely[outside], likely[-1 - outside]
    below, above = (math.hypot(value - end, Z * math.sqrt(covariance)) for end in (low, high))
    return {"value": value, "low": max(0.0, value - below), "high": min(1.0, value + above)}


@lru_cache(maxsize=1024)
def _likely_shares(found: int, read: int, responses: int) -> Array:
    """Return quantiles of the confidence distribution of the share of a stratum's responses that have a property.

    ``found`` of the ``read`` responses have the property. The distribution function at a share is the mid-p probability
    of finding more than ``found``.
    """

    levels = [0.0, *scipy.special.ndtr(np.linspace(-4, 4, 257)), 1.0]
    shares_of_unread = scipy.special.betaincinv(found + 0.5, read - found + 0.5, levels)
    of_all = np.unique(np.round(found + (responses - read) * shares_of_unread))
    drawn = scipy.stats.hypergeom(responses, of_all, read)
    return np.interp(_QUANTILES, drawn.sf(found) + drawn.pmf(found) / 2, of_all / responses)
