"""What CPython itself prints for programs: each runs as ``__main__`` in a process of its own, with nothing confined.

As a REPL does, and as the Python tool says it does, the value of a last bare expression is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence

_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": ""}


def outputs(programs: Sequence[str]) -> list[str]:
    """What each prints, without trailing line breaks; of one that fails, ``None`` stands for all of it."""
    environment = {**_ENVIRONMENT, "PATH": os.environ.get("PATH", "")}
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(programs), capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def _run(program: str) -> None:
    import ast
    import math
    import types

    import numpy
    import scipy

    main = types.ModuleType("__main__")
    vars(main).update(np=numpy, numpy=numpy, math=math, scipy=scipy, sp=scipy, __file__="main.py")
    sys.modules["__main__"] = main
    tree = ast.parse(program)
    end = tree.body[-1] if tree.body else None
    last = end if isinstance(end, ast.Expr) else None
    if last is not None:
        tree.body.pop()
    code = compile(tree, "main.py", "exec", dont_inherit=True)
    exec(code, vars(main))
    if last is not None:
        expression = ast.Expression(last.value)
        value = eval(compile(expression, "main.py", "eval", code.co_flags & 0x1FF0000, True), vars(main))
        if value is not None:
            print(repr(value))


def _in_a_child(program: str) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        sys.stderr = sys.stdout  # in order, as on a terminal
        warnings._showwarnmsg_impl = lambda message: None  # type: ignore[attr-defined]
        try:
            _run(program)
            sys.stdout.flush()
        except BaseException as error:
            sys.stdout.flush()
            os.write(1, f"\n{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as source:
        said = source.read()
    os.waitpid(child, 0)
    return said.decode("utf-8", "replace").rstrip("\n")


def main() -> None:
    """Programs as JSON on standard input, their outputs on standard output."""
    import pandas  # noqa: F401 - once, for all children
    import scipy.stats  # noqa: F401

    programs = json.load(sys.stdin)
    json.dump([_in_a_child(program) for program in programs], sys.stdout)


if __name__ == "__main__":
    main()
