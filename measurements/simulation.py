"""Measure the coverage of intervals and the error rates of tests by simulation.

Usage: python measurements/simulation.py [--draws 500] [--part tests] [--only TEXT] [--seed 1]

Draws data sets from models whose true values are known. For each cell, it counts the 95 % intervals that contain the
true value, or the tests at 5 % that reject a true null hypothesis or find a difference. The code is that of ``medtasks
compare``, from saved samples on, and of the report; only the drawing is done here, with a fixed seed for each cell.
Prints the tables of measurements/statistics.md.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy
from drawing import (
    BENCHMARKS,
    TARGETS,
    Array,
    Coverage,
    Found,
    Rejection,
    Rng,
    Rows,
    as_scores,
    asked_until_decided,
    compared,
    judged,
    pairs,
    plain,
    saved,
    scores,
    truth_of,
    two_models,
    verdicts,
)

from medtasks_utils.compare import compare_runs
from medtasks_utils.compare.contrast import contrast
from medtasks_utils.statistics.aggregation import F1, MACRO, MEAN, RATIO, Aggregation
from medtasks_utils.statistics.best_set import best_set
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import Metric
from medtasks_utils.statistics.planning import Sensitivity

_LARGE = 1_000_000  # examples behind a truth that has no formula


# ---- one run


def interval(metric: Metric, rows: Rows, clusters: Array | None = None, strata: Array | None = None) -> Found:
    """Return the interval that the report and the short table show."""
    found = estimate(as_scores(rows, clusters, strata), metric)
    return Found(found.low, found.high, found.few)


def share_cells() -> Iterator[Coverage]:
    """Yield cells of accuracy on independent examples, with and without repeats, and of macro averages."""
    acc = Metric("acc")
    for n in (20, 131, 1000):
        for p in (0.03, 0.5, 0.9, 0.97):
            yield Coverage(
                f"accuracy; {n} examples, truth {p}",
                n,
                lambda rng, n=n, p=p: interval(acc, plain(rng.random(n) < p)),  # type: ignore[misc]
                p,
            )
    for n in (20, 131):
        for a, b in ((1.0, 1.0), (0.3, 0.1), (20.0, 1.0)):

            def draw_repeats(rng: Rng, n: int = n, a: float = a, b: float = b) -> Found:
                return interval(acc, plain(rng.random((n, 4)) < rng.beta(a, b, (n, 1))))

            yield Coverage(f"accuracy, 4 repeats; {n} examples, truth {a / (a + b):.2f}", n, draw_repeats, a / (a + b))
    for n in (131, 500):

        def draw_many(rng: Rng, n: int = n) -> Found:
            return interval(acc, plain(rng.random((n, 32)) < rng.beta(9.8, 0.2, (n, 1))))

        yield Coverage(f"accuracy, 32 repeats; {n} examples, truth 0.98", n, draw_many, 0.98)
    for sizes in ((144, 368, 108, 189, 131), (20,) * 5, (10,) * 5):
        for p in (0.6, 0.9, 0.98):

            def draw_macro(rng: Rng, sizes: tuple[int, ...] = sizes, p: float = p) -> Found:
                strata = np.repeat(np.arange(len(sizes)), sizes)
                return interval(Metric("macro_acc", MACRO), plain(rng.random(len(strata)) < p), strata=strata)

            yield Coverage(f"macro average; strata of {min(sizes)}–{max(sizes)}, truth {p}", sum(sizes), draw_macro, p)


def ratio_cells() -> Iterator[Coverage]:
    """Yield cells of F1, precision, recall and clustered accuracy."""
    cases: list[tuple[str, str, Aggregation, int, dict[str, float]]] = [
        *(("F1", "f1", F1, rows, {"hit": 0.8, "false_alarm": 0.3}) for rows in (20, 100, 1000)),
        *(("F1, 98 % unsure", "f1", F1, 1000, {"hit": 0.8, "false_alarm": 0.3, "unsure": u}) for u in (0.98,)),
        *(("F1, flags 98 %", "f1", F1, rows, {"hit": 0.98, "false_alarm": 0.98}) for rows in (100, 1000)),
        ("precision, 30 flags, half right", "precision", RATIO, 1000, {"hit": 0.015, "false_alarm": 0.015}),
        ("precision, 100 flags", "precision", RATIO, 1000, {"hit": 0.095, "false_alarm": 0.005}),
        *(("recall", "recall", RATIO, 100, {"hit": hit, "false_alarm": 0.1}) for hit in (0.03, 0.5, 0.97)),
    ]
    for name, metric, how, rows, model in cases:
        truth = truth_of(metric, *verdicts(np.random.default_rng(0), _LARGE // 2, **model))
        clusters = np.repeat(np.arange(rows), 2)

        def draw(rng: Rng, m: Any = (metric, how, rows, model, clusters)) -> Found:
            return interval(Metric(m[0], m[1]), pairs(m[0], *verdicts(rng, m[2], **m[3])), m[4])

        yield Coverage(f"{name}; {rows} rows, truth {truth:.3f}", rows, draw, truth)
    for rows, repeats, unsure in ((10, 4, 0.72), (10, 8, 0.72), (100, 8, 0.72), (100, 8, 0.0)):
        model = {"hit": 0.8, "false_alarm": 0.3, "unsure": unsure}
        truth = truth_of("f1", *verdicts(np.random.default_rng(0), _LARGE // 2, **model))

        def draw_repeats(rng: Rng, m: Any = (rows, repeats, model)) -> Found:
            generations = (pairs("f1", *verdicts(rng, m[0], **m[2])) for _ in range(m[1]))
            together: Rows = [[score for (score,) in own] for own in zip(*generations, strict=True)]
            return interval(Metric("f1", F1), together, np.repeat(np.arange(m[0]), 2))

        yield Coverage(f"F1, {repeats} repeats, {unsure:.0%} unsure; {rows} rows", rows, draw_repeats, truth)
    for rows in (20, 100, 1000):
        for hit, false_alarm in ((0.8, 0.3), (0.9, 0.9), (0.9, 0.1)):

            def draw_accuracy(rng: Rng, m: Any = (rows, hit, false_alarm)) -> Found:
                flagged, _ = verdicts(rng, *m)
                return interval(Metric("acc"), plain((flagged == TARGETS).ravel()), np.repeat(np.arange(m[0]), 2))

            truth = (hit + 1 - false_alarm) / 2
            yield Coverage(f"accuracy, clustered; {rows} rows of 2, truth {truth:.2f}", rows, draw_accuracy, truth)


def score_cells() -> Iterator[Coverage]:
    """Yield cells of scores of explanations, also near their maximum, and of a judge that fails."""
    metric = Metric("explanation", unit="points", is_of_explanations=True)
    for n in (20, 131, 940):
        for right, mean, spread in ((0.03, 60, 15), (0.5, 60, 15), (0.97, 60, 15), (0.97, 92, 5), (0.99, 92, 5)):
            truth = float(scores(np.random.default_rng(0), _LARGE, right, mean, spread).mean())

            def draw(rng: Rng, m: Any = (n, right, mean, spread)) -> Found:
                return interval(metric, plain(scores(rng, *m)))

            yield Coverage(f"explanation, {right:.0%} right, scores about {mean}; {n} examples", n, draw, truth)
    for failing in (0.05, 0.3):
        truth = float(scores(np.random.default_rng(0), _LARGE, 0.65).mean())

        def draw_failing(rng: Rng, failing: float = failing) -> Found:
            return interval(metric, judged(rng, scores(rng, 300, 0.65), failing))

        yield Coverage(f"explanation, 65 % right, judge fails on {failing:.0%}; 300 examples", 300, draw_failing, truth)


# ---- two runs


def is_rejected(first: Rows, second: Rows, metric: str, **of: Any) -> bool | None:
    """Return whether ``medtasks compare`` finds a difference; None if it does not test."""
    found = compared(first, second, metric, **of)
    return None if found is None or found.p is None else found.p < 0.05


def nulls(difference: float = 0.0) -> Iterator[Rejection]:
    """Yield cells of equal models or, with a ``difference`` in points, of the power to find it."""
    step = difference / 100
    for metric, rows, unsure in (
        ("f1", 50, (0.1, 0.1)),
        ("f1", 300, (0.0, 0.9)),
        ("precision", 300, (0.0, 0.9)),
        ("recall", 300, (0.0, 0.9)),
        ("accuracy_answered", 300, (0.0, 0.9)),
    ):
        if difference:
            continue

        def draw(rng: Rng, m: Any = (metric, rows, unsure)) -> bool | None:
            first, second = (pairs(m[0], *run) for run in two_models(rng, m[1], m[2]))
            return is_rejected(first, second, m[0], clusters=np.repeat(np.arange(m[1]), 2).tolist())

        yield Rejection(f"{metric}; {rows} rows, unsure {unsure[0]:.0%} and {unsure[1]:.0%}", rows, draw)
    for rows in (15, 30, 300):

        def draw_accuracy(rng: Rng, rows: int = rows) -> bool | None:
            sides = [(run[0] == TARGETS).ravel() for run in two_models(rng, rows, (0.1, 0.1))]
            gained = rng.random(2 * rows) < step
            clusters = np.repeat(np.arange(rows), 2).tolist()
            return is_rejected(plain(sides[0]), plain(sides[1] | gained), "acc", clusters=clusters)

        yield Rejection(f"accuracy, clustered; {rows} rows of 2", rows, draw_accuracy)

    def draw_mcnemar(rng: Rng) -> bool | None:
        chance = rng.beta(1, 0.5, 500)
        a, b = (rng.random(500) < chance for _ in range(2))
        return is_rejected(plain(a), plain(b | (rng.random(500) < step)), "acc", task="medmcqa_openmed")

    yield Rejection("accuracy, McNemar; 500 examples", 500, draw_mcnemar)
    for a, b in ((1, 0.5), (20, 1)):
        for repeats in ((4, 4), (4, 1), (8, 1)):

            def draw_repeats(rng: Rng, m: Any = (a, b, repeats)) -> bool | None:
                chance = rng.beta(m[0], m[1], (131, 1))
                sides = [rng.random((131, k)) < chance + step * number for number, k in enumerate(m[2])]
                return is_rejected(plain(sides[0]), plain(sides[1]), "acc", task="medmcqa_openmed")

            name = f"accuracy of {a / (a + b):.0%}, {repeats[0]} and {repeats[1]} repeats; 131 examples"
            yield Rejection(name, 131, draw_repeats)
    for failing in ((0.0, 0.0), (0.05, 0.05), (0.0, 0.3)):

        def draw_judged(rng: Rng, failing: tuple[float, float] = failing) -> bool | None:
            chance, quality = rng.beta(2, 1, 300), rng.normal(60, 10, 300)
            sides = []
            for number, share in enumerate(failing):
                luck = np.clip(quality + difference * number + rng.normal(0, 10, 300), 1, 100)
                sides.append(judged(rng, (rng.random(300) < chance) * luck, share))
            return is_rejected(sides[0], sides[1], "explanation", task="medexqa_all")

        yield Rejection(
            f"explanation; judge fails on {failing[0]:.0%} and {failing[1]:.0%}; 300 examples", 300, draw_judged
        )


def f1_of_repeats_nulls() -> Iterator[Rejection]:
    """Yield a cell of equal models, one of which is often unsure."""

    def draw(rng: Rng) -> bool | None:
        sides: list[Rows] = []
        for unsure in (0.0, 0.72):
            generations = [pairs("f1", *two_models(rng, 20, (unsure, unsure))[0]) for _ in range(8)]
            sides.append([[score for (score,) in own] for own in zip(*generations, strict=True)])
        return is_rejected(sides[0], sides[1], "f1", clusters=np.repeat(np.arange(20), 2).tolist())

    yield Rejection("f1, 8 repeats; 20 rows, unsure 0% and 72%", 20, draw)


def macro_nulls(is_power: bool = False) -> Iterator[Rejection]:
    """Yield cells of macro averages of equal models or, with ``is_power``, of models some points apart."""
    for strata, size, accuracy, gap in ((5, 40, 0.97, 0.036), (5, 20, 0.9, 0.089), (5, 108, 0.9, 0.05)):

        def draw_macro(rng: Rng, m: Any = (strata, size, accuracy, gap * is_power)) -> bool | None:
            strata_of, luck = np.repeat(np.arange(m[0]), m[1]), rng.random(m[0] * m[1])
            sides = [as_scores(plain(luck < share), strata=strata_of) for share in (m[2] - m[3], m[2])]
            if not m[3]:  # right and wrong on other examples
                sides[1] = as_scores(plain(rng.random(len(luck)) < m[2]), strata=strata_of)
            found = contrast(sides[0], sides[1], Metric("macro_acc", MACRO))
            return None if found is None or found.p is None else found.p < 0.05

        of_gap = f", {100 * gap:.1f} points" * is_power
        yield Rejection(f"macro average, {strata} × {size}, accuracy {accuracy}{of_gap}", strata * size, draw_macro)


def judged_repeats_nulls() -> Iterator[Rejection]:
    """Yield cells of equal models with k generations; the judge fails on single generations."""
    for repeats, failing in (((8, 1), (0.3, 0.0)), ((4, 4), (0.05, 0.05)), ((4, 1), (0.05, 0.05))):

        def draw(rng: Rng, m: Any = (repeats, failing)) -> bool | None:
            chance, quality = rng.beta(2, 1, (131, 1)), rng.normal(60, 10, (131, 1))
            sides = []
            for k, share in zip(*m, strict=True):
                values = (rng.random((131, k)) < chance) * np.clip(quality + rng.normal(0, 10, (131, k)), 1, 100)
                flat = [score for (score,) in judged(rng, values.ravel(), share)]
                sides.append([flat[place : place + k] for place in range(0, len(flat), k)])
            return is_rejected(sides[0], sides[1], "explanation", task="medexqa_all")

        name = (
            f"explanation, {repeats[0]} and {repeats[1]} repeats; judge fails on {failing[0]:.0%} and {failing[1]:.0%}"
        )
        yield Rejection(f"{name}; 131 examples", 131, draw)


def power() -> Iterator[Rejection]:
    """Yield cells of models that are 5 points apart."""
    yield from nulls(5.0)
    yield from macro_nulls(is_power=True)


def misses_the_best(runs: Sequence[Rows], metric: Metric, best: int = 0) -> bool:
    """Return whether the best run is missing from the set of the best, as on the page."""
    found = best_set([[metric.aggregation.ratio(as_scores(rows)) for rows in runs]])
    return found is not None and not found[best]


def family_nulls() -> Iterator[Rejection]:
    """Yield cells of many comparisons of equal models: any star, or the best run missing from its set."""

    def draw_tasks(rng: Rng) -> bool:
        chance = {task: rng.beta(2, 1, 131) for task in BENCHMARKS}
        runs = [
            saved(name, {task: plain(rng.random(131) < own) for task, own in chance.items()}, "acc") for name in "ab"
        ]
        return any(line.is_significant for line in compare_runs(*runs, metrics=["acc"], force=True).differences)

    yield Rejection("any star among 4 tasks; accuracy, 131 examples each", 524, draw_tasks)

    def draw_sets(rng: Rng) -> bool:
        chance = rng.beta(1, 0.5, 300)
        return misses_the_best([plain(rng.random(300) < chance) for _ in range(8)], Metric("acc"))

    yield Rejection("the best left out for 8 models; accuracy, 300 examples", 300, draw_sets)

    def draw_sets_of_scores(rng: Rng) -> bool:
        chance, quality = rng.beta(2, 1, 60), rng.normal(60, 10, 60)
        luck = np.clip(quality + rng.normal(0, 10, (8, 60)), 1, 100)
        rows = [plain(own) for own in (rng.random((8, 60)) < chance) * luck]
        return misses_the_best(rows, Metric("explanation", unit="points", is_of_explanations=True))

    yield Rejection("the best left out for 8 models; explanation, 60 examples", 480, draw_sets_of_scores)
    for n, k, tied in ((100, 12, 1), (100, 12, 4), (1000, 12, 4), (1000, 40, 1), (20, 6, 3)):

        def draw_apart(rng: Rng, m: tuple[int, int, int] = (n, k, tied)) -> bool:
            ability = np.concatenate([np.full(m[2], 1.9), rng.uniform(-0.5, 1.8, m[1] - m[2])])
            chance = scipy.special.expit(ability[:, None] + rng.normal(0, 1.5, m[0]))
            return misses_the_best([plain(own) for own in rng.random(chance.shape) < chance], Metric("acc"))

        yield Rejection(f"the best left out, {tied} of {k} models alike; accuracy, {n} examples", n, draw_apart)
    for n, accuracy in ((20, 0.95), (60, 0.98), (131, 0.98), (300, 0.98)):

        def draw_uneven(rng: Rng, m: tuple[int, float] = (n, accuracy)) -> bool:
            runs = [plain(rng.random((m[0], k)) < m[1]) for k in (1, 1, 1, 8)]
            return misses_the_best(runs, Metric("acc"))

        yield Rejection(
            f"the best left out, repeats 1, 1, 1, 8; accuracy of {accuracy:.0%}, {n} examples", n, draw_uneven
        )


def planned_cells() -> Iterator[Rejection]:
    """Yield a cell of McNemar's test with as many examples as ``medtasks compare --plan`` asks for."""
    points, discordance = 10, 0.3
    n = Sensitivity(100, 1.0, 1.0, 99.0, discordance).examples_needed(points / 100)

    def draw(rng: Rng) -> bool | None:
        luck, gained = rng.random(n), discordance / 2 + points / 200
        first = as_scores(plain((luck < discordance - gained) | (luck > 0.6)))
        second = as_scores(plain(((luck >= discordance - gained) & (luck < discordance)) | (luck > 0.6)))
        found = contrast(first, second, Metric("acc"))
        return None if found is None or found.p is None else found.p < 0.05

    yield Rejection(f"accuracy, {points} points at a discordance of {discordance}; planned {n} examples", n, draw)


