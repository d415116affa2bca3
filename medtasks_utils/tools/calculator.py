"""Define the calculator tool, which evaluates arithmetic expressions in bounded time."""

import ast
import math
import re
from collections.abc import Callable, Sequence

from simpleeval import DEFAULT_OPERATORS, InvalidExpression, SimpleEval

from .arithmetic import Number, power, rounded
from .tool import CallResult, Tool

MAX_EXPRESSION = 1_000  # characters

# Notation from outside Python. "^" is replaced in the text, since Python's own "^" binds less tightly than "*".
_NOTATION = str.maketrans(
    {"^": "**", "×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "π": "pi", "²": "**2", "³": "**3"}
)
_MODULE_PREFIX = re.compile(r"\b(?:math|np|numpy)\.(?=[a-z])")


class CalculatorError(ValueError):
    """An expression that cannot be evaluated; the message tells the model why."""


def calculate(expression: str) -> Number:
    """Return the value of an arithmetic expression.

    The operators are ``+ - * / // % ** ^`` (``^`` is a power, like ``**``), the functions ``sqrt sin cos tan log log10
    exp abs round min max``, and the constants ``pi`` and ``e``. ``log`` is the natural logarithm; angles are in
    radians. Signs such as ``×``, ``÷``, ``−``, ``π`` and ``²`` are accepted. Before a name, ``math.``, ``np.`` and
    ``numpy.`` are ignored. Commas separate arguments; thousands separators are not accepted, since ``max(1,200)`` would
    be ambiguous.

    Raises:
        CalculatorError: if the expression is not of this form, is empty, longer than :data:`MAX_EXPRESSION` or nested
            too deeply, or if its value is not real, not finite, or too large for a float.

    >>> calculate("70 / 1.75^2"), calculate("max(2, 6 / 2)")
    (22.857142857142858, 3.0)
    """
    if len(expression) > MAX_EXPRESSION:
        raise CalculatorError(f"the expression has {len(expression):,} characters; the limit is {MAX_EXPRESSION:,}")
    text = _MODULE_PREFIX.sub("", " ".join(expression.translate(_NOTATION).split()))
    if not text:
        raise CalculatorError("the expression is empty")
    try:
        return _value(text)
    except SyntaxError as error:
        raise CalculatorError(f"not an arithmetic expression: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise CalculatorError("the expression is nested too deeply") from None
    except OverflowError:
        raise CalculatorError("the result is too large") from None
    except InvalidExpression as error:
        known = ", ".join([*_FUNCTIONS, *_NAMES])
        raise CalculatorError(f"{str(error)[:80]}; allowed: + - * / // % ** (), {known}") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise CalculatorError(str(error)) from None


def _value(text: str) -> Number:
    """Evaluate an expression in Python's notation.

    Raises:
        CalculatorError: for commas outside calls, values that are not numbers, and results that are not finite.
        Exception: whatever the parser, the operations or simpleeval raise.
    """
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple):
            raise CalculatorError("a comma separates a function's arguments: write 1234.5, not 1,234.5")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            raise CalculatorError(f"{str(node.value)[:20]!r} is not a number")
    evaluator = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=_NAMES)
    evaluator.nodes = {kind: evaluator.nodes[kind] for kind in _NODES}
    value = evaluator.eval(text, previously_parsed=tree)
    if not isinstance(value, int | float):
        raise CalculatorError("the result is not a real number")
    if not math.isfinite(value):
        raise CalculatorError("the result is not finite")
    return value


_OPERATORS = {
    kind: DEFAULT_OPERATORS[kind]
    for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.UAdd, ast.USub)
} | {ast.Pow: power}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "log", "log10", "exp")},
    "abs": abs,
    "round": rounded,
    "min": lambda *numbers: min(numbers),  # also for a single number
    "max": lambda *numbers: max(numbers),
}
_NAMES = {"pi": math.pi, "e": math.e}
_NODES = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Call, ast.keyword)


def written(value: Number) -> str:
    """Format a value as Python does, but a whole float below 1e15 without ``.0``: ``3.0`` becomes ``3``."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


class CalculatorTool(Tool):
    """A tool that evaluates arithmetic expressions; sessions have no state."""

    name = "calculator"
    argument = "expression"
    description = (
        "evaluates one arithmetic expression: + - * / // % ** (or ^), parentheses, sqrt, sin, cos, tan, log (natural), "
        "log10, exp, abs, round, min, max, pi, e. Numbers without thousands separators, no units, no variables."
    )
    example = "70 / 1.75 ** 2"
    offers = "evaluate arithmetic expressions"

    def run(self, calls: Sequence[tuple[str, str]]) -> list[CallResult]:
        """Evaluate each expression, and return its value or an error message."""
        results = []
        for _, expression in calls:
            try:
                results.append(CallResult(written(calculate(expression)), failed=False))
            except CalculatorError as error:
                results.append(CallResult(f"Error: {error}", failed=True))
        return results
