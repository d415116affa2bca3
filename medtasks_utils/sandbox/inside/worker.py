"""A session's process: runs the calls of one example one after the other, and keeps its variables between them.

A request is 16 bytes, new with each call, the seconds after which the process ends itself (0: never), a length, and
code. An answer is the 16 bytes, what is written to descriptor 1, the 16 bytes again, and ``0``, or ``1`` if the code
failed. So nothing that was written before the call can pass for its answer.
"""

import ast
import builtins
import linecache
import os
import random
import signal
import struct
import sys
import traceback
import types
from contextlib import suppress
from typing import Any

SOCKET = 3
"""The descriptor of the worker's socket; its output goes the same way."""

MARK = 16
"""Bytes that an answer begins and ends with."""

HEADER = struct.Struct(f"!{MARK}sdI")
_ABSENT = (
    "Threads, asyncio, processes, the network and files other than Python's are not available here: compute without."
)
"""What follows the traceback of an error that the confinement caused."""

_LIBRARIES = """
numpy numpy.testing numpy.polynomial numpy.ma scipy scipy.stats scipy.special scipy.optimize scipy.integrate
scipy.interpolate scipy.linalg scipy.constants pandas dateutil.parser dateutil.relativedelta
abc bisect calendar cmath collections.abc contextlib copy csv dataclasses datetime decimal difflib enum fractions
functools heapq inspect io itertools json logging math numbers operator pathlib pickle platform pprint random re secrets
statistics string struct sysconfig textwrap time timeit traceback types typing unicodedata uuid warnings zoneinfo
bz2 gzip hashlib hmac lzma sqlite3 zlib
_strptime encodings.ascii encodings.latin_1 encodings.utf_16 encodings.utf_8_sig encodings.cp1252 encodings.idna
"""


def import_libraries() -> None:
    """Import what code is likely to use, so that a fork has it at once; what is missing here is missing for code."""
    import site

    site.setquit()  # a file of a user's own has these, and site itself was not to look around
    site.sethelper()
    for name in _LIBRARIES.split():
        with suppress(ImportError):
            __import__(name)


class _Nowhere(str):
    """The path of a file that swallows all; opened, it is the worker's own descriptor of that file."""

    def __index__(self) -> int:
        return os.dup(0)


def forget_the_machine() -> None:
    """Take out of this process what Python keeps of how and where it was built and started."""
    import platform
    import sysconfig

    sys.modules.pop(sysconfig._get_sysconfigdata_name(), None)  # type: ignore[attr-defined]
    # What is asked for by code is read again, and a path in a text does not show.
    vars(sysconfig).update(_PROJECT_BASE="", _CONFIG_VARS=None, _CONFIG_VARS_INITIALIZED=False)
    os.devnull = _Nowhere(os.devnull)
    os.system = os.chroot  # type: ignore[assignment] # refused as well, but with an error in place of a number
    os.environ.clear()
    sys.path.pop()  # what is this side's own
    sys.argv[:] = sys.orig_argv[:] = ["main.py"]
    real = platform.uname()
    platform._uname_cache = real._replace(node="python", release="", version="")  # type: ignore[attr-defined]


class Session:
    """The variables of one example, and the code that runs on them, as the file of a user's own."""

    def __init__(self) -> None:
        self._calls = 0
        main = types.ModuleType("__main__")
        main.__file__ = "main.py"
        self.globals = main.__dict__
        self.globals |= {"__builtins__": builtins, "__annotations__": {}, **self.predefined()}
        sys.modules["__main__"] = main

    def predefined(self) -> dict[str, Any]:
        """Names that are there without an import."""
        import math

        import numpy
        import scipy

        return {"np": numpy, "numpy": numpy, "math": math, "scipy": scipy, "sp": scipy}

    def run(self, code: str) -> bool:
        """Run code as a file, but show a last expression as a REPL does; returns whether it failed."""
        self._calls += 1
        name = "main.py" if self._calls == 1 else f"main{self._calls}.py"
        linecache.cache[name] = (len(code), None, [f"{line}\n" for line in code.split("\n")], name)
        try:
            tree = ast.parse(code, name)
            last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
            body = self.compile(tree, name, "exec", 0, True)
            shown = self.compile(ast.Interactive(last), name, "single", 0, True)
            exec(body, self.globals)
            exec(shown, self.globals)
        except SystemExit as end:
            if not isinstance(end.code, (int, type(None))):
                print(end.code, file=sys.stderr)
            return bool(end.code)
        except BaseException as problem:
            _show(problem)
            return True
        return False

    compile: Any = staticmethod(compile)


def _show(problem: BaseException) -> None:
    """Print an error as the interpreter does, without the frames of this file."""
    try:
        frame = problem.__traceback__
        while frame and not frame.tb_frame.f_code.co_filename.startswith("main"):
            frame = frame.tb_next
        if isinstance(problem, SyntaxError) and problem.text is None:  # the compiler looked for a file of that name
            problem.text = linecache.getline(str(problem.filename), problem.lineno or 0) or None
        text = "".join(traceback.format_exception(type(problem), problem, frame)).rstrip("\n") + _hint(problem)
        print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
    except BaseException:  # the code's own __str__ may fail, its stream may be closed, or memory may be short
        os.write(1, b"Error: the code failed, and so did describing how\n")


def _hint(problem: BaseException) -> str:
    """What helps beyond the traceback."""
    absent = "PermissionError", "URLError", "gaierror"
    is_absent = type(problem).__name__ in absent or problem.args == ("can't start new thread",)
    return f"\n{_ABSENT}" if is_absent else ""


def serve(session: Session) -> None:
    """Answer calls until the socket closes."""
    os.closerange(SOCKET + 1, 1 << 16)
    random.seed()  # forks would all draw the same numbers
    with suppress(KeyError):
        sys.modules["numpy"].random.seed()
    requests = open(SOCKET, "rb", closefd=False)  # noqa: SIM115 - of the process, and not of this function
    output: Any = None
    while header := requests.read(HEADER.size):
        mark, seconds, length = HEADER.unpack(header)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # where the run has no hold on it
        os.write(SOCKET, mark)
        output = _streams(output)
        failed = session.run(requests.read(length).decode())
        for flush in (lambda: sys.stdout.flush(), output.flush):
            with suppress(BaseException):  # the code may have closed or replaced it
                flush()
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(SOCKET, mark + (b"1" if failed else b"0"))


def _streams(output: Any) -> Any:
    """Standard streams, whatever the last call did to them; errors go where the output goes, in order.

    The last call's ``output`` stays if it works: a logger that was set up then writes to it. Each line is sent as it is
    printed, so that it is there if the call does not end.
    """
    standard: Any = sys
    standard.stdout = standard.stderr = None  # what code put there may close the file below as it goes
    try:
        output.flush()
    except BaseException:  # there is none, or the code closed it, or took it apart
        output = open(1, "w", 1, encoding="utf-8", closefd=False)  # noqa: SIM115
    standard.stdout = standard.stderr = standard.__stdout__ = standard.__stderr__ = output
    standard.stdin = standard.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    return output