def planned_pairs() -> Iterator[Rejection]:
    """Yield cells of the t test with as many examples as planned from a pilot of equal variance."""
    models = {
        "macro average of 5, accuracy .9": (MACRO, 5, 1, 0.9, 0.05),
        "macro average of 5, accuracy .97": (MACRO, 5, 1, 0.97, 0.02),
        "accuracy of .8, 4 repeats": (MEAN, 1, 4, 0.8, 0.04),
        "accuracy of .95, 4 repeats": (MEAN, 1, 4, 0.95, 0.02),
        "accuracy of .95, 2 a cluster": (MEAN, 1, 1, 0.95, 0.03),
    }
    for name, (aggregation, strata, repeats, accuracy, gap) in models.items():
        metric = Metric("acc", aggregation)

        def sides(rng: Rng, n: int, m: Any = (strata, repeats, accuracy, gap, "cluster" in name)) -> tuple[Any, Any]:
            strata_of, clusters = np.arange(n) % m[0], np.arange(n) // (1 + m[4])
            shared = rng.random((n, 1))[clusters]  # half of the luck
            values = []
            for share in (m[2] - m[3], m[2]):
                luck = np.where(rng.random((n, m[1])) < 0.5, shared, rng.random((n, m[1])))
                values.append(as_scores(plain(luck < share), clusters, strata_of))
            return values[0], values[1]

        pilot = contrast(*sides(np.random.default_rng(7), 200_000), metric)
        assert pilot is not None
        assert pilot.sensitivity is not None
        n = pilot.sensitivity.examples_needed(gap) * (1 + ("cluster" in name))

        def draw(rng: Rng, m: Any = (sides, n, metric)) -> bool | None:
            first, second = m[0](rng, m[1])
            found = contrast(first, second, m[2])
            return None if found is None or found.p is None else found.p < 0.05

        yield Rejection(f"{name}, {100 * gap:g} points; planned {n} examples", n, draw)


