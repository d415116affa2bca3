"""The one statistic against libraries, closed forms and simulation, and what is made of it: intervals, tests, plans."""

import math
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
import scipy
from given import each_row, table
from hypothesis import assume, given
from hypothesis import strategies as st
from places import as_its_row_says

from medtasks_utils.compare.contrast import contrast
from medtasks_utils.statistics.aggregation import BY_STRATUM, F1, MACRO, MEAN
from medtasks_utils.statistics.best_set import best_set, may_be_best
from medtasks_utils.statistics.intervals import confidence_interval, estimate, ratio_interval, share_interval
from medtasks_utils.statistics.metrics import ACC, Metric
from medtasks_utils.statistics.planning import Sensitivity, repeats_needed
from medtasks_utils.statistics.ratio import holm, informative_clusters
from medtasks_utils.statistics.score_arrays import MetricScores, concatenate, integer_codes
from medtasks_utils.statistics.scores import JudgedScore

POINTS = Metric("m", unit="points")
MEAN_OF, F1_OF, MACRO_OF = (Metric("m", each) for each in (MEAN, F1, MACRO))
approx = pytest.approx


def scores(rows, clusters=None, strata=None):
    """Of rows of scores, of plain ones, or of a text: examples with a digit per generation."""
    if isinstance(rows, str):
        rows = [[*map(float, example)] for example in rows.split()]
    rows = [row if isinstance(row, list) else [row] for row in rows]
    names, of_one = clusters or [None] * len(rows), [""] * len(rows)
    return MetricScores.of(rows, integer_codes(names), integer_codes(strata or of_one))


def pairs(target, given):
    """F1's numerators and denominators; None where nothing is decided."""
    return [None if g is None else (2.0 * (t and g), float(t + g)) for t, g in zip(target, given, strict=True)]


test_a_function_of_the_statistics_returns_what_its_row_says = as_its_row_says("functions_of_statistics")


# ---- the statistic


@given(st.integers(0, 2**32 - 1))
def test_values_are_those_of_libraries_and_standard_errors_those_of_the_sandwich(seed):
    """Of clusters, ``√(G / (G − 1) Σ (Σ residuals of a cluster)²) / n``."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    clusters = rng.integers(0, max(2, n // 2), n)
    names = set(clusters.tolist())
    assume(len(names) > 1)
    values = rng.random(n).round(2)
    found = MEAN.ratio(scores(values, clusters.tolist()))
    sums = [(values - values.mean())[clusters == name].sum() for name in names]
    stderr = math.sqrt(len(names) / (len(names) - 1) * np.square(sums).sum()) / n
    expected = values.mean(), stderr, 0
    assert (found.value, found.stderr, found.influence.sum()) == approx(expected, rel=1e-9, abs=1e-12)
    order = rng.permutation(n)
    again = MEAN.ratio(scores(values[order], clusters[order].tolist()))
    assert (again.value, again.stderr) == (found.value, found.stderr), "in any order, to the last digit"
    target, given_ = rng.integers(0, 2, n), rng.integers(0, 2, n)
    from sklearn.metrics import f1_score  # slow to import

    assert F1.value(scores(pairs(target, given_))) == approx(f1_score(target, given_, zero_division=0), abs=1e-12)


def test_macro_averages_are_means_of_means():
    own = scores("1 0 1 1 1 0", strata="aaaabb")
    tasks = concatenate([own[:4], own[4:]], tasks_are_strata=True)
    stderr = math.hypot(*(MEAN.ratio(part).stderr or 0 for part in (own[:4], own[4:]))) / 2
    for ratio in (MACRO.ratio(own), MACRO.ratio(tasks), BY_STRATUM.ratio(own, over_strata=True)):
        assert (ratio.value, ratio.stderr) == approx(((0.75 + 0.5) / 2, stderr))


def test_failed_judgements_are_filled_by_the_mean_over_the_right_answers():
    """Accuracy × mean over the judged right answers, and that product's standard error by the delta method."""
    rng = np.random.default_rng(2)
    right = rng.random(400) < 0.7
    value = np.where(right, rng.uniform(20, 100, 400), 0)
    failed = right & (rng.random(400) < 0.3)
    judged = value[right & ~failed]
    found = scores(list(map(JudgedScore, right.tolist(), np.where(failed, np.nan, value).tolist())))
    ratio = MEAN.ratio(found)
    assert ratio.value == approx(right.mean() * judged.mean())
    p, m = right.mean(), judged.mean()
    variance = m**2 * p * (1 - p) / 400 + p**2 * judged.var(ddof=1) / len(judged)
    assert ratio.stderr == approx(math.sqrt(variance), rel=0.02)
    assert found.failed.sum() == failed.sum()


