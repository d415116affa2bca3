"""The calculator computes what Python would, refuses everything else, and cannot be kept busy."""

import math

import pytest
from given import each_row, error_line, table
from hypothesis import assume, given
from hypothesis import strategies as st

from medtasks_utils.tools.calculator import MAX_EXPRESSION, CalculatorError, calculate, written


@each_row("calculator")
def test_an_expression_has_the_value_of_the_table(expression, value):
    assert calculate(expression) == value


@each_row("calculator_written")
def test_a_value_is_written_without_loss(name, value, text):
    assert written(value) == text
    assert float(text) == value


@each_row("calculator_refusals")
def test_an_expression_without_a_value_says_why_in_a_line(expression, why):
    line = error_line(CalculatorError, calculate, expression)
    assert why in line and len(line) < 200


# ---- against Python itself

LEAVES = st.one_of(st.integers(0, 10**6).map(str), st.floats(0, 1e6).map(repr), st.sampled_from(["pi", "e"]))
FORMS = table("forms_of_expressions")
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.tuples(st.sampled_from(FORMS), inner, inner).map(lambda drawn: drawn[0].format(*drawn[1:])),
    max_leaves=12,
)
PYTHON = {**vars(math), "min": lambda *numbers: min(numbers), "max": lambda *numbers: max(numbers)}


@given(EXPRESSIONS)
def test_the_calculator_computes_what_python_computes(expression):
    assume(len(expression) <= MAX_EXPRESSION)
    try:
        expected = eval(expression, dict(PYTHON))
    except (ArithmeticError, ValueError, TypeError):
        expected = math.inf
    if expected.bit_length() > 1024 if isinstance(expected, int) else not math.isfinite(expected):
        with pytest.raises(CalculatorError):
            calculate(expression)
        return
    found = calculate(expression)
    assert (found, type(found), float(written(found))) == (expected, type(expected), float(expected))
