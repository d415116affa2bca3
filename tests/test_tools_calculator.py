"""The calculator computes what Python would, refuses everything else, and cannot be kept busy."""

from __future__ import annotations

import ast
import math
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from medtasks_utils.tools.calculator import MAX_EXPRESSION, Calculator, CalculatorError, calculate, written

VALUES = [
    ("2 + 2", 4),
    ("70 / 1.75 ** 2", 70 / 1.75**2),
    ("70 / 1.75^2", 70 / 1.75**2),
    ("2 * 3^2", 18),
    ("-2^2", -4),
    ("2^3^2", 512),
    ("10 % 4", 2),
    ("7 // 2", 3),
    ("-7 // 2", -4),
    ("7.5 // 2", 3.0),
    ("1 + 17 // 5 * 2", 7),
    ("((140 - 60) * 72) / (72 * 1.0) * 0.85", 68.0),
    ("sqrt(16) + abs(-3)", 7.0),
    ("math.sqrt(16) + np.log(1) + numpy.exp(0)", 5.0),
    ("log(e)", 1.0),
    ("log(8, 2)", 3.0),
    ("log10(1000)", math.log10(1000)),
    ("sin(pi / 2) + cos(0) + tan(0)", 2.0),
    ("round(2.675, 1)", 2.7),
    ("round(2.5)", 2),
    ("round(2.567, ndigits=2)", 2.57),
    ("min(3, 1, 2)", 1),
    ("max(3)", 3),
    ("1e-3 * 1E3", 1.0),
    ("70 ÷ 1.75² × 2 − 1", 70 / 1.75**2 * 2 - 1),
    ("2 · π", 2 * math.pi),
    ("  1 +\n 2  ", 3),
    ("+-+1", -1),
    ("(-8) ** 3", -512),
    ("2 ** -1", 0.5),
    ("10 ** -400", 0),
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
    ("1 % 0", "zero"),
    ("1 // 0", "zero"),
    ("0 ** -1", "0"),
    ("sqrt(-1)", ""),
    ("log(0)", ""),
    ("(-8) ** (1 / 3)", "not a real number"),
    ("weight / 2", "'weight' is not known; known are sqrt, "),
    ("2 +", "not an arithmetic expression"),
    ("5 mg", "not an arithmetic expression"),
    ("x = 5", "not an arithmetic expression"),
    ("", "empty"),
    (" \n", "empty"),
    ("1,234.5 * 2", "a comma separates"),
    ("1, 2", "a comma separates"),
    ("2(3)", "only functions can be called"),
    ("sqrt", "not a number"),
    ("sqrt + 1", ""),
    ("sqrt()", ""),
    ("sqrt(1, 2, 3)", ""),
    ("min()", ""),
    ("round(1, x=2)", ""),
    ("'a'", "not a number"),
    ("'a' * 999", "not a number"),
    ("b'a'", "not a number"),
    ("f'{1}'", "not arithmetic"),
    ("True + 1", "not a number"),
    ("None", "not a number"),
    ("...", "not a number"),
    ("2j", "not a number"),
    ("1 if 1 else 2", "not arithmetic"),
    ("1 < 2", "not arithmetic"),
    ("1 and 2", "not arithmetic"),
    ("not 1", "not arithmetic"),
    ("1 << 2", "not arithmetic"),
    ("1 | 2", "not arithmetic"),
    ("~1", "not arithmetic"),
    ("[1] * 9", "not arithmetic"),
    ("{1}", "not arithmetic"),
    ("{}", "not arithmetic"),
    ("(lambda: 1)()", "only functions"),
    ("[x for x in (1, 2)]", ""),
    ("max(*[1, 2])", "not arithmetic"),
    ("round(**{})", "not arithmetic"),
    ("pi.real", "not arithmetic"),
    ("sqrt.__self__", "not arithmetic"),
    ("math.__loader__", ""),
    ("().__class__.__base__", ""),
    ("__import__('os')", "only functions"),
    ("open('x')", "only functions"),
    ("eval('1')", "only functions"),
    ("(x := 1)", ""),
    ("sqrt(4)(1)", "only functions"),
    ("1[0]", "not arithmetic"),
    ("await 1", ""),
    ("9**9**9", "too large"),
    ("9**9**9**9", "too large"),
    ("2 ** 1025", "too large"),
    ("10.0 ** 400", "too large"),
    ("1e999", "not finite"),
    ("1e308 * 10", "not finite"),
    ("exp(1000)", "too large"),
    ("round(1, 1000000000)", "too large"),
    ("round(1, -1000000000)", "too large"),
    ("2 ** 1000 * 2 ** 1000", "too large"),
    ("(" * 400 + "1" + ")" * 400, ""),
    ("-" * 999 + "1", ""),
    ("1" * 999, "too large"),
    ("1" * (MAX_EXPRESSION + 1), "characters"),
    ("a" * 200_000, "characters"),
    ("\x00", ""),
    ("\ud800", ""),
    ("１+１", ""),
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
    started = time.perf_counter()
    (outcome,) = Calculator().run([("", "".join(parts))])
    assert time.perf_counter() - started < 2.0
    assert len(outcome.text) < 400


# ---- against Python itself

LEAVES = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(0, 1e6, allow_nan=False).map(repr),
    st.sampled_from(["pi", "e"]),
)
FUNCTIONS = ("abs", "sqrt", "sin", "cos", "tan", "exp", "log", "log10", "round", "min", "max")
UNARY = st.sampled_from(["-{}", "+{}", "({})", "round({}, 2)", *(name + "({})" for name in FUNCTIONS)])
BINARY = st.sampled_from(
    ["({} + {})", "({} - {})", "{} * {}", "({} / {})", "({} % {})", "({} ** {})", "min({}, {})", "max({}, {})"]
)
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


def is_refused_on_the_way(expression: str) -> bool:
    """Whether a power within it, which the calculator looks at by itself, is complex, not finite or too large."""
    powers = [node for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.BinOp)]
    values = [eval(ast.unparse(node), dict(PYTHON)) for node in powers if isinstance(node.op, ast.Pow)]
    return any(isinstance(value, complex) or not fits(value) for value in values)


@given(EXPRESSIONS)
def test_it_computes_what_python_computes(expression: str) -> None:
    assume(expression.count("**") <= 1 and len(expression) <= MAX_EXPRESSION)
    try:
        expected = eval(expression, dict(PYTHON))
    except (ArithmeticError, ValueError, TypeError):
        expected = None
    if expected is None or isinstance(expected, complex) or not fits(expected):
        with pytest.raises(CalculatorError):
            calculate(expression)
        return
    try:
        found = calculate(expression)
    except CalculatorError:
        assert is_refused_on_the_way(expression)
        return
    assert found == expected
    assert type(found) is type(expected)
    assert float(written(found)) == float(expected)
    assert calculate(expression.replace("**", "^")) == expected


def test_a_batch_keeps_its_order() -> None:
    outcomes = Calculator().run([("a", "1"), ("b", "1 / 0"), ("a", "3")])
    assert [(outcome.text, outcome.failed) for outcome in outcomes] == [
        ("1", False), ("Error: division by zero", True), ("3", False),
    ]  # fmt: skip