def difference_cells() -> Iterator[Coverage]:
    """Yield cells of intervals of differences between two runs."""
    for n, lost, gained in ((20, 0.1, 0.2), (131, 0.05, 0.1), (1000, 0.01, 0.015)):

        def draw(rng: Rng, m: Any = (n, lost, gained)) -> Found:
            luck = rng.random(m[0])
            first, second = luck > m[1] + m[2], (luck > m[1] + m[2]) | (luck < m[2])
            first = first | ((luck >= m[2]) & (luck < m[1] + m[2]))
            found = compared(plain(first), plain(second), "acc", task="medmcqa_openmed")
            return Found(None, None, True) if found is None else Found(found.low, found.high, found.few)

        yield Coverage(f"difference in accuracy {gained - lost:.3f}; {n} examples", n, draw, gained - lost)

    def draw_repeats(rng: Rng) -> Found:
        chance = rng.beta(20, 1, (131, 1))
        first, second = (plain(rng.random((131, k)) < chance) for k in (4, 1))
        found = compared(first, second, "acc", task="medmcqa_openmed")
        return Found(None, None, True) if found is None else Found(found.low, found.high, found.few)

    yield Coverage("difference in accuracy 0, of 95 %, 4 and 1 repeats; 131 examples", 131, draw_repeats, 0.0)
    for rows, unsure in ((40, (0.1, 0.1)), (300, (0.0, 0.9))):

        def draw_f1(rng: Rng, m: Any = (rows, unsure)) -> Found:
            first, second = (pairs("f1", *run) for run in two_models(rng, *m))
            found = compared(first, second, "f1", clusters=np.repeat(np.arange(m[0]), 2).tolist())
            return Found(None, None, True) if found is None else Found(found.low, found.high, found.few)

        yield Coverage(
            f"difference in F1 0; {rows} rows, unsure {unsure[0]:.0%} and {unsure[1]:.0%}", rows, draw_f1, 0.0
        )


