"""Coverage of the intervals and error rates of the tests, by simulation.

Usage: python measurements/simulation.py [--draws 2000] [--part tests] [--only TEXT] [--seed 1]

Draws data sets from models whose true values are known, and asks of each cell: how many of the 95 % intervals hold the
truth, how many tests at 5 % reject a null that is true. Values, standard errors, intervals and p-values are the pack's
own; only the drawing is done here, with a fixed seed for each cell. Prints the tables of measurements/statistics.md.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from drawing import (
    Array,
    Coverage,
    Found,
    Rejection,
    Rng,
    accuracy_terms,
    items_of,
    judged,
    ratio_terms,
    scores,
    single,
    two_models,
    verdicts,
)
from medtasks_utils.compare.randomisation import randomisation
from medtasks_utils.compare.terms import Terms
from medtasks_utils.results.breakdowns import estimate_of

from medtasks_utils import statistics
from medtasks_utils.compare import family
from medtasks_utils.compare.inference import bonett_price, contrast, mcnemar, paired_stderr
from medtasks_utils.compare.ranking import surely_better
from medtasks_utils.intervals import FEWEST, confidence_interval, of_mean, share_interval, wider
from medtasks_utils.metrics import Metric
from medtasks_utils.statistics import Size, VerdictRatio, cluster_stderr, informative_clusters

_SWAPS = 999
_LARGE = 2_000_000  # examples behind a truth that has no formula
_MACRO = Metric("macro_acc", statistics.macro_mean)


# ---- one run


def interval(metric: Metric, terms: Terms, size: Size) -> Found:
    """The pack's interval, as the report shows it."""
    if size.clusters < FEWEST:
        return Found(None, None, size.clusters)
    counted = (terms.denominator > 0).any(axis=1)
    influence = terms.influence[counted].tolist()
    error = float(cluster_stderr(dict(enumerate(influence))))
    return Found(*confidence_interval(metric, terms.value, error, size), informative_clusters(influence))


