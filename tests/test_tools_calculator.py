"""The calculator computes what Python would, refuses everything else, and cannot be kept busy."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medtasks_utils.tools.calculator import MAX_EXPRESSION, Calculator, CalculatorError, calculate, written

VALUES = [
    ("70 / 1.75 ** 2", 70 / 1.75**2),
    ("70 / 1.75^2", 70 / 1.75**2),
    ("-2^2", -4),
    ("2^3^2", 512),
    ("7.5 // 2", 3.0),
    ("math.sqrt(16) + np.log(1) + numpy.exp(0)", 5.0),
    ("round(2.567, ndigits=2)", 2.57),
    ("70 ÷ 1.75² × 2 − 1", 70 / 1.75**2 * 2 - 1),
    ("2 · π", 2 * math.pi),
    ("1 ** 10 ** 300", 1),
    ("2 ** 1000", 2**1000),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_a_value(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (1e14, "100000000000000"),
        (1e16, "1e+16"),
        (0.1 + 0.2, repr(0.1 + 0.2)),
    ],
)
def test_how_a_value_is_written(value: float, text: str) -> None:
    assert written(value) == text
    assert float(text) == value


REFUSED = [
    ("1 / 0", "division by zero"),
    ("sqrt(-1)", ""),
    ("(-8) ** (1 / 3)", "not a real number"),
    ("weight / 2", "'weight' is not defined"),
    ("2 +", "not an arithmetic expression"),
    ("5 mg", "not an arithmetic expression"),
    ("", "empty"),
    ("1,234.5 * 2", "a comma separates"),
    ("2(3)", "known are"),
    ("sqrt", ""),
    ("'a'", "not a number"),
    ("True + 1", "not a number"),
    ("2j", "not a number"),
    ("1 if 1 else 2", "not available"),
    ("1 < 2", "not available"),
    ("1 << 2", ""),
    ("[1] * 9", "not available"),
    ("(lambda: 1)()", ""),
    ("max(*[1, 2])", "not available"),
    ("pi.real", "not available"),
    ("().__class__.__base__", ""),
    ("__import__('os')", "not a number"),
    ("9**9**9", "too large"),
    ("2 ** 1025", "too large"),
    ("1e999", "not finite"),
    ("exp(1000)", "too large"),
    ("(10).to_bytes(999999999, 'big')", ""),
    ("'%999999999d' % 1", "not a number"),
    ("round(1, 1000000000)", "too large"),
    ("2 ** 1000 * 2 ** 1000", "too large"),
    ("(" * 400 + "1" + ")" * 400, ""),
    ("1" * (MAX_EXPRESSION + 1), "characters"),
    ("\ud800", ""),
]


@pytest.mark.parametrize(("expression", "why"), REFUSED)
def test_an_expression_without_a_value_says_why_in_a_line(expression: str, why: str) -> None:
    with pytest.raises(CalculatorError) as caught:
        calculate(expression)
    assert why in str(caught.value)
    assert str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


LARGE = st.sampled_from(
    ["9**9**9", "9**999", "2**2**2**2**2**2", "10**10**10", "99999**99999", "1e308*1e308", "7**7**7"]
)


@given(
    st.lists(
        st.one_of(LARGE, st.sampled_from(["+", "*", "**", "-", "(", ")", "%", "round(", "1", ",", "max("])), max_size=90
    )
)
def test_nothing_takes_long(parts: list[str]) -> None:
    started = time.process_time()
    (outcome,) = Calculator().run([("", "".join(parts))])
    assert time.process_time() - started < 2.0
    assert len(outcome.text) < 400


# ---- against Python itself

LEAVES = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(0, 1e6, allow_nan=False).map(repr),
    st.sampled_from(["pi", "e"]),
)
FUNCTIONS = ("abs", "sqrt", "sin", "cos", "tan", "exp", "log", "log10", "round", "min", "max")
UNARY = st.sampled_from(["-{}", "+{}", "({})", "round({}, 2)", *(name + "({})" for name in FUNCTIONS)])
BINARY = st.sampled_from(["({} + {})", "({} - {})", "{} * {}", "({} / {})", "({} % {})", "min({}, {})", "max({}, {})"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(UNARY, inner).map(lambda p: p[0].format(p[1])),
        st.tuples(BINARY, inner, inner).map(lambda p: p[0].format(*p[1:])),
    ),
    max_leaves=12,
)
PYTHON = {
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "log10", "pi", "e")},
    "abs": abs,
    "round": round,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "__builtins__": {},
}


def fits(value: float) -> bool:
    return value.bit_length() <= 1024 if isinstance(value, int) else math.isfinite(value)


@given(EXPRESSIONS)
def test_it_computes_what_python_computes(expression: str) -> None:
    assume(len(expression) <= MAX_EXPRESSION)
    try:
        expected = eval(expression, dict(PYTHON))
    except (ArithmeticError, ValueError, TypeError):
        expected = math.inf
    if not fits(expected):
        with pytest.raises(CalculatorError):
            calculate(expression)
        return
    found = calculate(expression)
    assert (found, type(found), float(written(found))) == (expected, type(expected), float(expected))


def test_a_batch_keeps_its_order() -> None:
    outcomes = Calculator().run([("a", "1"), ("b", "1 / 0"), ("a", "3")])
    assert [(outcome.text, outcome.failed) for outcome in outcomes] == [
        ("1", False), ("Error: division by zero", True), ("3", False),
    ]  # fmt: skip
