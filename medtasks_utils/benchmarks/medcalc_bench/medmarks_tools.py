"""Define the tools of Medmarks' run of MedCalc-Bench with tools, and the rules for its conversations."""

import ast
import json
import math
import re
from collections.abc import Sequence
from typing import Any

from simpleeval import DEFAULT_OPERATORS, MAX_POWER, SimpleEval

from medtasks_utils.tools.arithmetic import rounded
from medtasks_utils.tools.calculator import CalculatorTool
from medtasks_utils.tools.calls import Call, Tools
from medtasks_utils.tools.loop import Dialogue
from medtasks_utils.tools.native import ParsedReply, parts
from medtasks_utils.tools.python import PythonTool
from medtasks_utils.tools.tool import CallResult, Tool
from medtasks_utils.writing import JsonObject

_NOTATION = str.maketrans({"^": "**", "×": "*", "÷": "/"})
_MAX_BITS = 1 << 20  # of a power of integers; Medmarks' calculator takes minutes for larger ones, then fails
_FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan", "log", "log10", "exp")}
_FUNCTIONS |= {"abs": abs, "round": rounded}


def _schema(tool: type[Tool], argument: str) -> JsonObject:
    """Return a tool's description in OpenAI's format, including its argument's."""
    properties = {tool.argument: {"description": argument, "title": tool.argument.capitalize(), "type": "string"}}
    parameters = {
        "properties": properties,
        "required": [tool.argument],
        "title": f"{tool.name}_args",
        "type": "object",
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


class MedmarksCalculator(CalculatorTool):
    """Medmarks' calculator, whose value is always a float."""

    description = (
        "Evaluate a mathematical expression safely.\n\n"
        "Supports basic arithmetic (+, -, *, /, %, **), parentheses, and common math functions. "
        "Use ^ or ** for exponentiation.\n\n"
        "Available functions: sqrt, sin, cos, tan, log, log10, exp, abs, round\nAvailable constants: pi, e"
    )

    @classmethod
    def schema(cls) -> JsonObject:
        """Return the tool's description in OpenAI's format."""
        return _schema(cls, "A mathematical expression to evaluate.")

    def run(self, calls: Sequence[tuple[str, str]]) -> list[CallResult]:
        """Evaluate each expression, and return its value or an error message."""
        return [_evaluated(expression.strip()) for _, expression in calls]


class CodeInterpreter(PythonTool):
    """Medmarks' Python tool, which does not print the value of a last expression."""

    name = "code_interpreter"
    aliases = ()
    languages = ()
    is_repl = True
    description = (
        "Execute Python code in a sandboxed REPL environment. Variables persist across calls.\n\n"
        "This is a restricted environment - file I/O and network access are disabled.\n"
        "Allowed imports: math, numpy, scipy. Pre-loaded: numpy (as np), math, scipy. Use print() to display results."
    )

    @classmethod
    def schema(cls) -> JsonObject:
        """Return the tool's description in OpenAI's format."""
        return _schema(cls, "A block of Python code to execute.")


class MedmarksDialogue(Dialogue):
    """Conversations in which results are never cut, and the model is not told that its last turn has come."""

    last_turn: str = ""

    def split_reply(self, reply: str, calls_before: int) -> ParsedReply:
        """Split a reply into its text and its calls: native calls or, with a chat template, calls written in the text.

        A native call without an id gets one that is numbered after the ``calls_before`` earlier calls.
        """
        if self.most_by_template:
            return super().split_reply(reply, calls_before)
        text, entries = parts(reply)
        message: JsonObject = {"role": "assistant", "content": text}
        calls = []
        for number, entry in enumerate(entries, start=calls_before + 1):
            call, field = read_call(entry, self.tools)
            field["id"] = str(field.get("id") or f"call{number:05d}")
            calls.append(call)
            message.setdefault("tool_calls", []).append(field)
        return ParsedReply(text, text, calls, message)

    def messages_of(self, results: Sequence[CallResult]) -> list[str]:
        """Return the texts of the results unchanged."""
        return [result.text for result in results]


def read_call(entry: Any, tools: Tools) -> tuple[Call, JsonObject]:
    """Parse an entry of ``tool_calls``; return the call, and the entry to send back to the server."""
    entry = entry if isinstance(entry, dict) else {}
    function = entry.get("function")
    function = function if isinstance(function, dict) else {}
    name, written = function.get("name"), function.get("arguments")
    tool, arguments = tools.get(str(name)), _decoded(written)
    argument, problem = "", None
    if tool is None or arguments is None:
        problem, written = f"Invalid tool formatting for '{name}'.", "{}"
    elif tool.argument not in arguments:
        problem = f"{name}() missing 1 required keyword-only argument: '{tool.argument}'"
    else:
        argument = arguments[tool.argument] or ""
    if not isinstance(argument, str):
        method = "rstrip" if name == CodeInterpreter.name else "strip"
        argument, problem = "", f"'{type(argument).__name__}' object has no attribute '{method}'"
    sent = json.dumps(written) if isinstance(written, dict) else str(written or "").strip() or "{}"
    name = str(name) if tool else "calculator"
    return Call(name, argument, problem), {**entry, "type": "function", "function": {"name": name, "arguments": sent}}


def _decoded(arguments: Any) -> JsonObject | None:
    """Return a call's arguments, which some servers encode twice; {} if there are none, None if they are invalid."""
    if arguments is None or str(arguments).strip() == "":
        return {}
    try:
        for _ in range(2):
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def _evaluated(expression: str) -> CallResult:
    """Return the value of an expression, or an error message."""
    text = expression.translate(_NOTATION)
    if not expression:
        return CallResult("Error: Empty expression", failed=True)
    if len(expression) > 200:
        return CallResult("Error: Expression too long", failed=True)
    if not re.fullmatch(r"[0-9A-Za-z_\s.+\-*/%(),]+", text):
        return CallResult("Error: Invalid characters", failed=True)
    evaluator = SimpleEval(
        operators={**DEFAULT_OPERATORS, ast.Pow: _power}, functions=_FUNCTIONS, names={"pi": math.pi, "e": math.e}
    )
    try:
        return CallResult(str(float(evaluator.eval(text))), failed=False)
    except ZeroDivisionError:
        return CallResult("Error: Division by zero", failed=True)
    except Exception as error:  # whatever the parser, simpleeval and the operations raise: the model reads it
        return CallResult(f"Error: {error}", failed=True)


def _power(base: Any, exponent: Any) -> Any:
    is_of_integers = isinstance(base, int) and isinstance(exponent, int)
    if is_of_integers and base.bit_length() * exponent > _MAX_BITS and max(abs(base), abs(exponent)) <= MAX_POWER:
        raise OverflowError("int too large to convert to float")
    return DEFAULT_OPERATORS[ast.Pow](base, exponent)
