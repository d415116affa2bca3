"""p-values and intervals are the libraries', hold their rates in simulation, and find what is there."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm, permutation_test

from medtasks_utils import statistics
from medtasks_utils.compare.inference import (
    Contrast,
    benjamini_hochberg,
    bonett_price,
    contrast,
    holm,
    mcnemar,
)
from medtasks_utils.compare.terms import Item
from medtasks_utils.statistics import ExampleValue, Verdict

counts = st.integers(0, 60)


def compared(first: list[Item], second: list[Item], aggregation: object = statistics.mean, **more: int) -> Contrast:
    found = contrast(first, second, aggregation, **more)  # type: ignore[arg-type]
    assert found is not None
    return found


def p_of(found: Contrast) -> float:
    assert found.p is not None
    return found.p


def binary(values: list[int]) -> list[Item]:
    return [ExampleValue(value) for value in values]


def paired_binary(both: int, lost: int, gained: int, neither: int) -> tuple[list[Item], list[Item]]:
    first = [1] * both + [1] * lost + [0] * gained + [0] * neither
    second = [1] * both + [0] * lost + [1] * gained + [0] * neither
    return binary(first), binary(second)


# ---- right or wrong


@given(both=counts, lost=counts, gained=counts, neither=counts)
def test_mcnemar_is_statsmodels(both: int, lost: int, gained: int, neither: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    expected = tables.mcnemar([[both, lost], [gained, neither]], exact=True).pvalue if lost + gained else 1.0
    assert mcnemar(lost, gained) == pytest.approx(expected, abs=1e-12)
    if both + lost + gained + neither:
        found = compared(*paired_binary(both, lost, gained, neither))
        assert found.test == "mcnemar" and found.p == pytest.approx(expected, abs=1e-12)
        n = both + lost + gained + neither
        assert (found.n, found.clusters) == (n, n)
        assert found.difference == pytest.approx((gained - lost) / n)
        assert found.low is not None and found.high is not None and found.low <= found.high


@given(both=counts, lost=counts, gained=counts, neither=counts)
def test_swapping_the_runs_swaps_the_sign(both: int, lost: int, gained: int, neither: int) -> None:
    if both + lost + gained + neither:
        first, second = paired_binary(both, lost, gained, neither)
        there, back = compared(first, second), compared(second, first)
        assert there.difference == -back.difference and there.p == back.p
        assert there.low == pytest.approx(-(back.high or 0.0)) and there.high == pytest.approx(-(back.low or 0.0))


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_the_interval_of_paired_shares_covers(n: int) -> None:
    """Bonett and Price's interval holds the true difference in some 95 % of 4,000 draws, small groups included."""
    rng = np.random.default_rng(n)
    draws = rng.multinomial(n, [0.6, 0.07, 0.13, 0.2], size=4000)
    covered = sum(low <= 0.06 <= high for low, high in (bonett_price(row[1], row[2], n) for row in draws))
    assert 0.94 <= covered / 4000 <= 0.985


def test_nothing_differs() -> None:
    values = binary([1, 0, 1, 1])
    found = compared(values, values)
    assert (found.difference, found.p) == (0, 1)
    assert found.low is not None and found.low < 0 < (found.high or 0), "four equal answers are not certainty"