# ---- stopping early


class Stopped(NamedTuple):
    """A run that was stopped: the share of examples asked, and whether its decision is wrong and its interval right."""

    share: float
    is_wrong: bool
    is_covered: bool


@dataclass(frozen=True)
class EarlyStop:
    """A cell of runs that stop early against a saved run; ``examples`` is their number."""

    name: str
    examples: int
    draw: Callable[[Rng], Stopped]


def stopped(first: Rows, second: Rows, clusters: Array, strata: Array, within: float) -> Stopped:
    """Ask in a random order until a decision; the true value is the difference over all examples."""
    metric = Metric("acc", MACRO if strata.any() else MEAN)
    whole = contrast(as_scores(first, clusters, strata), as_scores(second, clusters, strata), metric)
    assert whole is not None
    truth, margin = whole.difference, within / 100 + 1e-9
    found = asked_until_decided(first, second, clusters.tolist(), strata.tolist(), within)
    is_right = {"better": truth > 0, "worse": truth < 0, "within": abs(truth) <= margin, "undecided": True}
    assert found.low is not None, "the last interval is the difference itself"
    assert found.high is not None
    is_covered = found.low - 1e-9 <= truth <= found.high + 1e-9
    return Stopped(found.asked / found.of, not is_right[found.decision], is_covered)


