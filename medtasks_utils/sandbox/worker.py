"""A session's process: runs the calls of one example one after the other, and keeps its variables between them."""

from __future__ import annotations

import ast
import builtins
import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from types import TracebackType
from typing import Any

import numpy

from medtasks_utils.sandbox.guards import MAIN
from medtasks_utils.sandbox.namespace import make_globals
from medtasks_utils.sandbox.policy import Policy
from medtasks_utils.sandbox.wire import Inbox, pack_reply

SOCKET = 3
"""The descriptor of the session's socket, the only one beside the standard three, which lead nowhere."""

_FILENAME = "<python>"


class Output:
    """Standard output that keeps the first ``limit`` characters and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[str] = []
        self._length = 0

    def write(self, text: str) -> int:
        """Take text."""
        text = str.__add__("", text)  # a plain string, whatever the code's own kind of string does
        room = self._limit - self._length
        if room > 0:
            self._parts.append(text[:room])
        self._length += len(text)
        return len(text)

    def flush(self) -> None:
        """Nothing to do."""

    def text(self) -> str:
        """What was kept, and how much was not."""
        kept = "".join(self._parts)
        cut = self._length - len(kept)
        return f"{kept}\n... ({cut:,} more characters)" if cut > 0 else kept


class Session:
    """The variables of one example, and the code that runs on them.

    Args:
        guarded: whether the guards are on.
        max_output: characters of output kept from one call.
    """

    def __init__(self, *, guarded: bool, max_output: int) -> None:
        self._guarded = guarded
        self._max_output = max_output
        self._globals = make_globals() if guarded else {"__name__": MAIN, "__builtins__": builtins}

    def run(self, code: str) -> tuple[bool, str]:
        """Run code as a REPL would run a pasted script: what it prints, then the last expression's value.

        Returns:
            Whether it failed, and the text; that of a failure ends in the error.
        """
        output = Output(self._max_output)
        sys.stdout = sys.stderr = output
        error = ""
        try:
            try:
                program, has_value = self._compile(code)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
                return True, _syntax(problem)
            if isinstance(program, str):
                return True, program
            exec(program, self._globals)
            if has_value:
                value = self._globals.pop("_value_", None)
                if value is not None:
                    output.write(repr(value))
                    output.write("\n")
        except BaseException as problem:
            error = _describe(problem)
        printed = output.text()
        if not error:
            return False, printed.rstrip("\n")
        return True, f"{printed}{'' if printed.endswith(chr(10)) or not printed else chr(10)}{error}"

    def _compile(self, code: str) -> tuple[Any, bool]:
        """A code object, or why it is refused; and whether it leaves a value."""
        tree = ast.parse(code, _FILENAME)
        last = tree.body[-1] if tree.body else None
        if self._guarded:
            policy = Policy()
            policy.visit(tree)
            if policy.errors:
                return "Refused: " + "; ".join(policy.errors[:5]), False
        has_value = isinstance(last, ast.Expr)
        if has_value:
            last = tree.body[-1]
            assert isinstance(last, ast.Expr)
            tree.body[-1] = ast.copy_location(
                ast.Assign(targets=[ast.Name("_value_", ast.Store())], value=last.value), last
            )
        return compile(ast.fix_missing_locations(tree), _FILENAME, "exec"), has_value


def _syntax(problem: BaseException) -> str:
    if isinstance(problem, SyntaxError):
        where = f" (line {problem.lineno})" if problem.lineno else ""
        line = f": {problem.text.strip()}" if problem.text else ""
        return f"{type(problem).__name__}{where}: {problem.msg}{line}"
    return f"{type(problem).__name__}: the code cannot be compiled: {problem}"


def _describe(problem: BaseException) -> str:
    """An error as text: its type, its line in the code, its message."""
    try:
        line = _line(problem.__traceback__)
        where = f" (line {line})" if line else ""
        message = str(problem)[:2000]
        name = type(problem).__name__
        return f"{name}{where}: {message}" if message else f"{name}{where}"
    except BaseException:  # the code's own __str__ may fail, or memory may be short
        return "Error: the code failed, and so did describing how"


def _line(traceback: TracebackType | None) -> int | None:
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _FILENAME:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def serve(session: Session, timeout: float, max_request: int) -> None:
    """Answer calls on the socket until it closes: all but the last of a message's calls only bring variables back."""
    random.seed()  # the forks would all draw the same numbers
    numpy.random.seed()
    warnings.simplefilter("ignore")  # they go to standard error, which is no part of the result
    inbox = Inbox(max_request)
    while data := os.read(SOCKET, 1 << 16):
        for message in inbox.feed(data):
            *earlier, code = json.loads(message)
            _limit_call(timeout * (1 + len(earlier)))
            for forgotten in earlier:
                session.run(forgotten)
            reply = memoryview(pack_reply(*session.run(code)))
            while reply:
                reply = reply[os.write(SOCKET, reply) :]
            signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_call(timeout: float) -> None:
    """Two clocks inside the process, should the supervisor's fail: its default actions end the process."""
    signal.setitimer(signal.ITIMER_REAL, timeout + 5)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = int(time.process_time() + timeout + 2)
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
