"""Compute win rates of models over data sets, by the definition of Medmarks (arXiv:2605.01417)."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

ByExample = Mapping[str, float | None]
"""Scores by example; None, or no entry, if a model has no score."""

_EQUAL = 1e-9


class WinRate(NamedTuple):
    """A model's mean win rate over data sets, from 0 to 1: simple, and weighted with ln(n) of their n examples."""

    simple: float
    weighted: float


def win_rates(
    data_sets: Mapping[str, Mapping[str, ByExample]],
    missing: float = -math.inf,
    weight: Callable[[int], float] = math.log,
    only_shared: bool = True,
) -> dict[str, WinRate]:
    """Return the win rates of models, best first by the weighted one; those without an opponent are left out.

    A model's rate on a data set is the mean over its opponents of the share of examples on which it is better; a tie
    counts one half. An example that neither of two models has a score for does not count.

    Args:
        data_sets: by data set and model, the scores by example; higher ones are better.
        missing: the score that counts where only the opponent has one; by default, the example is lost.
        weight: the weight of a data set by its number of examples.
        only_shared: True to leave out data sets that some model lacks.
    """
    models = list(dict.fromkeys(model for by_model in data_sets.values() for model in by_model))
    used = [by_model for by_model in data_sets.values() if by_model.keys() >= {*models} or not only_shared]
    weighed = []
    for by_model in used:
        examples = list(dict.fromkeys(example for scores in by_model.values() for example in scores))
        weighed.append((_rates(by_model, examples, missing), weight(len(examples))))
    found = {}
    for model in models:
        own = [(rates[model], of_data_set) for rates, of_data_set in weighed if model in rates]
        if own:
            rates, weights = zip(*own, strict=True)
            weighted = np.average(rates, weights=weights if any(weights) else None)
            found[model] = WinRate(fmean(rates), float(weighted))
    return dict(sorted(found.items(), key=lambda item: -item[1].weighted))


def _rates(by_model: Mapping[str, ByExample], examples: Sequence[str], missing: float) -> dict[str, float]:
    """Return the rate on one data set of each model that has an opponent."""
    values = {model: np.array([_number(scores.get(one)) for one in examples]) for model, scores in by_model.items()}
    won: dict[str, list[float]] = defaultdict(list)
    for one, other in combinations(by_model, 2):
        is_known = {model: np.isfinite(values[model]) for model in (one, other)}
        counts = is_known[one] | is_known[other]
        first, second = (np.where(is_known[model], values[model], missing)[counts] for model in (one, other))
        shares = np.where(np.abs(first - second) <= _EQUAL, 0.5, first > second)
        share = float(shares.mean()) if shares.size else 0.5
        won[one].append(share)
        won[other].append(1 - share)
    return {model: fmean(shares) for model, shares in won.items()}


def _number(score: float | None) -> float:
    return math.nan if score is None else score
