"""Honest code gives in the sandbox what it gives in plain Python, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import plain_python
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_mistakes import MISTAKES
from sandbox_snippets import SNIPPETS

from medtasks_utils.sandbox import Result, Sandbox
from medtasks_utils.sandbox.output import readable


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(timeout=60, max_output=100_000) as sandbox:
        yield sandbox


def compiles(program: str) -> bool:
    """Whether this version of Python knows its syntax."""
    try:
        compile(program, "main.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def fails_alike(wanted: str, result: Result) -> bool:
    """Whether CPython ends in the same error: an older version of it, or of a library, lacks what a program uses."""
    missing = ("ImportError", "ModuleNotFoundError", "AttributeError", "TypeError")
    end = wanted.rpartition("\n")[2]
    return end.startswith(missing) and result.text.rpartition("\n")[2].startswith(end)


def test_programs(sandbox: Sandbox) -> None:
    programs = list(filter(compiles, SNIPPETS))
    expected = plain_python.outputs(programs)
    results = sandbox.run([(f"honest {number}", program) for number, program in enumerate(programs)])
    differences = {
        program: (wanted, result.text)
        for program, wanted, result in zip(programs, expected, results, strict=True)
        if not (fails_alike(wanted, result) if result.failed else wanted == result.text)
    }
    assert differences == {}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what a traceback shows of a line is each version's own")
def test_programs_that_fail_say_what_cpython_says(sandbox: Sandbox, tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    environment = {**plain_python._ENVIRONMENT, "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": "1"}
    expected = []
    for program in MISTAKES:
        main.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, main],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        expected.append(readable(done.stdout.replace(f"{tmp_path}/".encode(), b""), 10**6, sandbox.started().paths))
    results = sandbox.run([(f"mistake {number}", program) for number, program in enumerate(MISTAKES)])
    assert [result.text for result in results] == expected


numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
expressions = st.recursive(
    numbers.map(repr) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "and", "or"]), inner)
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.builds("{}({})".format, st.sampled_from(["abs", "float", "str", "round", "min"]), inner)
        | st.builds("'{{:.3f}}'.format({})".format, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(expressions, numbers, numbers)
def test_expressions(sandbox: Sandbox, expression: str, a: float, b: float) -> None:
    code = f"a = {a!r}\nb = {b!r}\nb += a\n{expression}"
    (result,) = sandbox.run([("expressions", code)])
    try:
        end, failed = repr(eval(expression, {"a": a, "b": b + a})), False
    except Exception as problem:
        end, failed = f"{type(problem).__name__}: {problem}", True
    assert result.failed == failed
    assert result.text.endswith(end) if failed else result.text == end