def test_informative_clusters_are_those_that_differ():
    """Of 100 of which a share p are right, 2·100·p(1 − p) / (1 − 4p(1 − p)), but not more than 100."""
    for right, expected in ((100, 0), (50, 100), (95, 2 * 100 * 0.95 * 0.05 / (1 - 4 * 0.95 * 0.05))):
        assert MEAN.ratio(scores(np.arange(100) < right)).informative_clusters == approx(expected)
    assert informative_clusters(np.random.default_rng(1).standard_normal(10_000)) == approx(10_000, rel=0.1)
    decided, nothing = pairs([1] * 20, [1, 1, 1, 0] * 5), (0.0, 0.0)
    more, fewer = (F1.ratio(scores(rows)).informative_clusters for rows in ([*decided, *[nothing] * 50], decided))
    assert more == approx(fewer), "what decides nothing is none"


# ---- intervals


def test_intervals_are_wilson_s_but_for_the_outer_end_of_three_or_fewer():
    """Scipy's; of a Poisson count of up to three, the 5 % quantile of the mean replaces an end that is less far out."""
    for hits, n in table("hits"):
        low, high = scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")
        assert share_interval(hits / n, n) == approx((low, high))
        assert share_interval(1 - hits / n, n) == approx((1 - high, 1 - low))
    for hits in (1, 2, 3):
        low, high = share_interval(hits / 100, 100)
        assert low == approx(scipy.stats.chi2.ppf(0.05, 2 * hits) / 2 / 100)
        assert high == approx(scipy.stats.binomtest(hits, 100).proportion_ci(method="wilson").high)
    assert share_interval(0.0, 20).low == 0.0 and share_interval(1.0, 20).high == 1.0


def test_the_interval_of_f1_is_that_of_a_share_whose_error_has_the_derivative():
    for value in (0.1, 0.5, 0.9):
        (share, error), (above, _), (below, _) = (F1.to_share(value + step, 0.1) for step in (0, 1e-6, -1e-6))
        assert error == approx(0.1 * (above - below) / 2e-6, rel=1e-6) and F1.from_share(share) == approx(value)


@given(st.integers(1, 500), st.integers(0, 10**6), st.sampled_from([MEAN_OF, F1_OF, POINTS, MACRO_OF]))
def test_no_interval_leaves_its_range_or_is_without_width(n, millionths, metric):
    share = millionths / 10**6
    top = metric.range[1] or 1
    for error in (None, 0.0, 1e-9, 0.01 * top, 0.3 * top):
        found: Any = confidence_interval(metric, share * top, error, n, n)
        assert -1e-9 <= found.low <= share * top + 1e-9 and share * top - 1e-9 <= found.high <= top + 1e-9
        assert found.low < found.high


def test_numbers_have_the_interval_of_their_mean_unless_all_are_shares():
    values, rewards = [1.0, 2.0, 3.0, 4.0] * 5, [0.0, 1.0, 1.0, 0.5] * 5
    number, count, share = (Metric("m", unit=unit) for unit in ("number", "count", "share"))
    expected = scipy.stats.t.interval(0.95, 19, 2.5, scipy.stats.sem(values))
    assert estimate(scores(values), number).interval == approx(expected)
    assert estimate(scores(values), count).interval == approx(expected)
    of_shares = estimate(scores(rewards), share)
    assert estimate(scores(rewards), number) == of_shares != estimate(scores([-1.0, *rewards]), number)


def test_the_interval_of_a_mean_over_strata_is_the_wider_of_its_own_and_that_of_its_parts():
    """At the low end its own, at the high end that of its parts; with wrong for right, the other way round."""
    ratio, mirrored = (
        MACRO.ratio(scores([of_a] * 20 + [1.0, 0.0] * 10, strata="a" * 20 + "b" * 20)) for of_a in (1.0, 0.0)
    )
    alone: Any = confidence_interval(MACRO_OF, 0.75, ratio.stderr, 40, 40)
    low, high = ratio_interval(ratio, MACRO_OF) or alone
    of_a, of_b = share_interval(1, 20), share_interval(0.5, 20)
    assert alone.low == low < 0.75 - math.hypot(1 - of_a.low, 0.5 - of_b.low) / 2
    assert high == approx(0.75 + (of_b.high - 0.5) / 2) and high > alone.high
    assert ratio_interval(mirrored, MACRO_OF) == approx((1 - high, 1 - low))