# ---- randomisation


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_few_clusters_are_randomised_exactly_as_by_scipy(clusters: int, seed: int) -> None:
    first, second = np.random.default_rng(seed).uniform(1, 100, (2, clusters))  # no two sums tie
    found = compared([ExampleValue(x) for x in first], [ExampleValue(x) for x in second])
    expected = permutation_test((second - first,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.test == "randomisation"
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)


@pytest.mark.slow
def test_many_clusters_are_randomised_as_by_scipy() -> None:
    rng = np.random.default_rng(5)
    first = rng.normal(60, 20, 300)
    second = first + rng.normal(1.5, 12, 300)
    found = compared([ExampleValue(x) for x in first], [ExampleValue(x) for x in second])
    expected = permutation_test((second - first,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    assert found.p == pytest.approx(expected.pvalue, abs=0.01)
    assert 0.005 < p_of(found) < 0.2


def test_the_seed_alone_decides() -> None:
    rng = random.Random(0)
    first: list[Item] = [ExampleValue(rng.random()) for _ in range(80)]
    second: list[Item] = [ExampleValue(rng.random()) for _ in range(80)]
    assert compared(first, second, seed=1) == compared(first, second, seed=1)
    assert compared(first, second, seed=1).p != compared(first, second, seed=2).p


# ---- clusters, F1, macro averages


def judged(rows: int, rng: random.Random, better: float = 0.0, hit: float = 0.75) -> tuple[list[Item], list[Item]]:
    """Verdicts of two models on two examples a row, dependent within rows; the second hits more by ``better``."""
    runs: tuple[list[Item], list[Item]] = ([], [])
    for row in range(rows):
        shared = rng.random()
        for target in (0, 1):
            for run, items in enumerate(runs):
                own = rng.random()
                luck = shared if own < 0.3 else rng.random()
                flagged = luck < (hit + (better if run else 0) if target else 1 - hit)
                verdict = None if rng.random() < 0.1 else Verdict(target, int(flagged))
                right = float(verdict is not None and verdict.target == verdict.predicted)
                items.append(ExampleValue(right, str(row), None, (verdict,)))
    return runs


@pytest.mark.parametrize("aggregation", [statistics.mean, statistics.f1, statistics.precision, statistics.macro_mean])
def test_values_and_standard_errors_are_those_of_the_runs(aggregation: statistics.Mean) -> None:
    """Against a run that is constant, the difference has the other run's own standard error."""
    first, second = judged(200, random.Random(1))
    found = compared(first, second, aggregation)
    assert found.a == pytest.approx(aggregation([item for item in first if item is not None]))
    assert found.b == pytest.approx(aggregation([item for item in second if item is not None]))
    assert (found.n, found.clusters) == (400, 200)
    perfect: list[Item] = [
        ExampleValue(1.0, item.cluster, None, (Verdict(index % 2, index % 2),))
        for index, item in enumerate(first)
        if item is not None
    ]
    against = compared(perfect, second, aggregation)
    error = aggregation.stderr([item for item in second if item is not None])
    assert against.a == 1 and against.stderr == pytest.approx(error, rel=1e-3)  # rows that it left undecided count here


@pytest.mark.parametrize("aggregation", [statistics.mean, statistics.f1])
def test_the_standard_error_is_the_paired_cluster_bootstrap_s(aggregation: statistics.Mean) -> None:
    first, second = judged(150, random.Random(2))
    found = compared(first, second, aggregation)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, 150, 150)
        a, b = ([items[2 * row + i] for row in rows for i in (0, 1)] for items in (first, second))
        drawn.append(float(aggregation(b)) - float(aggregation(a)))
    assert found.stderr == pytest.approx(np.std(drawn), rel=0.12)


def test_a_mean_of_independent_scores_has_the_paired_standard_error() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(50, 10, 90), rng.normal(52, 10, 90)
    found = compared([ExampleValue(x) for x in first], [ExampleValue(x) for x in second])
    assert found.stderr == pytest.approx(np.std(second - first, ddof=1) / math.sqrt(90))


def test_a_macro_average_weighs_strata_equally() -> None:
    sizes = {"large": 300, "small": 20}
    first: list[Item] = [ExampleValue(0.0, None, name) for name, size in sizes.items() for _ in range(size)]
    second: list[Item] = [
        ExampleValue(float(name == "small" and index < 10), None, name)
        for name, size in sizes.items()
        for index in range(size)
    ]
    assert compared(first, second, statistics.macro_mean).difference == pytest.approx(0.25)
    assert compared(first, second).difference == pytest.approx(10 / 320)


def test_generations_of_different_number_are_compared_by_their_standard_error() -> None:
    first, second = judged(60, random.Random(4))
    twice: list[Item] = [
        None if item is None else ExampleValue(item, item.cluster, None, item.verdicts * 2) for item in second
    ]
    once, repeated = compared(first, second, statistics.f1), compared(first, twice, statistics.f1)
    assert (once.test, repeated.test) == ("randomisation", "t")
    assert repeated.difference == pytest.approx(once.difference) and repeated.stderr == pytest.approx(once.stderr)
    assert repeated.p == pytest.approx(once.p, abs=0.05)


def test_a_run_that_decides_nothing_has_an_f1_of_0_and_no_p_value() -> None:
    first, _ = judged(20, random.Random(5))
    found = compared(first, [None] * 40, statistics.f1)
    assert (found.b, found.test, found.p, found.low) == (0, "randomisation", None, None)
    assert found.note == "too few to test: B decides none of 20 that count here"


def test_where_a_metric_applies_to_nothing_there_is_no_contrast() -> None:
    nothing: list[Item] = [None] * 3
    assert contrast(nothing, nothing, statistics.f1) is None
    assert contrast(binary([1, 0, 1]), nothing, statistics.mean) is None
    assert contrast([], [], statistics.mean) is None
    first: list[Item] = [ExampleValue(1.0, None, "one"), ExampleValue(1.0, None, "two")]
    assert contrast(first, [first[0], None], statistics.macro_mean) is None


# ---- rates


def power_of_mcnemar(n: int, lost: float, gained: float) -> float:
    """Asymptotic power of the two-sided test at 5 % (Connor, *Biometrics* 1987)."""
    discordant, difference = lost + gained, gained - lost
    critical = float(norm.ppf(0.975)) * math.sqrt(discordant)
    return float(norm.cdf((difference * math.sqrt(n) - critical) / math.sqrt(discordant - difference**2)))


def test_a_planted_difference_of_three_points_is_found() -> None:
    """On 2,000 pairs of which 13 % are discordant, 3 points are found in 96 % of runs, as theory says."""
    n, lost, gained, repetitions = 2000, 0.05, 0.08, 1000
    expected = power_of_mcnemar(n, lost, gained)
    assert expected == pytest.approx(0.961, abs=0.001)
    draws = np.random.default_rng(11).multinomial(n, [0.65, lost, gained, 0.22], size=repetitions)
    power = sum(mcnemar(int(row[1]), int(row[2])) < 0.05 for row in draws) / repetitions
    assert power == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / repetitions))
    intervals = [bonett_price(int(row[1]), int(row[2]), n) for row in draws]
    assert sum(low <= 0.03 <= high for low, high in intervals) / repetitions == pytest.approx(0.95, abs=0.021)


