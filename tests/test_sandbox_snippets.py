"""Honest code gives in the sandbox what it gives in plain Python."""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_snippets import SNIPPETS

from medtasks_utils.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(timeout=30) as sandbox:
        yield sandbox


def plain(code: str) -> str:
    """What a REPL would show for the code as a whole."""
    tree = ast.parse(code)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(tree, "<plain>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<plain>", "eval"), namespace)
            if value is not None:
                print(repr(value))
    return output.getvalue().rstrip("\n")


def test_there_are_many() -> None:
    assert len(SNIPPETS) == len(set(SNIPPETS)) >= 80


@pytest.mark.parametrize("code", SNIPPETS, ids=range(1, len(SNIPPETS) + 1))
def test_same_as_plain_python(sandbox: Sandbox, code: str) -> None:
    (result,) = sandbox.run([(code, code)])
    assert not result.failed, result.text
    assert result.text == plain(code)


numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
expressions = st.recursive(
    numbers.map(repr) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "and", "or"]), inner
        )
        | st.builds("({} if {} else {})".format, inner, inner, inner)
        | st.builds("{}({})".format, st.sampled_from(["abs", "float", "str", "round", "min"]), inner)
        | st.builds("'{{:.3f}}'.format({})".format, inner)
        | st.builds("[x for x in ({}, {})][-1]".format, inner, inner)
        | st.builds("max({}, key=lambda v: str(v))".format, st.builds("({}, {})".format, inner, inner))
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(expressions, numbers, numbers)
def test_expressions_same_as_plain_python(sandbox: Sandbox, expression: str, a: float, b: float) -> None:
    code = f"a = {a!r}\nb = {b!r}\nb += a\n{expression}"
    (result,) = sandbox.run([("expressions", code)])
    assert (result.failed, result.text) == expected(code)


def expected(code: str) -> tuple[bool, str]:
    try:
        return False, plain(code)
    except Exception as error:
        return True, f"{type(error).__name__} (line 4): {error}"
