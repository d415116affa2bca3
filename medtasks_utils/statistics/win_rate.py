"""Compute win rates of models over data sets, as Medmarks defines them (arXiv:2605.01417)."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from statistics import fmean
from typing import NamedTuple

import numpy as np

ByExample = Mapping[str, float | None]
"""Scores by example; None, or no entry, where a model has no score."""

_EQUAL = 1e-9


class WinRate(NamedTuple):
    """A model's mean win rate over data sets, from 0 to 1: unweighted, and weighted by ln(n) for n examples.

    If every data set has one example, so that all weights are 0, both are unweighted.
    """

    simple: float
    weighted: float


def win_rates(data_sets: Mapping[str, Mapping[str, ByExample]]) -> dict[str, WinRate]:
    """Return each model's win rates, sorted by the weighted rate, best first; models without an opponent are left out.

    A model's rate on a data set is the mean over its opponents of the share of examples on which it is better; a tie
    counts one half. An example is lost if only the opponent has a score for it, and left out if neither has one; if
    all are left out, the share is one half. Data sets that some model lacks are left out.

    Args:
        data_sets: by data set and model, the scores by example; higher ones are better.
    """
    models = dict.fromkeys(chain.from_iterable(data_sets.values()))
    rates: dict[str, list[float]] = defaultdict(list)
    weights: dict[str, list[float]] = defaultdict(list)
    for by_model in data_sets.values():
        if len(by_model) < len(models):
            continue
        examples = dict.fromkeys(chain.from_iterable(by_model.values()))
        for model, rate in _rates(by_model, examples).items():
            rates[model].append(rate)
            weights[model].append(math.log(len(examples)))
    result = {}
    for model in filter(rates.__contains__, models):
        weighted = np.average(rates[model], weights=weights[model] if any(weights[model]) else None)
        result[model] = WinRate(fmean(rates[model]), float(weighted))
    return dict(sorted(result.items(), key=lambda item: -item[1].weighted))


def _rates(by_model: Mapping[str, ByExample], examples: Iterable[str]) -> dict[str, float]:
    """Return each model's win rate on one data set; models without an opponent are left out."""
    rows = [list(map(scores.get, examples)) for scores in by_model.values()]
    values = np.array(rows, dtype=float)  # NaN for None
    is_known = np.isfinite(values)
    values = np.where(is_known, values, -math.inf)
    rates = {}
    for place, model in enumerate(by_model):
        shares = []
        for other in set(range(len(rows))) - {place}:
            first, second = values[[place, other]][:, is_known[place] | is_known[other]]
            is_won = np.where(np.abs(first - second) <= _EQUAL, 0.5, first > second)
            shares.append(float(is_won.mean()) if is_won.size else 0.5)
        if shares:
            rates[model] = fmean(shares)
    return rates