# ---- two runs


@given(st.integers(0, 2**32 - 1))
def test_interval_and_p_value_never_disagree(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 80))
    clusters = rng.integers(0, n, n).tolist()
    for metric, first, second in (
        (POINTS, rng.random(n) * 100, rng.random(n) * 100 + rng.normal() * 9),
        (ACC, *rng.integers(0, 2, (2, n)) * 1.0),
        (F1_OF, pairs(*rng.integers(0, 2, (2, n))), pairs(*rng.integers(0, 2, (2, n)))),
    ):
        found: Any = contrast(scores(first, clusters), scores(second, clusters), metric)
        if found.test == "t" and found.interval:
            low, high = found.interval
            assert (found.p < 0.05) == (not low <= 0 <= high) or abs(found.p - 0.05) < 1e-9


def test_the_t_test_is_the_paired_one_of_the_textbook():
    a, b = np.random.default_rng(5).uniform(0, 100, (2, 40))
    found: Any = contrast(scores(a), scores(b), POINTS)
    expected = scipy.stats.ttest_rel(b, a)
    assert (found.p, *found.interval) == approx((expected.pvalue, *expected.confidence_interval()))


@each_row("lost_and_gained")
def test_accuracy_has_mcnemar_s_test_and_bonett_and_price_s_interval(name, lost, gained):
    n = lost + gained + 20
    a, b = scores("1 " * lost + "0 " * gained + "1 " * 20), scores("0 " * lost + "1 " * (gained + 20))
    found: Any = contrast(a, b, ACC)
    assert found.test == "mcnemar"
    assert found.p == approx(scipy.stats.binomtest(lost, lost + gained).pvalue if lost + gained else 1)
    up, down = ((changed + 1) / (n + 2) for changed in (gained, lost))
    reach = scipy.stats.norm.ppf(0.975) * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    assert found.interval == approx((up - down - reach, up - down + reach))
    assert (found.b - found.a, found.difference) == approx([(gained - lost) / n] * 2)


# ---- many comparisons


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_corrected_p_value_rejects_every_set_of_hypotheses_with_its_own(p_values):
    """Holm's method as the closed test of Bonferroni: the largest ``size × smallest p`` of these sets, at most 1."""
    places = range(len(p_values))
    of_size = chain.from_iterable(combinations(places, size + 1) for size in places)
    bonferroni = {members: len(members) * min(p_values[place] for place in members) for members in of_size}
    corrected = [max(value for members, value in bonferroni.items() if place in members) for place in places]
    assert holm(p_values) == approx(np.minimum(corrected, 1))


def test_the_set_of_the_best_has_all_that_are_not_shown_to_be_worse():
    rng = np.random.default_rng(1)
    base = rng.random(2000)
    shares = (0.3, 0.7, 0.701, 0.72)  # the last is sure only since all that it gains is gained
    runs = [MEAN.ratio(scores((base < share) * 1.0)) for share in shares]
    assert best_set([runs]) == [False, False, False, True]
    assert best_set([runs], ascending=True) == [True, False, False, False]
    assert best_set([runs[:3]]) == [False, True, True] == best_set([runs[:3]] * 2)
    assert best_set([[runs[0]] * 3]) == [True] * 3


def test_the_set_of_the_best_is_of_means_over_benchmarks_as_sure_as_the_least_informative_of_them(monkeypatch):
    monkeypatch.setattr("medtasks_utils.statistics.best_set.may_be_best", lambda *given: given)
    few, many = (MEAN.ratio(scores(rows)) for rows in ("10 00 " * 10, "1 1 0 " * 20))
    best: Any = best_set
    for ratios in ([few], [many]), ([many], [few]):
        values, influence, one_more, freedom = best(ratios, ascending=True)
        assert (values, freedom) == (-(1 / 4 + 2 / 3) / 2, 19)
        assert one_more == approx((1 / 20**2 + 1 / 60**2) / 4), "an example has all of its generations"
        assert np.square(influence).sum() == approx(((few.stderr or 0) ** 2 + (many.stderr or 0) ** 2) / 4)