def early_stops() -> Iterator[EarlyStop]:
    """Yield cells of differences of 0 to 10 points: independent examples, pairs, macro averages and repeats."""
    designs = {
        "independent": (1, 1, 1, (100, 940, 2000, 4183)),
        "pairs": (2, 1, 1, (2000,)),
        "macro average of 5": (1, 5, 1, (100, 940)),
        "4 repeats": (1, 1, 4, (940,)),
    }
    for name, (per_cluster, strata, repeats, sizes) in designs.items():
        for n, points in product(sizes, (0, 1, 2, 3, 5, 10)):

            def draw(rng: Rng, m: Any = (per_cluster, strata, repeats, n, points / 100)) -> Stopped:
                per_cluster, strata, repeats, n, gap = m
                clusters, strata_of = np.arange(n) // per_cluster, np.arange(n) // per_cluster % strata
                shared = rng.random((n, 1))[clusters]
                luck = np.where(rng.random((n, repeats)) < 0.3 * (per_cluster > 1), shared, rng.random((n, repeats)))
                gained = luck < 0.1 + gap / 2  # a discordance of 20 %, and more where the difference needs it
                lost = (luck >= 0.1 + gap / 2) & (luck < max(0.2, gap))
                both = luck > 0.5
                return stopped(plain(lost | both), plain(gained | both), clusters, strata_of, 2.0)

            yield EarlyStop(f"{name}; {n:,} examples, {points} points", n, draw)
    for repeats, within, failing in product((1, 2, 4, 8, 16, 32), (1.0, 2.0), (0.01, 0.015, 0.02, 0.03)):

        def draw_failing(rng: Rng, m: Any = (repeats, within, failing)) -> Stopped:
            repeats, within, failing = m
            answered = rng.random((935, repeats)) < np.where(rng.random((935, 1)) < 0.04, 0.25, 1.0)
            broken = np.isin(np.arange(935), rng.permutation(935)[: round(935 * failing)])[:, None]
            nothing = np.zeros(935, dtype=np.intp)
            return stopped(plain(answered), plain(answered & ~broken), np.arange(935), nothing, within)

        name = f"{repeats} repeats, accuracy 97 %, {failing:.1%} of the questions fail, within {within:g}; 935 examples"
        yield EarlyStop(name, 935, draw_failing)


