"""A session's process: runs the calls of one example one after the other, and keeps its variables between them.

A request is 16 bytes that end the answer, four bytes of length, and code. Everything written to descriptor 1 is the
answer; after it come the 16 bytes again and ``0``, or ``1`` if the code failed. The 16 bytes are new with each call:
nothing that was written before the call can end it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
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
from collections.abc import Callable
from typing import Any

SOCKET = 3
"""The descriptor of the worker's socket; its output goes the same way."""

HEADER = struct.Struct("!16sI")
SPAWNED, FAILED = b"+", b"-"
"""First byte of the answer to the wish for a worker; then its process's number, or the error's, in four bytes."""

_FLAGS = 0x1FF0000
"""Of a code object's flags, those of ``from __future__ import``."""

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
        with contextlib.suppress(ImportError):
            __import__(name)


def forget_the_machine(folder: str) -> None:
    """Take out of this process what Python keeps of how and where it was built and started."""
    import platform
    import sysconfig
    import warnings

    warnings._showwarnmsg_impl = lambda message: None  # type: ignore[attr-defined]
    os.environ.clear()
    sys.path[:] = [entry for entry in sys.path if entry.startswith(folder) and not entry.endswith("/own")]
    sys.argv[:] = sys.orig_argv[:] = ["main.py"]
    sys.dont_write_bytecode = True
    ours = ("pyseccomp", "_sysconfigdata", __package__)
    for name in [name for name in sys.modules if name.startswith(ours)]:
        build = getattr(sys.modules.pop(name), "build_time_vars", {})
        build.clear()
    built = sysconfig.get_config_vars()
    for key in [key for key, value in built.items() if isinstance(value, str) and "/" in value]:
        del built[key]
    sysconfig._PROJECT_BASE = folder  # type: ignore[attr-defined]
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

        return {"np": numpy, "numpy": numpy, "math": math}

    def run(self, code: str) -> bool:
        """Run code as a file, but show a last expression as a REPL does; returns whether it failed."""
        self._calls += 1
        name = "main.py" if self._calls == 1 else f"main{self._calls}.py"
        linecache.cache[name] = (len(code), None, [f"{line}\n" for line in code.split("\n")], name)
        try:
            self.execute(code, name)
        except SystemExit as end:
            if end.code is None or end.code == 0:
                return False
            if not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
            return True
        except BaseException as problem:
            _show(problem)
            return True
        return False

    def execute(self, code: str, name: str) -> None:
        """Compile and run."""
        tree = ast.parse(code, name)
        last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
        body = compile(tree, name, "exec", dont_inherit=True)
        shown = compile(ast.Interactive(last), name, "single", body.co_flags & _FLAGS, dont_inherit=True)
        exec(body, self.globals)
        exec(shown, self.globals)


def _show(problem: BaseException) -> None:
    """Print an error as the interpreter does, without the frames of this file."""
    try:
        frame = problem.__traceback__
        while frame is not None and not frame.tb_frame.f_code.co_filename.startswith("main"):
            frame = frame.tb_next
        if isinstance(problem, SyntaxError) and problem.text is None:  # the compiler looked for a file of that name
            problem.text = linecache.getline(str(problem.filename), problem.lineno or 0) or None
        if sys.excepthook is sys.__excepthook__:
            text = "".join(traceback.format_exception(type(problem), problem, frame)).rstrip("\n") + _hint(problem)
            print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
        else:
            sys.excepthook(type(problem), problem, frame)
    except BaseException:  # the code's own __str__ may fail, or memory may be short
        print("Error: the code failed, and so did describing how", file=sys.stderr)


def _hint(problem: BaseException) -> str:
    """What the interpreter itself says after a name that is not there, before Python 3.12 made the library say it."""
    if sys.version_info >= (3, 12) or not isinstance(problem, (AttributeError, NameError)):
        return ""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        sys.__excepthook__(type(problem), problem, problem.__traceback__)
    found = re.search(r"\. Did you mean: '.*'\?$", said.getvalue())
    return found[0] if found else ""


def become(descriptor: int) -> None:
    """Turn a fork into a worker with descriptors of its own: no input, its socket for output and for requests."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (1, 2, SOCKET):
        os.dup2(descriptor, number)
    nothing, other = os.pipe()
    os.dup2(nothing, 0)
    os.close(other)


def serve(session: Session) -> None:
    """Answer calls until the socket closes."""
    os.closerange(SOCKET + 1, 1 << 16)
    random.seed()  # forks would all draw the same numbers
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    output = None
    while True:
        end, length = HEADER.unpack(_read(HEADER.size))
        output = _streams(output)
        failed = session.run(_read(length).decode("utf-8", "replace"))
        _flush(getattr(sys, "stdout", None), output)
        _write(end + (b"1" if failed else b"0"))


def _streams(output: Any) -> Any:
    """Standard streams, whatever the last call did to them; errors go where the output goes, in order.

    The last call's ``output`` stays if it works: a logger that was set up then writes to it.
    """
    try:
        output.flush()
    except BaseException:  # there is none, or the code closed it, or took it apart
        output = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - of the process, not of this function
    standard: Any = sys
    standard.stdout = standard.stderr = standard.__stdout__ = standard.__stderr__ = output
    standard.stdin = standard.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    return output


def _flush(*streams: Any) -> None:
    for stream in streams:
        with contextlib.suppress(BaseException):  # the code may have closed or replaced it
            stream.flush()


def _read(length: int) -> bytes:
    parts = []
    while length:
        data = os.read(SOCKET, min(length, 1 << 16))
        if not data:
            os._exit(0)
        parts.append(data)
        length -= len(data)
    return b"".join(parts)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(SOCKET, data) :]


def warm_up(make_session: Callable[[], Session], code: str) -> None:
    """Run code of our own in this process, and leave nothing of it but the interpreter's adaptations."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = nowhere
        try:
            make_session().run(code)
        finally:
            sys.stdout, sys.stderr = streams
            linecache.clearcache()