@pytest.mark.parametrize("freedom", [3, 10**6])
def test_of_two_runs_the_set_of_the_best_is_a_one_sided_test_at_5_per_cent(freedom):
    """With a standard error of 1; one example more adds to it."""
    limit, influence = scipy.stats.t.ppf(0.95, freedom), np.eye(2) / 2**0.5
    for difference, one_more, stays in ((0.93, 0, True), (1.07, 0, False), (1.07, 0.125, True), (1.2, 0.125, False)):
        values = np.array([0, limit * difference])
        assert may_be_best(values, influence, np.full(2, one_more), freedom) == [stays, True]


@pytest.mark.parametrize(("n", "k", "tied"), [(100, 12, 4), (20, 6, 3)])
def test_the_best_is_in_the_set_of_the_best_in_95_of_100(n, k, tied, monkeypatch):
    monkeypatch.setattr("medtasks_utils.statistics.best_set._DRAWS", 1000)
    rng, left_out = np.random.default_rng(n + tied), 0
    for _ in range(100):
        ability = np.r_[np.full(tied, 1.8), rng.uniform(-0.5, 1.7, k - tied)]
        chance = 1 / (1 + np.exp(-ability[:, None] - rng.normal(0, 1.5, n)))
        answers = rng.random(chance.shape) < chance
        values = answers.mean(axis=1)
        influence = (answers - values[:, None]).T / n * math.sqrt(n / (n - 1))
        left_out += not may_be_best(values, influence, np.full(k, 1 / n**2), n - 1)[0]
    assert left_out <= 5


# ---- plans


def test_a_plan_needs_as_many_examples_as_published_ones():
    """Half a standard deviation takes 34 pairs, as in G*Power.

    By Cohen's formula, the fewest pairs whose paired t test detects a difference; for McNemar's test by Connor's, with
    continuity correction: the root of ``difference = a / √n + 1 / n``. All of a larger difference are gained.
    """
    for n, difference, deviation, needed in table("needed_by_t"):
        found = Sensitivity(n, deviation / math.sqrt(n), deviation / math.sqrt(n), n - 1)
        assert found.examples_needed(difference) == needed
    for difference, discordance, needed in table("needed_by_mcnemar"):
        assert Sensitivity(50, 1.0, 1.0, 49, discordance).examples_needed(difference) == needed
        of_enough, of_one_less = (Sensitivity(n, 1.0, 1.0, 49, discordance).detectable for n in (needed, needed - 1))
        assert of_enough <= difference + 1e-9 < of_one_less


def test_the_example_that_the_test_adds_counts_in_a_plan():
    """With n examples it adds 1 / n to the error, beside a deviation of 0.5; degrees of freedom grow with n."""
    found = Sensitivity(40, 0.5 / math.sqrt(40), math.hypot(0.5 / math.sqrt(40), 1 / 40), 36)
    t_test, power = scipy.stats.t.ppf([0.975, 0.8], 36)
    assert found.detectable == approx(t_test * found.error + power * found.stderr, rel=1e-12)
    t_test, power = scipy.stats.t.ppf([0.975, 0.8], 36 * 90 / 40)
    at_90 = t_test * math.hypot(0.5 / math.sqrt(90), 1 / 90) + power * 0.5 / math.sqrt(90)
    assert [*map(found.examples_needed, (at_90, at_90 * 0.9999, 99))] == [90, 91, 1]
    for n in range(2, 60):
        same = Sensitivity(n, 0.5 / math.sqrt(n), 0.6 / math.sqrt(n), n - 1)
        assert same.examples_needed(same.detectable) == n, "what n detect takes n"


def test_repeats_divide_the_variance_within_alone():
    """Scores of clusters of two examples whose variances are worked out by hand, in runs of four and two repeats."""
    a, b = (scores(each, "xxyyzz") for each in ("1110 1000 1111 0000 1111 1110", "10 11 11 01 00 01"))
    within_a, within_b = 0.1875 / 3, 0.125  # of the means of two, each with ddof=1
    total = np.var([0.75 - 0.5, 0.75 - 0.5, 0.25 - 0.875], ddof=1)
    between = total - within_a / 4 - within_b / 2
    for repeats in (1, 2, 7):
        stderr = math.sqrt((between + (within_a + within_b) / repeats) / 3)
        assert [repeats_needed(a, b, stderr * more) for more in (1, 0.999)] == [repeats, repeats + 1]
    assert repeats_needed(a, b, 1e9) == 1 and repeats_needed(a, b, math.sqrt(between / 3)) is None
