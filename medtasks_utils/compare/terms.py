"""A metric of several runs on the same examples as arrays: what values, standard errors and swaps are made of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medtasks_utils.statistics import ExampleValue, MacroMean, Mean, VerdictRatio, completed

Aggregation = Mean | MacroMean | VerdictRatio
Item = ExampleValue | None
Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Terms:
    """A metric as the mean over cells of ``Σ numerators / Σ denominators``, summed over clusters.

    Cells are the strata of a macro average, or the generations that each have an F1; a plain mean has one. A cell in
    which nothing is counted has no ratio, and is left out of the mean; where nothing is counted in any, it is 0.

    Attributes:
        numerator: clusters × cells.
        denominator: likewise.
    """

    numerator: Array
    denominator: Array

    @property
    def value(self) -> float:
        """The metric."""
        return float(value_of(self.numerator.sum(axis=0), self.denominator.sum(axis=0)))

    @property
    def counted(self) -> int:
        """Clusters in which something is counted."""
        return int((self.denominator > 0).any(axis=1).sum())

    @property
    def influence(self) -> Array:
        """Each cluster's influence on the metric; they sum to zero."""
        total = self.denominator.sum(axis=0)
        counted = np.where(total == 0, 1, total)
        residuals = (self.numerator - self.numerator.sum(axis=0) / counted * self.denominator) / counted
        return np.asarray(residuals.sum(axis=1) / max(int((total > 0).sum()), 1))


def value_of(numerators: Array, denominators: Array) -> Array:
    """The metric from sums over clusters, over the last axis."""
    counted = denominators > 0
    ratios = np.divide(numerators, denominators, out=np.zeros_like(numerators), where=counted)
    return np.asarray(ratios.sum(axis=-1) / np.maximum(counted.sum(axis=-1), 1))


def terms_of(rows: Sequence[Sequence[Item]], aggregation: Aggregation, runs: int) -> tuple[list[Terms], Indices]:
    """Each run's terms, by cluster, and each cluster's stratum.

    Args:
        rows: for each example a value for each run; None where the metric does not apply. One at least is there.
        aggregation: what makes the metric of such values.
    """
    is_macro = isinstance(aggregation, MacroMean)
    keys: list[tuple[Hashable, Hashable]] = []
    for index, row in enumerate(rows):
        item = next(item for item in row if item is not None)
        cluster = item.stratum if isinstance(aggregation, Mean) and aggregation.by_stratum else item.cluster
        cluster = ("alone", index) if cluster is None else cluster
        keys.append((item.stratum if is_macro else None, cluster))
    clusters = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    strata = {stratum: column for column, stratum in enumerate(dict.fromkeys(stratum for stratum, _ in keys))}
    places = np.array([clusters[key] for key in keys], dtype=np.intp)
    columns = np.array([strata[stratum] for stratum, _ in keys], dtype=np.intp)
    found = []
    for run in range(runs):
        items = [row[run] for row in rows]
        if isinstance(aggregation, VerdictRatio):
            found.append(_of_verdicts(items, places, len(clusters), aggregation))
        else:
            found.append(_of_values(items, places, columns, (len(clusters), len(strata))))
    return found, np.array([strata[stratum] for stratum, _ in clusters], dtype=np.intp)


def _of_values(items: Sequence[Item], places: Indices, columns: Indices, shape: tuple[int, int]) -> Terms:
    terms = Terms(np.zeros(shape), np.zeros(shape))
    for column in range(shape[1]):
        there = [i for i, item in enumerate(items) if item is not None and columns[i] == column]
        for place, (total, number) in zip(places[there], completed(items[i] for i in there), strict=False):
            terms.numerator[place, column] += total
            terms.denominator[place, column] += number
    return terms


def _of_verdicts(items: Sequence[Item], places: Indices, clusters: int, aggregation: VerdictRatio) -> Terms:
    generations = max((len(item.verdicts) for item in items if item is not None), default=0) or 1
    terms = Terms(np.zeros((clusters, generations)), np.zeros((clusters, generations)))
    for place, item in zip(places, items, strict=True):
        for cell, verdict in enumerate(() if item is None else item.verdicts):
            if verdict is not None:
                terms.numerator[place, cell] += aggregation.numerator(verdict)
                terms.denominator[place, cell] += aggregation.denominator(verdict)
    return terms