def test_equal_models_are_called_equal() -> None:
    """Of 1,000 pairs of equal models on 2,000 examples, at most 5 % are called different (and chance: 3 errors)."""
    rng = np.random.default_rng(12)
    draws = rng.multinomial(2000, [0.65, 0.065, 0.065, 0.22], size=1000)
    alarms = sum(mcnemar(int(row[1]), int(row[2])) < 0.05 for row in draws) / 1000
    assert 0.02 <= alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


def test_equal_models_are_called_equal_where_examples_share_a_question() -> None:
    """The same for F1 and clustered accuracy by randomisation; without clusters, McNemar would cry wolf more often."""
    repetitions = 200
    alarms = {"f1": 0, "acc": 0}
    for draw in range(repetitions):
        first, second = judged(100, random.Random(1000 + draw))
        alarms["f1"] += p_of(compared(first, second, statistics.f1, resamples=999)) < 0.05
        alarms["acc"] += p_of(compared(first, second, resamples=999)) < 0.05
    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / repetitions)
    assert all(0.005 <= count / repetitions <= limit for count in alarms.values()), alarms


def test_a_planted_difference_of_f1_is_found() -> None:
    """Against a difference of three standard errors, a test at 5 % has a power of 85 %."""
    repetitions = 100
    found = []
    for draw in range(repetitions):
        first, second = judged(300, random.Random(5000 + draw), better=0.105)
        found.append(compared(first, second, statistics.f1, resamples=999))
    ratio = float(np.mean([result.difference for result in found]) / np.mean([result.stderr or 0 for result in found]))
    expected = float(norm.cdf(ratio - norm.ppf(0.975)))
    assert 0.7 < expected < 0.98
    power = sum(p_of(result) < 0.05 for result in found) / repetitions
    assert power == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / repetitions))


# ---- many comparisons


@pytest.mark.slow  # most of it is the library's import
@settings(max_examples=15)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_are_the_libraries(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(list(false_discovery_control(p_values)))
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    assert holm(p_values) == pytest.approx(list(multitest.multipletests(p_values, method="holm")[1]))


def test_no_comparisons_need_no_correction() -> None:
    assert holm([]) == [] and benjamini_hochberg([]) == []


@pytest.mark.slow
def test_holm_keeps_the_rate_of_any_false_alarm() -> None:
    """Of 300 families of eight comparisons of equal models, at most 5 % hold a significant one."""
    rng = np.random.default_rng(13)
    families = rng.multinomial(500, [0.6, 0.08, 0.08, 0.24], size=(300, 8))
    alarms = sum(min(holm([mcnemar(int(row[1]), int(row[2])) for row in family])) < 0.05 for family in families)
    uncorrected = sum(min(mcnemar(int(row[1]), int(row[2])) for row in family) < 0.05 for family in families)
    assert alarms / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300) < uncorrected / 300
