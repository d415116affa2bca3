"""Run a session's calls sequentially in its own process, and keep the variables between them.

A call arrives as a mark of 16 random bytes, the timeout in seconds after which the process kills itself (0: none), the
length of the code in bytes, and the code. Its result is sent as the mark, everything written to descriptor 1, the mark
again, and ``0``, or ``1`` if the code failed. Each call has a new mark, so output written before a call cannot be
mistaken for its result.
"""

import ast
import builtins
import io
import linecache
import os
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

END = "\x04"
"""The mark that ends an output whose final line breaks must be kept."""

HEADER = struct.Struct(f"!{MARK}sdI")
_ABSENT = (
    "Threads, asyncio, processes, the network and files other than Python's are not available here: compute without."
)
"""A hint for the model, printed after the traceback of an error that the confinement caused."""
_CAUSED_BY_CONFINEMENT = re.compile(
    r"([a-z]+\.)*(PermissionError|URLError|gaierror|RuntimeError: can't start new thread"
    r"|FileNotFoundError: .*No usable temporary directory)"
)
"""A pattern for the last line of the traceback of an error that the confinement caused."""

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
    """Import the libraries that code is likely to use, before any fork, and define ``quit`` and ``help``.

    Libraries that are not installed are skipped.
    """
    import site

    site.setquit()  # site is switched off, since it looks for files, but scripts expect quit() and help()
    site.sethelper()
    for name in _LIBRARIES.split():
        with suppress(ImportError):
            __import__(name)


class _NullDevice(str):
    """The path of the null device; opening it duplicates the worker's descriptor of that device."""

    def __index__(self) -> int:
        return os.dup(0)


def forget_the_machine() -> None:
    """Remove the host name, build configuration, environment and command line from Python's modules.

    ``os.system`` is replaced too, so that it raises an exception instead of returning a status.
    """
    import platform
    import sysconfig

    sys.modules.pop(sysconfig._get_sysconfigdata_name(), None)  # type: ignore[attr-defined]
    # Python reads these again when code asks for them; paths in them are removed from the output.
    vars(sysconfig).update(_PROJECT_BASE="", _CONFIG_VARS=None, _CONFIG_VARS_INITIALIZED=False)
    os.devnull = _NullDevice(os.devnull)
    os.system = os.chroot  # type: ignore[assignment] # it is refused too, but raises an exception
    os.environ.clear()
    sys.path.pop()  # the folder with this package
    sys.argv[:] = sys.orig_argv[:] = ["main.py"]
    real = platform.uname()
    platform._uname_cache = real._replace(node="python", release="", version="")  # type: ignore[attr-defined]


class Interpreter:
    """An interpreter that runs the code of one session as if it were the file ``main.py``, and keeps its variables."""

    def __init__(self) -> None:
        self._calls = 0
        main = types.ModuleType("__main__")
        main.__file__ = "main.py"
        self.globals = main.__dict__
        self.globals |= {"__builtins__": builtins, "__annotations__": {}, **self.predefined()}
        sys.modules["__main__"] = main

    def predefined(self) -> dict[str, object]:
        """Return the variables that are available to code without an import."""
        import math

        import numpy
        import scipy

        return {"np": numpy, "numpy": numpy, "math": math, "scipy": scipy, "sp": scipy}

    def run(self, code: str) -> bool:
        """Run code as a script, but print a last bare expression as a REPL does; return whether the code failed."""
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
        except BaseException as error:
            problem = error
        else:
            return False
        _show(problem)  # outside the block, during which Python 3.10 keeps the objects of the traceback alive
        return True

    compile: Any = staticmethod(compile)


def _show(problem: BaseException) -> None:
    """Print an exception's traceback without the frames of this file.

    If the confinement caused the exception, a hint for the model follows.
    """
    try:
        frame = problem.__traceback__
        while frame and not frame.tb_frame.f_code.co_filename.startswith("main"):
            frame = frame.tb_next
        if isinstance(problem, SyntaxError) and problem.text is None:  # Python looked for the source in a file
            problem.text = linecache.getline(str(problem.filename), problem.lineno or 0) or None
        lines = "".join(traceback.format_exception(type(problem), problem, frame)).rstrip("\n")
        text = lines + _suggestion(problem, lines)
        print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
        problem.__traceback__ = frame = None  # deletes objects now, since their destructors may print errors
        if _CAUSED_BY_CONFINEMENT.match(lines.rpartition("\n")[2]):
            print(_ABSENT, file=sys.stderr)
    except BaseException:  # its __str__ may fail, the stream may be closed, or memory may be short
        os.write(1, b"Error: the code failed, and its exception could not be printed\n")


def _suggestion(problem: BaseException, lines: str) -> str:
    """Return Python's addition to a traceback's last line, such as ``. Did you mean: 'sqrt'?``; empty without one."""
    with redirect_stderr(io.StringIO()) as shown:  # before 3.12, traceback gives no suggestions
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    _, has_message, addition = shown.getvalue().rstrip("\n").rpartition(lines.rpartition("\n")[2])
    return addition if has_message else ""


def serve(interpreter: Interpreter) -> None:
    """Run calls and send their results until the socket closes."""
    os.closerange(SOCKET + 1, 1 << 16)
    with suppress(KeyError):
        sys.modules["numpy"].random.seed()  # otherwise all forks would draw the same numbers; random does it itself
    requests = open(SOCKET, "rb", closefd=False)  # noqa: SIM115 - stays open until the process ends
    while header := requests.read(HEADER.size):
        mark, seconds, length = HEADER.unpack(header)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # for systems without pidfds
        os.write(SOCKET, mark)
        _open_streams()
        output = sys.stdout
        failed = interpreter.run(requests.read(length).decode())
        for flush in (lambda: sys.stdout.flush(), output.flush):
            with suppress(BaseException):  # the code may have closed or replaced the stream
                flush()
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(SOCKET, mark + (b"1" if failed else b"0"))


def _open_streams() -> None:
    """Open new standard streams, since the last call may have closed or replaced them.

    Errors go to the output stream too, so that their order is kept. Each line is sent as soon as it is printed, so that
    it arrives even if the call times out.
    """
    standard: Any = sys
    standard.stdout = standard.stderr = None  # first, since an object of the code may close descriptor 1 when deleted
    output = open(1, "w", 1, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open until the process ends
    standard.stdout = standard.stderr = standard.__stdout__ = standard.__stderr__ = output
    standard.stdin = standard.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
