"""A session's process: it runs the session's calls one after the other, and keeps the variables between them.

A request is a mark of 16 random bytes, the seconds after which the process ends itself (0: never), the code's length,
and the code. An answer is the mark, everything that is written to descriptor 1, the mark again, and ``0``, or ``1`` if
the code failed. The mark is new with each call, so nothing written before a call can pass for its answer.
"""

import ast
import builtins
import io
import linecache
import os
import random
import re
import signal
import struct
import sys
import traceback
import types
from contextlib import redirect_stderr, suppress
from typing import Any

SOCKET = 3
"""The descriptor of the worker's socket; descriptors 1 and 2 are copies of it."""

MARK = 16
"""The mark's length in bytes."""

HEADER = struct.Struct(f"!{MARK}sdI")
_ABSENT = (
    "Threads, asyncio, processes, the network and files other than Python's are not available here: compute without."
)
"""The hint that follows the traceback of an error which the confinement caused. The model reads it."""
_CAUSED_BY_CONFINEMENT = re.compile(
    r"([a-z]+\.)*(PermissionError|URLError|gaierror|RuntimeError: can't start new thread"
    r"|FileNotFoundError: .*No usable temporary directory)"
)
"""Matches the last line of such an error's traceback."""

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
    """Import what code is likely to use, so that forks need not; a package that is not installed is skipped."""
    import site

    site.setquit()  # scripts have quit() and help(), but site itself is switched off, since it looks for files
    site.sethelper()
    for name in _LIBRARIES.split():
        with suppress(ImportError):
            __import__(name)


class _NullDevice(str):
    """The path of the null device; opening it gives a copy of the worker's own descriptor of that device."""

    def __index__(self) -> int:
        return os.dup(0)


def forget_the_machine() -> None:
    """Remove what Python remembers of the machine: how and where it was built and started."""
    import platform
    import sysconfig

    sys.modules.pop(sysconfig._get_sysconfigdata_name(), None)  # type: ignore[attr-defined]
    # Code that asks for these gets them read again; paths in them are removed from its output.
    vars(sysconfig).update(_PROJECT_BASE="", _CONFIG_VARS=None, _CONFIG_VARS_INITIALIZED=False)
    os.devnull = _NullDevice(os.devnull)
    os.system = os.chroot  # type: ignore[assignment] # also refused, but by an exception instead of a number
    os.environ.clear()
    sys.path.pop()  # the folder with this package
    sys.argv[:] = sys.orig_argv[:] = ["main.py"]
    real = platform.uname()
    platform._uname_cache = real._replace(node="python", release="", version="")  # type: ignore[attr-defined]


class Interpreter:
    """The variables of one session, and a way to run code on them as if it were the file ``main.py``."""

    def __init__(self) -> None:
        self._calls = 0
        main = types.ModuleType("__main__")
        main.__file__ = "main.py"
        self.globals = main.__dict__
        self.globals |= {"__builtins__": builtins, "__annotations__": {}, **self.predefined()}
        sys.modules["__main__"] = main

    def predefined(self) -> dict[str, Any]:
        """Return the names that code can use without an import."""
        import math

        import numpy
        import scipy

        return {"np": numpy, "numpy": numpy, "math": math, "scipy": scipy, "sp": scipy}

    def run(self, code: str) -> bool:
        """Run code as a file, except that a last expression is shown as in a REPL; return whether the code failed."""
        self._calls += 1
        code = code.removeprefix("\ufeff")
        name = "main.py" if self._calls == 1 else f"main{self._calls}.py"
        linecache.cache[name] = (len(code), None, [f"{line}\n" for line in code.split("\n")], name)
        try:
            tree = ast.parse(code, name)
            last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
            body = self.compile(tree, name, "exec", 0, True)
            last_expression = self.compile(ast.Interactive(last), name, "single", 0, True)
            exec(body, self.globals)
            exec(last_expression, self.globals)
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
    """Print an exception's traceback without the frames of this file."""
    try:
        frame = problem.__traceback__
        while frame and not frame.tb_frame.f_code.co_filename.startswith("main"):
            frame = frame.tb_next
        if isinstance(problem, SyntaxError) and problem.text is None:  # Python looked for a file of that name
            problem.text = linecache.getline(str(problem.filename), problem.lineno or 0) or None
        lines = "".join(traceback.format_exception(type(problem), problem, frame)).rstrip("\n")
        text = lines + _suggestion(problem, lines)
        print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
        problem.__traceback__ = frame = None  # deletes the objects of its frames, which may print errors of their own
        if _CAUSED_BY_CONFINEMENT.match(lines.rpartition("\n")[2]):
            print(_ABSENT, file=sys.stderr)
    except BaseException:  # its __str__ may fail, the stream may be closed, or memory may be short
        os.write(1, b"Error: the code failed, and so did describing how\n")


def _suggestion(problem: BaseException, lines: str) -> str:
    """Return what Python adds to the last line, such as ``. Did you mean: 'sqrt'?``."""
    with redirect_stderr(io.StringIO()) as shown:  # before 3.12, the module traceback adds nothing
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    _, has_message, addition = shown.getvalue().rstrip("\n").rpartition(lines.rpartition("\n")[2])
    return addition if has_message else ""


def serve(interpreter: Interpreter) -> None:
    """Answer calls until the socket closes."""
    os.closerange(SOCKET + 1, 1 << 16)
    random.seed()  # forks would all draw the same numbers
    with suppress(KeyError):
        sys.modules["numpy"].random.seed()
    requests = open(SOCKET, "rb", closefd=False)  # noqa: SIM115 - open as long as the process lives
    output: Any = None
    while header := requests.read(HEADER.size):
        mark, seconds, length = HEADER.unpack(header)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # for systems on which the run cannot end this process
        os.write(SOCKET, mark)
        output = _streams(output)
        failed = interpreter.run(requests.read(length).decode())
        for flush in (lambda: sys.stdout.flush(), output.flush):
            with suppress(BaseException):  # the code may have closed or replaced it
                flush()
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(SOCKET, mark + (b"1" if failed else b"0"))


def _streams(output: Any) -> Any:
    """Restore the standard streams, whatever the last call did to them, and return the output stream.

    Errors go to the output stream too, so that their order is kept. The last call's ``output`` is used again if it
    works, since a logger that was set up then writes to it. Each line is sent as it is printed, so that it arrives even
    if the call does not end.
    """
    standard: Any = sys
    standard.stdout = standard.stderr = None  # an object that code put there may close descriptor 1 when it is deleted
    try:
        output.flush()
    except BaseException:  # this is the first call, or code closed or changed it
        output = open(1, "w", 1, encoding="utf-8", closefd=False)  # noqa: SIM115
    standard.stdout = standard.stderr = standard.__stdout__ = standard.__stderr__ = output
    standard.stdin = standard.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    return output
