"""What a reviewer would try: missing judgements, few flags, intervals without width, many runs, plans."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils import statistics
from medtasks_utils.compare import family
from medtasks_utils.compare.flips import agreement, flips
from medtasks_utils.compare.inference import Contrast, benjamini_hochberg, contrast, holm, judged_in_both
from medtasks_utils.compare.plan import stated
from medtasks_utils.compare.ranking import groups_of, ranking
from medtasks_utils.compare.terms import Item
from medtasks_utils.errors import MedtasksError
from medtasks_utils.intervals import confidence_interval, share_interval, wilson
from medtasks_utils.metrics import Metric
from medtasks_utils.planning import Spread, detectable, examples_needed, spread, variance_within
from medtasks_utils.results import Sample
from medtasks_utils.results.breakdowns import estimate_of
from medtasks_utils.statistics import NOT_AVAILABLE, ExampleValue, Size, Verdict, mean, mean_by_stratum

POINTS = Metric("explanation", unit="points")


def judged(score: float | None, right: bool = True) -> ExampleValue:
    """One generation: a wrong answer, or a right one with its score or without."""
    if score is None:
        return ExampleValue(math.nan, None, None, (), 0, 1, 1)
    return ExampleValue(score, None, None, (), 1, int(right), 0)


# ---- a judge that fails


def test_failures_leave_accuracy_times_the_mean_of_the_judged() -> None:
    items = [judged(80), judged(40), judged(None), judged(None), judged(0, right=False)]
    assert mean(items) == pytest.approx(4 / 5 * 60)
    assert mean([judged(80), judged(40)]) == 60
    assert mean([judged(None), judged(None)]) == NOT_AVAILABLE
    assert mean([judged(0, right=False)]) == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(1, 100)), min_size=4, max_size=40))
def test_the_error_is_that_of_the_product_by_the_delta_method(rows: list[tuple[bool, bool, float]]) -> None:
    items = [judged(0, right=False) if not right else judged(None if fails else score) for right, fails, score in rows]
    right = np.array([float(right) for right, _, _ in rows])
    known = np.array([float(right and not fails) for right, fails, _ in rows])
    score = np.array([score for _, _, score in rows]) * known
    if not known.sum():
        return
    n, p, m = len(rows), right.mean(), score.sum() / known.sum()
    influence = m * (right - p) / n + p * (score - m * known) / known.sum()
    assert mean(items) == pytest.approx(p * m)
    assert mean.stderr(items) == pytest.approx(math.sqrt(n / (n - 1) * (influence**2).sum()), rel=1e-9, abs=1e-9)


def test_generations_of_one_example_may_lack_some_of_their_scores() -> None:
    """Of three generations one is wrong, one scored 90, one not judged; in another example two are right with 30."""
    items = [ExampleValue(45.0, "x", None, (), 2, 2, 1), ExampleValue(20.0, "y", None, (), 3, 2, 0)]
    assert mean(items) == pytest.approx(4 / 6 * (90 + 30 + 30) / 3)


def test_generations_weigh_the_same_where_examples_have_different_numbers() -> None:
    items = [ExampleValue(1.0, None, None, (), 1), ExampleValue(0.0, None, None, (), 3)]
    assert mean(items) == 0.25


def test_pairs_without_a_judgement_fall_out_and_bias_nothing() -> None:
    rng = np.random.default_rng(0)
    differences, left_out = [], 0
    for _ in range(200):
        chance, quality = rng.beta(2, 1, 200), rng.normal(60, 10, 200)
        sides: list[list[Item]] = []
        for failing in (0.0, 0.3):
            right = rng.random(200) < chance
            fails = rng.random(200) < failing
            scores = np.clip(quality + rng.normal(0, 5, 200), 1, 100)
            sides.append(
                [
                    judged(0, right=False) if not r else judged(None if f else s)
                    for r, f, s in zip(right, fails, scores, strict=True)
                ]
            )
        found = contrast(sides[0], sides[1], mean, top=100.0, resamples=1)
        assert found is not None and found.n + found.left_out == 200
        differences.append(found.difference)
        left_out += found.left_out
    assert left_out > 0
    assert abs(np.mean(differences)) < 4 * np.std(differences) / math.sqrt(200)


def test_a_class_of_pairs_without_any_judgement_has_no_contrast() -> None:
    pairs: list[tuple[Item, Item]] = [(judged(None), judged(50)), (judged(0, right=False), judged(20))]
    assert judged_in_both(pairs) is None


# ---- intervals


def test_few_flags_have_the_interval_of_few() -> None:
    items = [ExampleValue(1.0, str(i), None, (Verdict(i % 2, int(i in (1, 3, 5))),)) for i in range(1000)]
    found = estimate_of(items, Metric("precision", statistics.precision))
    assert (found.value, found.clusters, found.is_of_too_few) == (1.0, 3, True)
    assert (found.low, found.high) == pytest.approx(wilson(1.0, 3))


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("metric", [Metric("acc"), Metric("answer_accuracy", unit="points"), POINTS])
def test_all_right_and_all_wrong_is_no_certainty(metric: Metric, value: float) -> None:
    top = metric.range[1] or 1.0
    found = estimate_of([ExampleValue(value * top) for _ in range(20)], metric)
    assert found.low is not None and found.high is not None
    assert (found.low / top, found.high / top) == pytest.approx(wilson(value, 20))


def test_a_macro_average_of_perfect_strata_has_a_width() -> None:
    items = [ExampleValue(1.0, None, name) for name in "abcde" for _ in range(20)]
    found = estimate_of(items, Metric("macro_acc", statistics.macro_mean))
    assert found.high == 1.0 and found.low == pytest.approx(1 - (1 - wilson(1.0, 20)[0]) / math.sqrt(5))


def test_a_model_that_flags_everything_has_no_certain_f1() -> None:
    items = [ExampleValue(float(t), str(i), None, (Verdict(t, 1),)) for i in range(500) for t in (0, 1)]
    found = estimate_of(items, Metric("f1", statistics.f1))
    assert found.value == pytest.approx(2 / 3)
    assert found.low is not None and found.high is not None and found.low < 2 / 3 - 1e-4 < 2 / 3 + 1e-4 < found.high


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 400), st.floats(0, 1), st.floats(0, 0.6), st.sampled_from(["share", "points"]))
def test_no_interval_leaves_the_range_or_its_value(n: int, share: float, error: float, unit: Any) -> None:
    metric = Metric("x", unit=unit)
    top = metric.range[1] or 1.0
    low, high = confidence_interval(metric, share * top, error * top, Size(n, n))
    assert low is not None and high is not None
    assert -1e-9 <= low <= share * top + 1e-9 <= high + 2e-9 <= top + 4e-9 and low < high


@given(st.integers(4, 60), st.integers(4, 60))
def test_shares_have_wilson_s_interval_but_for_very_few(right: int, wrong: int) -> None:
    n = right + wrong
    assert share_interval(right / n, n) == wilson(right / n, n)


def test_the_effective_number_has_the_factor_of_korn_and_graubard() -> None:
    """Ten clusters of two equal examples are ten examples, and t with nine degrees of freedom takes the place of z."""
    low, high = confidence_interval(Metric("acc"), 0.5, math.sqrt(0.25 / 10), Size(10, 20))
    assert (low, high) == pytest.approx(wilson(0.5, 10 * (1.959964 / 2.262157) ** 2), abs=1e-5)


def test_calculators_not_seen_are_less_certain() -> None:
    draw = random.Random(0)
    items = [
        ExampleValue(float(draw.random() < skill), f"{name}{i}", name)
        for name, skill in (("a", 0.1), ("b", 0.5), ("c", 0.9))
        for i in range(40)
    ]
    assert mean_by_stratum(items) == mean(items)
    assert float(mean_by_stratum.stderr(items)) > 3 * float(mean.stderr(items))
    assert mean_by_stratum.summary(items).size == Size(3, 120)


# ---- repeats and ties


def sample(number: int, acc: float, answers: list[str]) -> Sample:
    text = f"{number}"
    return Sample(number, text, {}, [], [""], "A", {"strict-match": answers}, {"strict-match": {"acc": acc}})


def test_a_tie_is_neither_right_nor_wrong() -> None:
    pairs = [(sample(0, 0.5, ["A", "A", "B", "B"]), sample(0, 1.0, ["A"]))]
    assert list(flips(pairs, "task", "strict-match")) == []
    found = agreement(pairs, "strict-match")
    assert (found.gained, found.lost, found.both_right, found.both_wrong) == (0.5, 0.0, 0.5, 0.0)


def test_equal_models_gain_and_lose_alike_with_different_repeats() -> None:
    rng = np.random.default_rng(4)
    chance = rng.beta(1, 0.5, 2000)
    pairs = [
        (sample(i, rng.binomial(4, p) / 4, ["A"] * 4), sample(i, float(rng.random() < p), ["A"]))
        for i, p in enumerate(chance)
    ]
    found = agreement(pairs, "strict-match")
    assert found.gained == pytest.approx(found.lost, abs=4 * math.sqrt(found.gained + found.lost))
    assert sum((found.gained, found.lost, found.both_right, found.both_wrong)) == pytest.approx(2000)


def test_variance_within_and_between_examples_is_found_again() -> None:
    rng = np.random.default_rng(1)
    chance = rng.beta(2, 1, 20_000)
    shares = rng.binomial(3, chance) / 3
    within = float(np.mean([variance_within([share], 3) for share in shares]))
    found = spread(shares.tolist(), 3, within)
    assert found is not None
    assert found.between == pytest.approx(chance.var(), rel=0.05)
    assert found.within == pytest.approx((chance * (1 - chance)).mean(), rel=0.05)
    assert found.stderr() == pytest.approx(shares.std() / math.sqrt(20_000), rel=0.01)
    assert found.stderr(4) < found.stderr()


def test_repeats_cannot_buy_what_lies_between_examples() -> None:
    found = Spread(examples=100, repeats=1, between=0.1, within=0.1)
    assert found.repeats_needed(math.sqrt(0.1 / 100)) is None
    needed = found.repeats_needed(math.sqrt(0.125 / 100))
    assert needed == 4 and found.stderr(needed) == pytest.approx(math.sqrt(0.125 / 100))


# ---- plans


def test_as_many_examples_as_a_plan_asks_for_find_the_difference_four_times_of_five() -> None:
    from medtasks_utils.compare.inference import mcnemar

    n = stated(3, 0.2)
    assert n == examples_needed(0.03, 0.2)
    draws = np.random.default_rng(2).multinomial(n, [0.085, 0.115, 0.8], size=1500)
    power = np.mean([mcnemar(int(row[0]), int(row[1])) < 0.05 for row in draws])
    assert 0.75 < power < 0.84
    with pytest.raises(MedtasksError, match=r"disagree on 0\.03"):
        stated(3, 0.02)


def test_the_detectable_difference_is_some_2_8_standard_errors() -> None:
    assert detectable(1.0) == pytest.approx(1.959964 + 0.841621, abs=1e-5)
    assert detectable(1.0, 9) > detectable(1.0, 99) > detectable(1.0)


# ---- many comparisons


def test_a_family_larger_than_what_is_at_hand_corrects_as_much() -> None:
    p_values = [0.001, 0.02, 0.4]
    assert holm(p_values, 10)[0] == pytest.approx(0.01)
    assert benjamini_hochberg(p_values, 10)[0] == pytest.approx(0.01)
    for correct in (holm, benjamini_hochberg):
        whole = correct([*p_values, *[1.0] * 7])[:3]
        assert correct(p_values, 10) == pytest.approx(whole)


def test_runs_are_ranked_and_equals_share_a_letter() -> None:
    rng = np.random.default_rng(3)
    chances = {"low": 0.3, "high": 0.9, "twin": 0.9}
    rows: list[list[Item]] = [[ExampleValue(float(rng.random() < p)) for p in chances.values()] for _ in range(400)]
    found = {rank.run: rank for rank in ranking(list(chances), rows, mean)}
    assert (found["low"].best, found["low"].worst, found["low"].groups) == (3, 3, "b")
    assert all((found[name].best, found[name].worst, found[name].groups) == (1, 2, "a") for name in ("high", "twin"))
    flipped = ranking(list(chances), rows, mean, higher_is_better=False)
    assert flipped[0].run == "low" and flipped[0].worst == 1
    assert ranking(list(chances), rows[:5], mean) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.randoms(use_true_random=False))
def test_runs_share_a_letter_exactly_where_they_do_not_differ(runs: int, draw: random.Random) -> None:
    differ = np.zeros((runs, runs), dtype=bool)
    for i in range(runs):
        for j in range(i):
            differ[i, j] = differ[j, i] = draw.random() < 0.4
    letters = groups_of(differ, range(runs))
    for i in range(runs):
        for j in range(i):
            assert bool(set(letters[i]) & set(letters[j])) == (not differ[i, j])


# ---- rates, by a small simulation


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    path = Path(ROOT) / "measurements" / "simulation.py"
    sys.path.append(str(path.parent))  # for what it imports from beside it
    spec = importlib.util.spec_from_file_location("simulation", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulation"] = module
    spec.loader.exec_module(module)
    module._LARGE = 200_000  # type: ignore[attr-defined]
    return module


def cells(module: ModuleType, makers: tuple[str, ...], wanted: Callable[[str], bool]) -> list[Any]:
    return [cell for maker in makers for cell in getattr(module, maker)() if wanted(cell.name)]


@pytest.mark.slow
def test_intervals_cover(simulation: ModuleType) -> None:
    """The table of measurements/statistics.md with 150 draws a cell: no cell is off by more than chance allows."""
    makers = ("share_cells", "ratio_cells", "score_cells", "difference_cells")
    chosen = cells(
        simulation, makers, lambda name: "1000 rows" not in name and "judge" not in name and "300" not in name
    )
    assert len(chosen) > 40
    least = 0.93 - 3.5 * math.sqrt(0.93 * 0.07 / 150)
    for cell in chosen:
        covered = simulation.cover(cell, 150, 5).split("|")[2].strip()
        assert float(covered.rstrip("%")) / 100 >= least, (cell.name, covered)


@pytest.mark.slow
def test_nulls_are_kept(simulation: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise for the tests: equal models are called different in some 5 % of 100 draws."""
    monkeypatch.setattr(family, "_DRAWS", family._DRAWS)  # which the simulation lowers
    makers = ("share_nulls", "ratio_nulls", "score_nulls", "page_nulls")
    chosen = cells(simulation, makers, lambda name: "1000 rows" not in name and "macro" not in name)
    assert len(chosen) > 8
    for cell in chosen:
        rejected = simulation.reject(cell, 100, 5).split("|")[2].strip()
        assert float(rejected.rstrip("%")) / 100 <= 0.06 + 3.5 * math.sqrt(0.06 * 0.94 / 100), (cell.name, rejected)


def test_f1_of_runs_that_abstain_differently_is_called_equal(simulation: ModuleType) -> None:
    """One run decides all rows and the other one in ten: the plain randomisation was wrong a quarter of the time."""
    (cell,) = cells(simulation, ("ratio_nulls",), lambda name: name.startswith("f1; 1000 rows, unsure 0% and 90%"))
    rejected = simulation.reject(cell, 60, 5).split("|")[2].strip()
    assert float(rejected.rstrip("%")) / 100 <= 0.16


def test_below_ten_decided_clusters_there_is_no_p_value_and_the_line_says_why() -> None:
    first: list[Item] = [ExampleValue(1.0, str(i), None, (Verdict(1, 1),)) for i in range(50)]
    second: list[Item] = [item if i < 9 else None for i, item in enumerate(first)]
    found = contrast(first, second, statistics.f1)
    assert isinstance(found, Contrast) and found.p is None and found.note.endswith("B decides 9 of 50 that count here")