# ---- the tables


def stop(cell: EarlyStop, draws: int, seed: int) -> tuple[str, float]:
    """Return a row (shares of examples asked, wrong decisions, intervals with the true value), and the second share."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    found = [cell.draw(rng) for _ in range(draws)]
    asked, wrong, covered = (float(np.mean(values)) for values in zip(*found, strict=True))
    return f"| {cell.name} | {asked:.0%} | {wrong:.1%} | {covered:.1%} | {draws:,} |", wrong


def cover(cell: Coverage, draws: int, seed: int) -> tuple[str, float | None]:
    """Return a row: the share of intervals with the true value, the share that is marked or not shown, and the width.

    Return also the first share, or None if most intervals are marked, as below ten effective degrees of freedom.
    """
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    found = [cell.draw(rng) for _ in range(draws)]
    marked = float(np.mean([few or low is None for low, _, few in found]))
    shown = [(low, high) for low, high, _ in found if low is not None and high is not None]
    if not shown:
        return f"| {cell.name} | – | {marked:.0%} | – | {draws:,} |", None
    covered = float(np.mean([low - 1e-9 <= cell.truth <= high + 1e-9 for low, high in shown]))
    width = np.mean([high - low for low, high in shown])
    row = f"| {cell.name} | {covered:.1%} | {marked:.0%} | {width:.3g} | {draws:,} |"
    return row, covered if marked <= 0.5 else None


def reject(cell: Rejection, draws: int, seed: int) -> tuple[str, float]:
    """Return a row (how often a test rejects, and how often there is no test), and the first share."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode())])
    known = [one for one in (cell.draw(rng) for _ in range(draws)) if one is not None]
    share = float(np.mean(known))
    return f"| {cell.name} | {share:.1%} | {1 - len(known) / draws:.0%} | {draws:,} |", share


