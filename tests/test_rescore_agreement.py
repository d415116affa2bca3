"""Krippendorff's alpha against the package of that name, against published values, and at its edges."""

from __future__ import annotations

import math
import random
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medtasks_utils.rescore import agree

ratings_of_an_example = st.lists(st.integers(0, 20).map(lambda tick: tick * 5.0), max_size=4)


def by_the_package(ratings: list[list[float]]) -> float:
    """Alpha by the package, which takes raters × examples with NaN where a rating is missing."""
    width = max(map(len, ratings))
    data = np.array([values + [math.nan] * (width - len(values)) for values in ratings]).T
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="interval"))


@given(st.lists(ratings_of_an_example, min_size=2, max_size=12))
def test_alpha_is_the_packages(ratings: list[list[float]]) -> None:
    twice = [values for values in ratings if len(values) > 1]
    assume(len(twice) > 1 and len({value for values in twice for value in values}) > 1)
    agreement = agree(ratings)
    assert agreement.examples == len(twice)
    assert agreement.alpha == pytest.approx(by_the_package(ratings), abs=1e-9)


def test_alpha_is_the_published_value() -> None:
    """The example of Krippendorff's "Computing Krippendorff's alpha-reliability" (2011), four observers."""
    nan = math.nan
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    units = [[value for value in unit if not math.isnan(value)] for unit in zip(*observers, strict=True)]
    assert agree(units).alpha == pytest.approx(0.849, abs=5e-4)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=20),
    st.floats(-50, 50),
    st.floats(0.5, 2),
)
def test_alpha_depends_on_no_unit(pairs: list[tuple[float, float]], shift: float, scale: float) -> None:
    everything = [value for pair in pairs for value in pair]
    assume(max(everything) - min(everything) > 1)
    moved = [[shift + scale * value for value in pair] for pair in pairs]
    first, second = agree(pairs), agree(moved)
    assert first.alpha is not None and second.alpha is not None
    assert first.alpha == pytest.approx(second.alpha, abs=1e-6)


def test_perfect_agreement_is_one_and_chance_is_about_zero() -> None:
    draw = random.Random(1)
    same = [[value, value] for value in (draw.uniform(0, 100) for _ in range(50))]
    perfect = agree(same)
    assert (perfect.alpha, perfect.low, perfect.high) == pytest.approx((1, 1, 1))
    unrelated = agree([[draw.uniform(0, 100), draw.uniform(0, 100)] for _ in range(2000)])
    assert unrelated.alpha == pytest.approx(0, abs=0.08)


def test_a_judge_that_is_always_milder_does_not_agree_fully() -> None:
    assert (agree([[value, value + 20.0] for value in range(50)]).alpha or 1) < 0.7


def test_the_interval_covers_the_value_that_it_is_about() -> None:
    """Ratings with a known share of noise: 19 of 20 intervals should hold the true alpha; no fewer than 15 must."""
    true_variance, noise = 100.0, 25.0
    expected = true_variance / (true_variance + noise)
    covered = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        quality = draw.normal(60, true_variance**0.5, 200)
        agreement = agree([[value + error for error in draw.normal(0, noise**0.5, 3)] for value in quality])
        assert agreement.low is not None and agreement.high is not None and agreement.alpha is not None
        assert agreement.low <= agreement.alpha <= agreement.high
        covered += agreement.low <= expected <= agreement.high
    assert covered >= 15


def test_the_interval_is_the_same_every_time_and_wider_where_examples_are_not_independent() -> None:
    draw = random.Random(2)
    ratings, clusters = [], []
    for cluster in range(20):
        gap = draw.uniform(0, 40)
        for _ in range(10):
            value = draw.uniform(0, 100)
            ratings.append([value, value + gap])
            clusters.append(cluster)
    alone, together = agree(ratings), agree(ratings, clusters)
    assert alone == agree(ratings) and together == agree(ratings, clusters)
    assert alone.alpha == together.alpha
    assert None not in (alone.low, alone.high, together.low, together.high)
    assert (together.high or 0) - (together.low or 0) > (alone.high or 0) - (alone.low or 0)


@pytest.mark.parametrize(
    ("ratings", "examples", "note"),
    [
        ([], 0, "fewer than 2"),
        ([[50.0]], 0, "fewer than 2"),
        ([[50.0], [60.0], [70.0]], 0, "fewer than 2"),
        ([[50.0, 60.0]], 1, "fewer than 2"),
        ([[50.0, 60.0], [70.0]], 1, "fewer than 2"),
        ([[50.0, 50.0], [50.0, 50.0]], 2, "the same"),
        ([[0.1 + 0.2] * 3, [0.1 + 0.2] * 2], 2, "the same"),
    ],
)
def test_where_alpha_is_undefined_it_is_none_and_says_why(ratings: list[list[float]], examples: int, note: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement = agree(ratings)
    assert (agreement.alpha, agreement.low, agreement.high, agreement.examples) == (None, None, None, examples)
    assert note in agreement.note


def test_one_cluster_has_an_alpha_but_no_interval() -> None:
    agreement = agree([[1.0, 2.0], [5.0, 5.0]], ["question", "question"])
    assert agreement.alpha is not None
    assert (agreement.low, agreement.high) == (None, None)


@given(st.lists(ratings_of_an_example, max_size=6))
def test_no_ratings_make_nan_or_a_warning(ratings: list[list[float]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement = agree(ratings)
    for value in (agreement.alpha, agreement.low, agreement.high):
        assert value is None or math.isfinite(value)
    assert (agreement.alpha is None) == bool(agreement.note)


def test_thousands_of_examples_on_a_continuous_scale_need_little_memory() -> None:
    draw = np.random.default_rng(0)
    quality = draw.normal(60, 15, 5000)
    agreement = agree([[value, value + draw.normal(0, 5)] for value in quality])
    assert agreement.alpha == pytest.approx(225 / 237.5, abs=0.02)
