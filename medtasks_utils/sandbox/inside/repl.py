"""Run RestrictedPython as a REPL with three libraries, and with the limits and messages of Medmarks' Python tool."""

import builtins
import importlib
import io
import math
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from RestrictedPython import Eval, Guards, compile_restricted_exec, limited_builtins, safe_builtins, utility_builtins
from RestrictedPython.PrintCollector import PrintCollector

from .weak import in_place
from .worker import END, Interpreter

_BUILTINS = "min max sum enumerate any all reversed map filter"
_NO_MODULE = "Only 'math', 'numpy', and 'scipy' imports are allowed"
_NO_NAME = (
    "Hint: this may be a typo, or the name may be unavailable in this restricted Python sandbox. "
    "Allowed imports: math, numpy (np), scipy.\n"
)


def _import(name: str, *others: Any, **more: Any) -> Any:
    """Import ``math``, numpy or scipy in place of ``__import__``; for a dotted name, return the last module.

    Raises:
        ImportError: for any other module.
    """
    base = name.partition(".")[0]
    if base not in ("math", "numpy", "scipy"):
        raise ImportError(_NO_MODULE)
    return math if base == "math" else importlib.import_module(name)


class Repl(Interpreter):
    """An interpreter that prints the output of each call's code, then its error or warnings."""

    def predefined(self) -> dict[str, Any]:
        """Return the allowed built-in functions, RestrictedPython's guard functions, and the libraries."""
        allowed = {name: getattr(builtins, name) for name in _BUILTINS.split()}
        self._own: dict[str, Any] = {}  # the code's variables
        return {
            **super().predefined(),
            "__builtins__": {**safe_builtins, **limited_builtins, **utility_builtins, **allowed, "__import__": _import},
            "_getattr_": Guards.safer_getattr,
            "_getitem_": Eval.default_guarded_getitem,
            "_getiter_": Eval.default_guarded_getiter,
            "_iter_unpack_sequence_": Guards.guarded_iter_unpack_sequence,
            "_inplacevar_": in_place,
            "_write_": lambda target: target,
            "_print_": PrintCollector,
        }

    def run(self, code: str) -> bool:
        """Run code, and print its output followed by its error or warnings; return whether it failed."""
        printed, problems = io.StringIO(), io.StringIO()
        before = self._own.get("_print")
        with redirect_stdout(printed), redirect_stderr(problems):
            failed, report = self._attempt(code.rstrip())
        collector = self._own.get("_print")
        if isinstance(collector, PrintCollector) and collector is not before:  # made anew by each call that prints
            printed.write(collector())
        output, report = printed.getvalue(), problems.getvalue() + report
        between = "\n" if output and report and not output.endswith("\n") else ""
        text = f"{output}{between}{report}".encode(errors="replace").decode()  # without lone surrogates
        print(text, end=END)
        return failed

    def _attempt(self, code: str) -> tuple[bool, str]:
        """Run code; return whether it failed, and the error or warnings for the model."""
        try:
            compiled = compile_restricted_exec(code, "<repl>")
            if compiled.code is None:
                return True, _listed("error", compiled.errors)
            exec(compiled.code, {**self.globals, **self._own}, self._own)
        except ImportError as error:
            return True, f"ImportError: {error}\nHint: {_NO_MODULE}.\n"
        except SyntaxError as error:  # one that RestrictedPython does not list
            return True, f"SyntaxError: {error}\n"
        except NameError as error:
            return True, f"Error: NameError: {error}\n{_NO_NAME}"
        except Exception as error:
            return True, f"Error: {type(error).__name__}: {error}\n"
        return False, _listed("warning", [text for text in compiled.warnings if "printed" not in text.lower()])


def _listed(what: str, lines: Sequence[str]) -> str:
    return "".join([f"Execution {what}:\n", *(f"  {line}\n" for line in lines)]) if lines else ""
