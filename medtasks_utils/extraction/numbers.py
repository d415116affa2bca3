r"""Numbers: as MedCalc-Bench's authors read them (``strict_*``), and as people write them (``plain_number``).

The strict readers reproduce the verdicts of the authors' scorer (github.com/nikhilk7153/MedCalc-Bench-Verified,
``evaluation/``), including what follows from its passing numbers through Python's ``eval``: ``007`` is no integer
literal and so no answer. Here nothing is evaluated as Python; expressions go to simpleeval.
"""

from __future__ import annotations

import ast
import math
import re

from simpleeval import InvalidExpression, SimpleEval

Number = int | float

# A run of digits is entered at its start only, so that no pattern reads it more than a few times.
_OUT_OF = re.compile(r"(?<!\d)(\d+) out of")
_LIST = re.compile(r"(?<!\d)-?\d+(?:, ?-?\d+)+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RATE = re.compile(r"(-?(?<!\d)\d+(?:\.\d+)?)\s?mL/min/1.73")
_PERCENT = re.compile(r"(-?(?<!\d)\d+(?:\.\d+)?)%")

_MAX_EXPRESSION = 2000  # characters
_MAX_LITERAL = 4300  # digits; Python's own limit for an integer literal
_MAX_EXPONENT = 1000


def python_literal(digits: str) -> Number | None:
    """The value of a matched number as a Python literal, or None where it is not one (``007``, Arabic digits)."""
    if not digits.isascii() or len(digits) > _MAX_LITERAL:
        return None
    if "." in digits:
        value = float(digits)
        return value if math.isfinite(value) else None
    unsigned = digits.removeprefix("-")
    if len(unsigned) > 1 and unsigned[0] == "0" and unsigned.strip("0"):
        return None
    return int(digits)


def strict_integer(text: str) -> Number | None:
    """The number in an answer to a score question, before rounding; ``text`` has no runs of white space.

    ``N out of M`` is N; a list ``3, 4, 5`` (so also ``1,200``) is its length; otherwise the last number.
    """
    if match := _OUT_OF.search(text):
        return python_literal(match[1])
    if match := _LIST.search(text):
        return match[0].count(",") + 1
    numbers = _NUMBER.findall(text)
    return python_literal(numbers[-1]) if numbers else None


def strict_decimal(text: str) -> Number | None:
    """The number in an answer to a formula question; ``text`` has no runs of white space.

    An expression in ``str(…)`` is evaluated; the first ``X mL/min/1.73`` is X; the last percentage is divided by 100;
    otherwise the last number.
    """
    start, end = text.find("str("), text.rfind(")")
    if 0 <= start < end:
        return _wrapped_expression(text[start + len("str(") : end])
    if match := _RATE.search(text):
        return python_literal(match[1])
    if percentages := _PERCENT.findall(text):
        value = python_literal(percentages[-1])
        return None if value is None else value / 100
    numbers = _NUMBER.findall(text)
    return python_literal(numbers[-1]) if numbers else None


# Units and words that the authors remove, in their order; "g" goes from "log" too, as it does there.
_REPLACED = (
    ("^", "**"),
    ("is odd", "% 2 == 1"),
    ("is even", "% 2 == 0"),
    *((noise, "") for noise in ("weight", "height", "mg/dl", "g/dl", "mmol/L", "kg", "g", "mEq/L")),
)


def _wrapped_expression(expression: str) -> Number | None:
    if len(expression) > _MAX_EXPRESSION:
        return None
    for noise, replacement in _REPLACED:
        expression = expression.replace(noise, replacement)
    expression = expression.split("#")[0]
    missing = expression.count("(") - expression.count(")")
    value = evaluate(expression + ")" * missing if missing > 0 else "(" * -missing + expression)
    if isinstance(value, str):  # the authors evaluate the result's text once more
        value = python_literal(value.strip()) if _NUMBER.fullmatch(value.strip()) else None
    return value


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > _MAX_EXPONENT or (isinstance(base, int) and base.bit_length() > _MAX_EXPONENT):
        raise OverflowError("power too large")
    return base**exponent


def _times(left: Number, right: Number) -> Number:
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        raise TypeError("only numbers are multiplied")
    return left * right


_MATH = {name: getattr(math, name) for name in "sqrt exp pow ceil floor fabs sin cos tan trunc pi e".split()}
_NUMPY = {**_MATH, "abs": abs, "round": round, "power": _power, "minimum": min, "maximum": max}
_FUNCTIONS = {"min": min, "pow": _power, "round": round, "abs": abs, "int": int, "float": float, "sqrt": math.sqrt}


def evaluate(expression: str) -> Number | str | None:
    """The value of an arithmetic expression, or None where it has none (an error, not finite, too large).

    Only arithmetic, comparisons, conditions and a few functions of ``math`` exist; sizes are bounded.
    """
    evaluator = SimpleEval(functions=_FUNCTIONS, names={"math": _MATH, "np": _NUMPY, "numpy": _NUMPY})
    evaluator.operators = {**evaluator.operators, ast.Pow: _power, ast.Mult: _times}
    evaluator.operators.pop(ast.LShift, None)
    try:
        value = evaluator.eval(expression.strip())
    except (InvalidExpression, ArithmeticError, ValueError, TypeError, SyntaxError, LookupError, AttributeError):
        return None
    except (RecursionError, MemoryError):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and (isinstance(value, int) or math.isfinite(value)):
        return value
    return None


# What people write around and between numbers, in the order in which it is taken out.
_MINUS = str.maketrans(
    {"−": "-", "–": "-", "—": "-", "﹣": "-", "－": "-", "\u202f": " ", "\u00a0": " ", "\u2009": " "}
)
_LATEX_FRACTION = re.compile(
    r"\\[dt]?frac\s?\{\s?(-?\d{1,15}(?:\.\d{1,15})?)\s?\}\s?\{\s?(\d{1,15}(?:\.\d{1,15})?)\s?\}"
)
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathit|,|;|!|:|quad|left|right|approx|sim|displaystyle)|[{}$*_`]")
_POWER_OF_TEN = re.compile(r"\s?(?:×|x|\*|·|\\times|\\cdot)\s?10\s?(?:\^|\*\*)\s?[({]?\s?([+-]?\d{1,3})\s?[)}]?")
_THOUSANDS = re.compile(r"(?<![\d.])(\d{1,3})((?:,\d{3})+|(?: \d{3})+)(?![\d]|,\d)")
_UNITS = re.compile(
    r"/\s?1\.73\s?(?:m\b)?(?:\s?\^?\s?[2²])?"
    r"|(?:kg|g|mg|mL|L|cm|m|mm|µm|um)\s?/\s?(?:kg|m|cm)\s?(?:\^?\s?[23²³])?"
    r"|(?<=[A-Za-z])\s?\^\s?[23]\b|\b(?:m|cm|mm)[23²³]\b|\bx?\s?10\^9\s?/\s?L\b",
)
_ASIDE = re.compile(r"(?<=\d)\s?[A-Za-z%/ ]{0,30}\((?!\s?\d+(?:\.\d+)?\s?\)\s*$)[^()]{0,200}\)")
_PLAIN = re.compile(r"(?<![\w.])[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,3})?(?![\d])")
_SCORE = re.compile(r"(?<![\d.])(\d{1,4})\s?(?:out\s+of|/)\s?(?:a\s+(?:maximum|total)\s+of\s+)?\d{1,4}(?![\d.])")
_MAX_STATEMENT = 1000  # characters; a longer text states no single number


def plain_number(text: str, *, score: bool = False) -> float | None:
    """The number that a short statement gives, however people write it, or None where it gives none.

    Thousands separators, units, ``≈``, LaTeX, scientific notation and a percent sign (a unit here) are understood; a
    remark in parentheses after the number is passed over; what follows the last ``=`` or ``≈`` counts first; of
    several numbers the last counts.

    Args:
        text: the content of an answer tag or a final statement.
        score: read ``N/M`` as N out of M.

    >>> plain_number("≈ 1,234.5 mL (normal 3-5)"), plain_number("1.2 × 10^3"), plain_number("22.9 kg/m^2")
    (1234.5, 1200.0, 22.9)
    """
    if len(text) > _MAX_STATEMENT:
        return None
    text = " ".join(text.translate(_MINUS).split())
    text = _LATEX_FRACTION.sub(r"\1/\2", text)
    text = _POWER_OF_TEN.sub(r"e\1", text)
    text = _LATEX.sub("", text)
    text = _UNITS.sub(" ", text)
    text = _ASIDE.sub(" ", text)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", "").replace(" ", ""), text)
    if score and (matches := _SCORE.findall(text)):
        return float(matches[-1])
    for part in (re.split(r"[=≈]", text)[-1], text):
        numbers = [float(number) for number in _PLAIN.findall(part)]
        if numbers:
            return numbers[-1] if math.isfinite(numbers[-1]) else None
    return None