def ratio_cells() -> Iterator[Coverage]:
    """F1, precision, recall and clustered accuracy."""
    cases: list[tuple[str, VerdictRatio, int, dict[str, float]]] = [
        *(("F1", statistics.f1, rows, {"hit": 0.8, "false_alarm": 0.3}) for rows in (20, 40, 100, 1000)),
        *(
            ("F1, 90–98 % unsure", statistics.f1, 1000, {"hit": 0.8, "false_alarm": 0.3, "unsure": u})
            for u in (0.9, 0.98)
        ),
        *(("F1, flags 98 %", statistics.f1, rows, {"hit": 0.98, "false_alarm": 0.98}) for rows in (100, 1000)),
        ("precision, 20 flags, all right but 1 in 20", statistics.precision, 1000, {"hit": 0.02, "false_alarm": 0.001}),
        ("precision, 30 flags, half right", statistics.precision, 1000, {"hit": 0.015, "false_alarm": 0.015}),
        ("precision, 100 flags", statistics.precision, 1000, {"hit": 0.095, "false_alarm": 0.005}),
        *(("recall", statistics.recall, 100, {"hit": hit, "false_alarm": 0.1}) for hit in (0.03, 0.5, 0.97)),
    ]
    for name, ratio, rows, model in cases:
        large, _ = ratio_terms(ratio, *verdicts(np.random.default_rng(0), _LARGE // 2, **model))
        metric = Metric(name, ratio)

        def draw(
            rng: Rng, ratio: VerdictRatio = ratio, rows: int = rows, model: Any = model, metric: Any = metric
        ) -> Any:
            return interval(metric, *ratio_terms(ratio, *verdicts(rng, rows, **model)))

        yield Coverage(f"{name}; {rows} rows, truth {large.value:.3f}", draw, large.value)
    for rows in (20, 100, 1000):
        for hit, false_alarm in ((0.8, 0.3), (0.9, 0.9), (0.9, 0.1)):

            def draw_accuracy(rng: Rng, rows: int = rows, hit: float = hit, false_alarm: float = false_alarm) -> Any:
                terms = accuracy_terms(*verdicts(rng, rows, hit, false_alarm))
                return interval(Metric("acc"), terms, Size(rows, 2 * rows))

            truth = (hit + 1 - false_alarm) / 2
            yield Coverage(f"accuracy, clustered; {rows} rows of 2, truth {truth:.2f}", draw_accuracy, truth)


def share_cells() -> Iterator[Coverage]:
    """Independent examples, one generation each or four, and macro averages."""
    for n in (20, 131, 1000):
        for p in (0.03, 0.5, 0.9, 0.97):

            def draw(rng: Rng, n: int = n, p: float = p) -> Found:
                right = (rng.random(n) < p).astype(float)
                return interval(Metric("acc"), single(right), Size(n, n))

            yield Coverage(f"accuracy; {n} examples, truth {p}", draw, p)
    for n in (20, 131):
        for a, b in ((1.0, 1.0), (0.3, 0.1), (20.0, 1.0)):

            def draw_repeats(rng: Rng, n: int = n, a: float = a, b: float = b) -> Any:
                right = rng.binomial(4, rng.beta(a, b, n))
                return interval(Metric("acc"), single(right, 4.0), Size(n, 4 * n))

            yield Coverage(f"accuracy, 4 repeats; {n} examples, truth {a / (a + b):.2f}", draw_repeats, a / (a + b))
    for sizes in ((144, 368, 108, 189, 131), (20,) * 5, (10,) * 5):
        for p in (0.6, 0.9, 0.98):

            def draw_macro(rng: Rng, sizes: Sequence[int] = sizes, p: float = p) -> Found:
                right = [rng.random(n) < p for n in sizes]
                shares = [float(own.mean()) for own in right]
                parts = [(v, *share_interval(v, n)) for v, n in zip(shares, sizes, strict=True)]
                influence = np.concatenate([(own - own.mean()) / len(own) / len(sizes) for own in right])
                error = sum(v * (1 - v) / (n - 1) for v, n in zip(shares, sizes, strict=True)) ** 0.5 / len(sizes)
                value, size = float(np.mean(shares)), Size(sum(sizes), sum(sizes))
                ends = wider(of_mean(value, parts), confidence_interval(_MACRO, value, error, size))
                return Found(*ends, informative_clusters(influence.tolist()))

            yield Coverage(f"macro average; strata of {min(sizes)}–{max(sizes)}, truth {p}", draw_macro, p)


def score_cells() -> Iterator[Coverage]:
    """Scores of explanations, and a judge that fails."""
    metric = Metric("explanation", unit="points")
    for n in (20, 131, 940):
        for right in (0.03, 0.5, 0.97):
            truth = float(scores(np.random.default_rng(0), _LARGE, right).mean())

            def draw(rng: Rng, n: int = n, right: float = right) -> Any:
                return interval(metric, single(scores(rng, n, right)), Size(n, n))

            yield Coverage(f"explanation, {right:.0%} right; {n} examples", draw, truth)
    for failing in (0.05, 0.3):
        truth = float(scores(np.random.default_rng(0), _LARGE, 0.65).mean())

        def draw_failing(rng: Rng, failing: float = failing) -> Found:
            found = estimate_of(judged(rng, scores(rng, 300, 0.65), failing), metric)
            return Found(found.low, found.high, found.informative or 0.0)

        yield Coverage(
            f"explanation, 65 % right, judge fails on {failing:.0%} of them; 300 examples", draw_failing, truth
        )
    for p in (0.3, 0.9):

        def draw_reward(rng: Rng, p: float = p) -> Any:
            values = np.where(rng.random((100, 2)) < 0.2, 0.01, rng.random((100, 2)) < p)
            return interval(
                Metric("reward"),
                Terms(values.sum(axis=1, keepdims=True), np.full((100, 1), 2.0)),
                Size(100, 200),
            )

        yield Coverage(f"reward, 20 % unsure; 100 rows of 2, truth {0.002 + 0.8 * p:.3f}", draw_reward, 0.002 + 0.8 * p)


# ---- two runs


def is_rejected(rng: Rng, a: Terms, b: Terms, *, studentised: bool = False) -> bool | None:
    """Whether randomisation rejects; None below the minimum of informative clusters."""
    if min(a.counted, b.counted) < FEWEST:
        return None
    return randomisation(a, b, _SWAPS, int(rng.integers(2**31)), studentised=studentised) < 0.05


def ratio_nulls() -> Iterator[Rejection]:
    """F1 and its kin of equal models."""
    for ratio in (statistics.f1, statistics.precision, statistics.recall, statistics.accuracy):
        for rows, unsure in ((50, (0.1, 0.1)), (1000, (0.0, 0.9)), (1000, (0.0, 0.96)), (1000, (0.9, 0.9))):
            if ratio is not statistics.f1 and unsure != (0.0, 0.9):
                continue

            def draw(rng: Rng, ratio: VerdictRatio = ratio, rows: int = rows, unsure: Any = unsure) -> bool | None:
                a, b = (ratio_terms(ratio, *run)[0] for run in two_models(rng, rows, unsure))
                return is_rejected(rng, a, b, studentised=True)

            yield Rejection(f"{ratio}; {rows} rows, unsure {unsure[0]:.0%} and {unsure[1]:.0%}", draw)
    for rows in (30, 300):

        def draw_accuracy(rng: Rng, rows: int = rows) -> bool | None:
            a, b = (accuracy_terms(*run) for run in two_models(rng, rows, (0.1, 0.1)))
            return is_rejected(rng, a, b)

        yield Rejection(f"accuracy, clustered; {rows} rows of 2", draw_accuracy)


def share_nulls() -> Iterator[Rejection]:
    """Accuracy of equal models: once, repeated, macro averages."""
    for n, discordant in ((500, 0.2), (1000, 0.2), (4000, 0.13)):

        def draw(rng: Rng, n: int = n, discordant: float = discordant) -> bool:
            lost, gained, _ = rng.multinomial(n, [discordant / 2, discordant / 2, 1 - discordant])
            return mcnemar(int(lost), int(gained)) < 0.05

        yield Rejection(f"accuracy, McNemar; {n} examples, {discordant:.0%} discordant", draw)
    for repeats in ((4, 4), (4, 1)):

        def draw_repeats(rng: Rng, repeats: tuple[int, int] = repeats) -> bool | None:
            chance = rng.beta(1, 0.5, 131)
            a, b = (rng.binomial(k, chance) / k for k in repeats)
            if repeats[0] == repeats[1]:
                return is_rejected(rng, single(a), single(b))
            found = _contrast(a, b)
            return abs(found[0]) > found[1]

        yield Rejection(f"accuracy, {repeats[0]} and {repeats[1]} repeats; 131 examples", draw_repeats)

    def draw_macro(rng: Rng) -> bool | None:
        sizes = (144, 368, 108, 189, 131)
        a, b = (Terms(np.zeros((sum(sizes), 5)), np.zeros((sum(sizes), 5))) for _ in range(2))
        start = 0
        for column, n in enumerate(sizes):
            chance = rng.beta(1, 0.5, n)
            for terms in (a, b):
                terms.numerator[start : start + n, column] = rng.random(n) < chance
                terms.denominator[start : start + n, column] = 1
            start += n
        return is_rejected(rng, a, b)

    yield Rejection("macro average; strata of 108–368", draw_macro)


def _contrast(a: Array, b: Array) -> tuple[float, float]:
    from scipy.special import stdtrit

    error = paired_stderr(single(a), single(b), np.zeros(len(a), dtype=np.intp)) or 0.0
    return float((b - a).mean()), float(stdtrit(len(a) - 1, 0.975)) * error


def score_nulls() -> Iterator[Rejection]:
    """Explanations of equal models, one or both judged with failures."""
    for failing in ((0.0, 0.0), (0.05, 0.05), (0.0, 0.05), (0.0, 0.3)):

        def draw(rng: Rng, failing: tuple[float, float] = failing) -> bool | None:
            chance = rng.beta(2, 1, 300)
            quality = rng.normal(60, 10, 300)
            sides = []
            for share in failing:
                values = (rng.random(300) < chance) * np.clip(quality + rng.normal(0, 10, 300), 1, 100)
                sides.append(judged(rng, values, share))
            found = contrast(
                sides[0], sides[1], statistics.mean, top=100.0, resamples=_SWAPS, seed=int(rng.integers(2**31))
            )
            return None if found is None or found.p is None else found.p < 0.05

        yield Rejection(
            f"explanation; 300 examples, judge fails on {failing[0]:.0%} and {failing[1]:.0%} of right", draw
        )


def page_nulls() -> Iterator[Rejection]:
    """Any star, or any rank that is not the whole range, among eight equal models."""
    family._DRAWS = 4_000  # of the largest difference, as every draw of the models needs them

    def models(rng: Rng) -> Array:
        chance = rng.beta(1, 0.5, 500)
        return (rng.random((8, 500)) < chance).astype(float)

    def influence_of(right: Array) -> Array:
        return np.asarray((right.T - right.mean(axis=1)) / right.shape[1])

    p_of = cache(mcnemar)

    def draw_stars(rng: Rng, filters: int) -> bool:
        strict = models(rng)
        found = [strict, np.maximum(strict, rng.random(strict.shape) < 0.05)][:filters]  # a filter that reads more
        first, second = (np.concatenate([own + 8 * k for k in range(filters)]) for own in np.triu_indices(8, 1))
        right = np.vstack(found)
        page = family.family_of([family.Block(influence_of(right), first, second)], int(rng.integers(2**31)))
        lost, gained = ((right[one] > right[other]).sum(axis=1) for one, other in ((first, second), (second, first)))
        p_values = [p_of(*counts) for counts in zip(lost.tolist(), gained.tolist(), strict=True)]
        return page.adjusted(min(p_values)) < 0.05

    yield Rejection("any star for 8 equal models, all pairs", lambda rng: draw_stars(rng, 1))
    yield Rejection("any star for 8 equal models, all pairs and two filters", lambda rng: draw_stars(rng, 2))

    def draw_ranks(rng: Rng) -> bool:
        right = models(rng)
        return bool(surely_better(right.mean(axis=1), influence_of(right), 499, seed=int(rng.integers(2**31))).any())

    yield Rejection("any sure rank for 8 equal models", draw_ranks)


# ---- differences


def difference_cells() -> Iterator[Coverage]:
    """Intervals of differences between two runs."""
    for n, lost, gained in ((20, 0.1, 0.2), (131, 0.05, 0.1), (1000, 0.01, 0.015)):

        def draw(rng: Rng, n: int = n, lost: float = lost, gained: float = gained) -> Found:
            counts = rng.multinomial(n, [lost, gained, 1 - lost - gained])
            steps = np.repeat([-1.0, 1.0, 0.0], counts)
            rests_on = informative_clusters((steps - steps.mean()).tolist())
            return Found(*bonett_price(int(counts[0]), int(counts[1]), n), rests_on)

        yield Coverage(f"difference in accuracy {gained - lost:.3f}; {n} examples", draw, gained - lost)
    for rows, unsure in ((40, (0.1, 0.1)), (300, (0.0, 0.9)), (300, (0.1, 0.1))):

        def draw_f1(rng: Rng, rows: int = rows, unsure: Any = unsure) -> Found:
            items = [items_of(*run) for run in two_models(rng, rows, unsure)]
            found = contrast(items[0], items[1], statistics.f1, resamples=1)
            return Found(None, None, 0.0) if found is None else Found(found.low, found.high, found.informative)

        yield Coverage(f"difference in F1 0; {rows} rows, unsure {unsure[0]:.0%} and {unsure[1]:.0%}", draw_f1, 0.0)


# ---- the tables


def drawn(cell: Coverage | Rejection, draws: int, seed: int, near: Callable[[list[Any]], bool] | None) -> list[Any]:
    """What a cell gives in so many data sets, and in five times as many where chance might decide its verdict."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    found: list[Any] = [cell.draw(rng) for _ in range(draws)]
    return found + [cell.draw(rng) for _ in range(4 * draws)] if near and near(found) else found


def is_near(hits: int, number: int, bounds: tuple[float, float]) -> bool:
    """Whether a rate is within two standard errors of a bound, or beyond."""
    rate = hits / max(number, 1)
    reach = 2 * math.sqrt(rate * (1 - rate) / max(number, 1))
    return not bounds[0] + reach < rate < bounds[1] - reach


def cover(cell: Coverage, draws: int, seed: int, more: bool = False) -> str:
    """A row of the table: what intervals hold the truth, their mean width, what they rest on, what is of too few."""

    def held(found: list[Found]) -> tuple[int, int]:
        ends = [(low - 1e-9, high + 1e-9) for low, high, _ in found if low is not None and high is not None]
        return sum(low <= cell.truth <= high for low, high in ends), len(ends)

    found = drawn(cell, draws, seed, (lambda found: is_near(*held(found), (0.93, 0.98))) if more else None)
    holding, number = held(found)
    width = sum(high - low for low, high, _ in found if low is not None and high is not None)
    said = f"{holding / number:.1%} | {width / number:.3g}" if number else "– | –"
    rests_on = float(np.median([one.informative for one in found]))
    few = sum(one.informative < FEWEST for one in found) / len(found)
    return f"| {cell.name} | {said} | {rests_on:.0f} | {few:.0%} | {len(found):,} |"


def reject(cell: Rejection, draws: int, seed: int, more: bool = False) -> str:
    """A row of the table: how often the true null is rejected, and how often there is no test."""

    def tested(found: list[bool | None]) -> tuple[int, int]:
        known = [one for one in found if one is not None]
        return sum(known), len(known)

    found = drawn(cell, draws, seed, (lambda found: is_near(*tested(found), (0.03, 0.06))) if more else None)
    rejected, number = tested(found)
    said = f"{rejected / number:.1%}" if number else "–"
    return f"| {cell.name} | {said} | {1 - number / len(found):.0%} | {len(found):,} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--part", choices=("intervals", "tests"), help="one table alone")
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.perf_counter()
    if given.part != "tests":
        print("| 95 % intervals of | cover | width | informative | too few | draws |\n|---|---|---|---|---|---|")
        for cells in (share_cells, ratio_cells, score_cells, difference_cells):
            for cell in cells():
                if given.only in cell.name:
                    print(cover(cell, given.draws, given.seed, more=True), flush=True)
    if given.part != "intervals":
        print("\n| tests at 5 % of | reject | not tested | draws |\n|---|---|---|---|")
        for nulls in (share_nulls, ratio_nulls, score_nulls, page_nulls):
            for null in nulls():
                if given.only in null.name:
                    print(reject(null, given.draws, given.seed, more=True), flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