PARTS: dict[str, tuple[str, tuple[Callable[[], Iterator[Any]], ...]]] = {
    "against": ("runs that stop early | asked | wrong decisions | coverage | draws", (early_stops,)),
    "tests": (
        "tests at 5 % of equal models | reject | not tested | draws",
        (nulls, f1_of_repeats_nulls, macro_nulls, judged_repeats_nulls, family_nulls),
    ),
    "power": (
        "tests at 5 % of models that differ by 5 points | reject | not tested | draws",
        (power, planned_cells, planned_pairs),
    ),
    "intervals": (
        "95 % intervals of | coverage | marked or none | width | draws",
        (share_cells, ratio_cells, score_cells, difference_cells),
    ),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500, help="data sets per cell; twice as many up to 131 examples")
    parser.add_argument("--part", choices=PARTS, help="print only this table")
    parser.add_argument("--only", default="", help="only cells whose name contains this text")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started = time.perf_counter(), time.process_time()
    for part, (title, makers) in PARTS.items():
        if given.part not in (None, part):
            continue
        print(f"\n| {title} |\n|{'---|' * (title.count('|') + 1)}")
        found: dict[str, float | None] = {}
        for cell in (cell for make in makers for cell in make()):
            if given.only in cell.name:
                draws = given.draws * (1 + (cell.examples <= 131))
                if isinstance(cell, Coverage):
                    row, found[cell.name] = cover(cell, draws, given.seed)
                elif isinstance(cell, EarlyStop):
                    row, found[cell.name] = stop(cell, draws, given.seed)
                else:
                    row, found[cell.name] = reject(cell, draws, given.seed)
                print(row, flush=True)
        known = [share for share in found.values() if share is not None]
        if known:
            print(
                f"\n{len(known)} of {len(found)} cells (of intervals, those with at most half of them marked): ", end=""
            )
            print(f"{min(known):.1%} to {max(known):.1%}, mean {np.mean(known):.1%}")
    wall, own = time.perf_counter() - started[0], time.process_time() - started[1]
    print(f"\n{wall:.0f} s, {own:.0f} s of processor time")


if __name__ == "__main__":
    main()
