"""Honest code gives in the sandbox what it gives in plain Python, byte for byte."""

import re
import sys

import pytest
from given import table
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(timeout=60, max_output=100_000) as sandbox:
        yield sandbox


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what a traceback shows of a line is each version's own")
def test_programs_give_what_was_recorded_of_cpython(sandbox):
    programs = table("programs")
    results = sandbox.run([(f"honest {number}", program) for number, (program, _) in enumerate(programs)])
    found = [(program, said, result.text) for (program, said), result in zip(programs, results, strict=True)]
    assert [each for each in found if _rounded(each[1]) != _rounded(each[2])] == []


def _rounded(text: str) -> str:
    """Without the last digits, in which one processor's linear algebra differs from another's."""
    return re.sub(r"\d+\.\d+(?:e[+-]\d+)?", lambda number: f"{float(number[0]):.6g}", text)


numbers = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
expressions = st.recursive(
    numbers.map(repr) | st.sampled_from(["a", "b"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "and", "or"]), inner)
        | st.builds("{}({})".format, st.sampled_from(["abs", "float", "str", "round", "min"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(expressions, numbers, numbers)
def test_expressions(sandbox, expression, a, b):
    (result,) = sandbox.run([("expressions", f"a = {a!r}\nb = {b!r}\nb += a\n{expression}")])
    try:
        end, failed = repr(eval(expression, {"a": a, "b": b + a})), False
    except Exception as problem:
        end, failed = f"{type(problem).__name__}: {problem}", True
    assert result.failed == failed
    assert result.text.endswith(end) if failed else result.text == end
