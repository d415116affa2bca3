"""Read numbers by the rules of MedCalc-Bench's authors; :mod:`.quantities` reads them in other forms.

These functions give the same results as the authors' scorer (github.com/nikhilk7153/MedCalc-Bench-Verified,
``evaluation/``), which passes numbers to Python's ``eval``. Hence ``007`` is not an answer, since it is not a Python
literal. Here only single numbers are read as Python; simpleeval evaluates expressions.
"""

import ast
import math
import sys

from medtasks_utils.extraction.patterns import later
from medtasks_utils.tools.arithmetic import Number, power, rounded

# The patterns match a run of digits only from its start, which keeps their time linear.
_OUT_OF = later(r"(?<!\d)(\d+) out of")
_LIST = later(r"(?<!\d)-?\d+(?:, ?-?\d+)+")
_NUMBER = later(r"-?\d+(?:\.\d+)?")
_RATE = later(r"(-?(?<!\d)\d+(?:\.\d+)?)\s?mL/min/1.73")
_PERCENT = later(r"(-?(?<!\d)\d+(?:\.\d+)?)%")

_MAX_EXPRESSION = 2000  # characters
_MAX_LITERAL = 4300  # digits; Python's own limit for an integer literal


def python_literal(digits: str) -> Number | None:
    """Return the value of a number as a Python literal.

    Return None for invalid literals, such as ``007`` and Arabic digits, for more than 4,300 characters, and for a value
    that overflows a float.
    """
    if len(digits) > _MAX_LITERAL:
        return None
    try:
        value: Number = ast.literal_eval(digits)
    except SyntaxError:
        return None
    return value if abs(value) < math.inf else None


def _last_number(text: str) -> Number | None:
    """Return the last number in a text; None if it is not a valid literal, or there is none."""
    numbers = _NUMBER.findall(text)
    return python_literal(numbers[-1]) if numbers else None


def strict_integer(text: str) -> Number | None:
    """Return the unrounded number in an answer that should be a score; None without a valid one.

    ``N out of M`` gives N. A list such as ``3, 4, 5`` gives its length, as does ``1,200``. Otherwise the last number is
    used. White space in ``text`` must already be collapsed.
    """
    if match := _OUT_OF.search(text):
        return python_literal(match[1])
    if match := _LIST.search(text):
        return match[0].count(",") + 1
    return _last_number(text)


def strict_decimal(text: str) -> Number | None:
    """Return the number in an answer that should be a decimal number; None without a valid one.

    The first applicable rule is used: an expression in ``str(…)`` is evaluated; the first ``X mL/min/1.73`` gives X;
    the last percentage is divided by 100; the last number is taken. If this rule selects an invalid number, the result
    is None. White space in ``text`` must already be collapsed.
    """
    start, end = text.find("str("), text.rfind(")")
    if 0 <= start < end:
        return _wrapped_expression(text[start + len("str(") : end])
    if match := _RATE.search(text):
        return python_literal(match[1])
    if percentages := _PERCENT.findall(text):
        value = python_literal(percentages[-1])
        return None if value is None or abs(value) > sys.float_info.max else value / 100
    return _last_number(text)


# The replacements of the authors' scorer, in the same order. As there, removing "g" breaks "log".
_REPLACED = (
    ("^", "**"),
    ("is odd", "% 2 == 1"),
    ("is even", "% 2 == 0"),
    *((noise, "") for noise in ("weight", "height", "mg/dl", "g/dl", "mmol/L", "kg", "g", "mEq/L")),
)


def _wrapped_expression(expression: str) -> Number | None:
    """Evaluate an expression from ``str(…)``, after removing units and balancing parentheses; None if it is invalid."""
    if len(expression) > _MAX_EXPRESSION:
        return None
    for noise, replacement in _REPLACED:
        expression = expression.replace(noise, replacement)
    expression = expression.split("#")[0]
    missing = expression.count("(") - expression.count(")")
    expression = "(" * -missing + expression + ")" * missing  # one of them is none, since a negative count adds nothing
    return evaluate(expression.strip().strip("'\""))  # the authors' scorer also evaluates a text in quotes


_MATH = {
    name: getattr(math, name)
    for name in ("sqrt", "exp", "pow", "ceil", "floor", "fabs", "sin", "cos", "tan", "trunc", "pi", "e")
}
_NUMPY = {**_MATH, "float64": float, "abs": abs, "round": rounded, "power": power, "minimum": min, "maximum": max}
_MODULES = {"math": _MATH, "np": _NUMPY, "numpy": _NUMPY}
_FUNCTIONS = {
    "min": min,
    "pow": power,
    "round": rounded,
    "abs": abs,
    "int": int,
    "float": float,
    "sqrt": math.sqrt,
}
_NODES = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.Load),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


def evaluate(expression: str) -> Number | None:
    """Evaluate an arithmetic expression; return None if it is invalid, or its value is not finite or too large.

    Only numbers, arithmetic, comparisons, conditions, and a few functions and constants (built-in ones, and those of
    ``math`` and numpy) are allowed. The size of values is limited, no other attribute can be accessed, and evaluation
    has no side effects.
    """
    from simpleeval import InvalidExpression, SimpleEval

    try:
        if not all(_is_arithmetic(node) for node in ast.walk(ast.parse(expression, mode="eval"))):
            return None
        evaluator = SimpleEval(functions=_FUNCTIONS, names=_MODULES)
        evaluator.operators[ast.Pow] = power
        value = evaluator.eval(expression)
    except (InvalidExpression, ArithmeticError, ValueError, TypeError, SyntaxError, LookupError, AttributeError):
        return None
    except (RecursionError, MemoryError):  # the expression is nested too deeply
        return None
    return value if isinstance(value, int | float) and abs(value) <= sys.float_info.max else None


def _is_arithmetic(node: ast.AST) -> bool:
    """Return whether a syntax node may be evaluated; constants must be numbers, and attributes must be known."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.attr in _MODULES.get(node.value.id, {})
    return isinstance(node, _NODES) and not isinstance(node, ast.LShift)
