"""Too few to say: what an interval rests on, ties of swaps, and the correction for all comparisons of a page."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kurtosis, norm, permutation_test, studentized_range

from medtasks_utils import statistics
from medtasks_utils.compare.family import Block, Family, family_of
from medtasks_utils.compare.inference import Contrast, contrast
from medtasks_utils.compare.randomisation import randomisation
from medtasks_utils.compare.terms import Item, Terms
from medtasks_utils.intervals import FEWEST, share_interval
from medtasks_utils.metrics import Metric
from medtasks_utils.report.units import interval
from medtasks_utils.results.breakdowns import estimate_of
from medtasks_utils.statistics import ExampleValue, Verdict, informative_clusters

ACC = Metric("acc")


# ---- informative clusters


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=3, max_size=60))
def test_informative_clusters_are_satterthwaite_s_degrees_of_freedom(values: list[float]) -> None:
    influence = np.array(values) - np.mean(values)
    found = informative_clusters(influence.tolist())
    if influence.std() < 1e-6:
        return
    excess = float(np.mean(influence**4) / np.mean(influence**2) ** 2) - 1
    assert found == pytest.approx(min(len(values), 2 * len(values) / max(excess, 1e-12)), rel=1e-6)
    if excess > 1e-3:
        of_scipy = 2 * len(values) / (float(kurtosis(influence, fisher=False)) - 1)
        assert found == pytest.approx(min(len(values), of_scipy), rel=1e-6)


def test_they_are_the_degrees_of_freedom_that_the_variance_has() -> None:
    """Twice its square over its own variance, in 20,000 draws of 200 examples of which 8 % are wrong."""
    rng = np.random.default_rng(0)
    shares = rng.binomial(200, 0.92, 20_000) / 200
    variances = shares * (1 - shares)
    expected = 2 * variances.mean() ** 2 / variances.var()
    items = [ExampleValue(float(i >= 16)) for i in range(200)]
    assert statistics.mean.summary(items).informative == pytest.approx(expected, rel=0.05)


def test_ten_are_some_five_right_or_wrong_ones() -> None:
    for n in (20, 131, 1000, 4000):
        fewest = next(
            wrong
            for wrong in range(n)
            if statistics.mean.summary([ExampleValue(float(i >= wrong)) for i in range(n)]).informative >= 10
        )
        assert fewest == (3 if n == 20 else 5)
    assert statistics.mean.summary([ExampleValue(1.0)] * 50).informative == 0
    assert statistics.mean.summary([ExampleValue(float(i % 2)) for i in range(50)]).informative == 50


def test_strata_and_f1_have_them_too() -> None:
    strata = [ExampleValue(float(i % 20 > 0), None, name) for name in "abcde" for i in range(20)]
    assert statistics.macro_mean.summary(strata).informative == pytest.approx(
        statistics.mean.summary(strata).informative
    )
    small = [ExampleValue(float(i > 0 or name in "cde"), None, name) for name in "abcde" for i in range(4)]
    assert statistics.macro_mean.summary(small).informative < FEWEST, "two wrong of twenty, however they are divided"
    pairs = [ExampleValue(1.0, str(i), None, (Verdict(t, int(i > 1)),)) for i in range(20) for t in (0, 1)]
    assert statistics.f1.summary(pairs).informative < FEWEST < statistics.f1.summary(pairs).size.clusters


def test_a_model_that_flags_nearly_all_has_the_rows_that_it_does_not() -> None:
    """Of 20 rows of two, 18 have one of the two right whatever it sees: the interval rests on the other two."""
    items = [ExampleValue(float(t == (i > 1) or i == 0), str(i)) for i in range(20) for t in (0, 1)]
    found = estimate_of(items, ACC)
    assert found.clusters == 20 and found.informative is not None and 2 < found.informative < 6
    assert found.is_of_too_few and interval(found, ACC).endswith(", too few differ")


def test_the_report_says_too_few_below_ten_and_shows_what_it_has() -> None:
    def shown(right: int, n: int) -> str:
        return interval(estimate_of([ExampleValue(float(i < right)) for i in range(n)], ACC), ACC)

    assert shown(20, 20) == "83.9 to 100.0, too few differ"
    assert shown(18, 20).endswith(", too few differ") and shown(17, 20) == "64.0 to 94.8"
    assert shown(996, 1000).endswith(", too few differ") and shown(995, 1000) == "98.8 to 99.8"
    assert shown(9, 9) == "too few (9)"


def test_two_runs_differ_in_too_few() -> None:
    def compared(differing: int) -> Contrast:
        first: list[Item] = [ExampleValue(float(i >= differing // 2)) for i in range(500)]
        second: list[Item] = [ExampleValue(float(not differing // 2 <= i < differing)) for i in range(500)]
        found = contrast(first, second, statistics.mean)
        assert found is not None
        return found

    assert compared(0).informative == 0
    assert compared(4).is_of_too_few and not compared(6).is_of_too_few


@pytest.mark.parametrize(
    ("n", "least", "most"),
    [(12, 0.912, 0.984), (20, 0.926, 0.981), (30, 0.920, 0.970), (50, 0.931, 0.973), (100, 0.927, 0.971),
     (131, 0.932, 0.971), (400, 0.935, 0.972), (1000, 0.937, 0.972)],
)  # fmt: skip
def test_with_ten_informative_examples_the_interval_of_a_share_covers(n: int, least: float, most: float) -> None:
    """Summed over all counts, without simulation; below ten, it holds nearly any rate."""
    counts, shares = np.arange(n + 1)[:, None], np.linspace(0.5, 0.9995, 600)
    low, high = np.array([share_interval(int(count) / n, n) for count in counts.ravel()]).T[:, :, None]
    holds = (low - 1e-9 <= shares) & (shares <= high + 1e-9)
    coverage = (binom.pmf(counts, n, shares) * holds).sum(axis=0)
    variance = shares * (1 - shares)
    enough = np.minimum(n, 2 * n * variance / np.maximum(1 - 4 * variance, 1e-9)) >= FEWEST
    assert least < coverage[enough].min() < coverage[enough].max() < most
    assert coverage[~enough].max() > 0.98


def test_examples_that_stand_alone_have_wilson_s_interval_however_they_are_counted() -> None:
    """Twenty flags in twenty rows are twenty examples, and no clusters of which the variance has to be estimated."""
    flagged = [ExampleValue(float(i > 3), str(i), None, (Verdict(int(i > 3), 1),)) for i in range(20)]
    found = estimate_of(flagged, Metric("precision", statistics.precision))
    assert (found.low, found.high) == pytest.approx(share_interval(0.8, 20))


# ---- ties


def terms(values: list[int]) -> tuple[Terms, Terms]:
    ones = np.ones((len(values), 1))
    steps = np.array(values, dtype=float)[:, None]
    return Terms(np.zeros_like(steps) + 2, ones), Terms(2 + steps, ones)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=2, max_size=9))
def test_ties_of_swaps_count_half_and_the_observed_whole(steps: list[int]) -> None:
    p = randomisation(*terms(steps))
    values = np.array([step for step in steps if step], dtype=float)
    if len(values) < 2:
        assert p == 1
        return
    expected = permutation_test((values,), np.sum, permutation_type="samples", n_resamples=np.inf)
    null = np.abs(expected.null_distribution)
    observed = abs(values.sum())
    larger, equal = (null > observed + 1e-9).mean(), (np.abs(null - observed) <= 1e-9).mean()
    assert p == pytest.approx(min(1.0, larger + equal / 2 + 1 / len(null)))
    assert larger < p <= min(1.0, expected.pvalue + 1 / len(null)) + 1e-12


def test_a_clustered_test_of_few_rows_keeps_its_rate() -> None:
    """Sums of 30 rows of two tie often: counted whole, ties left 2.9 % of 5."""
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(1500):
        chance = rng.beta(2, 1, 30)
        steps = rng.binomial(2, chance) - rng.binomial(2, chance)
        rejected += randomisation(*terms(steps.tolist()), 999, int(rng.integers(2**31))) < 0.05
    assert 0.03 < rejected / 1500 < 0.06


# ---- many comparisons


def independent(runs: int, seed: int = 0) -> Block:
    influence = np.linalg.qr(np.random.default_rng(seed).normal(size=(200, runs)))[0]
    return Block(influence, *np.triu_indices(runs, 1))


@pytest.mark.parametrize("runs", [3, 8])
def test_all_pairs_of_runs_are_corrected_as_by_tukey(runs: int) -> None:
    family = family_of([independent(runs)])
    assert family.comparisons == runs * (runs - 1) // 2
    for p in (0.05, 0.01, 0.002):
        z = float(norm.isf(p / 2))
        expected = float(studentized_range.sf(z * math.sqrt(2), runs, np.inf))
        assert family.adjusted(p) == pytest.approx(expected, abs=0.006)


def test_a_filter_that_reads_the_same_costs_nothing_and_another_task_what_it_should() -> None:
    block = independent(4)
    twice = Block(
        np.hstack([block.influence, block.influence]),
        np.concatenate([block.first, block.first + 4]),
        np.concatenate([block.second, block.second + 4]),
    )
    once = family_of([block])
    assert family_of([twice]).adjusted(0.01) == pytest.approx(once.adjusted(0.01), abs=0.006)
    alone = Block(independent(2).influence, np.array([0]), np.array([1]))
    assert family_of([alone]).adjusted(0.03) == pytest.approx(0.03, abs=0.004)
    assert family_of([alone] * 5).adjusted(0.03) == pytest.approx(1 - 0.97**5, abs=0.008)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_corrected_p_value_is_never_below_the_plain_one_nor_above_bonferroni_s(p: float, q: float) -> None:
    family = Family(3, np.sort(np.abs(np.random.default_rng(0).normal(size=500)) + 0.5))
    assert p <= family.adjusted(p) <= min(1.0, max(p, 3 * p))
    assert (family.adjusted(p) - family.adjusted(q)) * (p - q) >= 0


def test_nothing_to_compare_is_an_empty_family() -> None:
    family = family_of([])
    assert (family.comparisons, family.adjusted(0.5)) == (0, 0.5)


def test_runs_without_any_difference_make_no_pair_sure() -> None:
    same = np.tile(np.random.default_rng(0).normal(size=(50, 1)), 3)
    family = family_of([Block(same, *np.triu_indices(3, 1))])
    assert family.adjusted(1.0) == 1.0 and family.largest.max() == 0
