"""Honest code gives in the sandbox what it gives in plain Python, byte for byte."""

from __future__ import annotations

import doctest
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import plain_python
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_clinical import PROGRAMS
from sandbox_mistakes import MISTAKES
from sandbox_snippets import SNIPPETS

from medtasks_utils.sandbox import Result, Sandbox
from medtasks_utils.sandbox.output import readable

DOCUMENTED = ("numpy", "scipy.stats", "statistics", "datetime", "decimal", "fractions", "math", "collections", "random")
NEEDS_FILES = (
    "open(", "getsource",
    "tofile", "fromfile", "np.save", "np.load", "memmap", "savetxt", "tempfile", "outfile", "urlopen",
    "matplotlib", "torch", "show_config", "get_include", "DataSource", "np.info", "show_runtime", "test.out",
    "all='print'",  # numpy then writes past Python to the C library's own buffer, in no order with the rest
)  # fmt: skip
BATCH = 200
REPEATS = 10
DRIVER = """
import functools, random, warnings
import numpy.random
random.seed(0)
numpy.random.seed(0)
numpy.random.default_rng = functools.partial(numpy.random.default_rng, 0)
from {module} import *
for source in {sources!r}:
    try:
        exec(compile(source, "doc.py", "single"), globals())
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(timeout=60, max_output=100_000) as sandbox:
        yield sandbox


def differences(sandbox: Sandbox, programs: list[str]) -> dict[str, tuple[str, str]]:
    """By program, what CPython and the sandbox give, where these are not the same."""
    expected = plain_python.outputs(programs)
    results = sandbox.run([(f"honest {number}", program) for number, program in enumerate(programs)])
    for number in range(len(programs)):
        sandbox.forget(f"honest {number}")
    return {
        program: (wanted, result.text)
        for program, wanted, result in zip(programs, expected, results, strict=True)
        if not (fails_alike(wanted, result) if result.failed else wanted == result.text)
    }


def fails_alike(wanted: str, result: Result) -> bool:
    """Whether CPython ends in the same error: an older version of it, or of a library, lacks what a program uses."""
    missing = ("ImportError", "ModuleNotFoundError", "AttributeError", "TypeError")
    end = wanted.rpartition("\n")[2]
    return end.startswith(missing) and result.text.rpartition("\n")[2].startswith(end)


def test_there_are_many() -> None:
    assert len(set(SNIPPETS) | set(PROGRAMS)) == len(SNIPPETS) + len(PROGRAMS) >= 400


def compiles(program: str) -> bool:
    """Whether this version of Python has all of the program's syntax."""
    try:
        compile(program, "main.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def test_clinical_programs_in_short(sandbox: Sandbox) -> None:
    assert differences(sandbox, list(filter(compiles, [*SNIPPETS[::16], *PROGRAMS[::96]]))) == {}


@pytest.mark.slow
def test_clinical_programs(sandbox: Sandbox) -> None:
    assert differences(sandbox, list(filter(compiles, [*SNIPPETS, *PROGRAMS]))) == {}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what a traceback shows of a line is each version's own")
@pytest.mark.parametrize("share", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_programs_that_fail_say_what_cpython_says(sandbox: Sandbox, tmp_path: Path, share: int) -> None:
    programs = MISTAKES[::share]
    main = tmp_path / "main.py"
    environment = {**plain_python._ENVIRONMENT, "PYTHONWARNINGS": "ignore", "PYTHONUNBUFFERED": "1"}
    expected = []
    for program in programs:
        main.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, main],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        expected.append(done.stdout.replace(f"{tmp_path}/", "").rstrip("\n"))
    results = sandbox.run([(f"mistake {number}", program) for number, program in enumerate(programs)])
    for number in range(len(programs)):
        sandbox.forget(f"mistake {number}")
    paths = sandbox.started().paths
    assert [result.text for result in results] == [readable(text.encode(), 10**6, paths) for text in expected]


def examples(module_name: str) -> Iterator[str]:
    """Programs of the examples in docstrings of a module's public names and their methods."""
    module = importlib.import_module(module_name)
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    parser = doctest.DocTestParser()
    seen = set()
    for name in names:
        public = getattr(module, name, None)
        methods = (
            [each for key, each in vars(public).items() if not key.startswith("_")] if inspect.isclass(public) else []
        )
        for documented in [public, *methods]:
            text = inspect.getdoc(documented) if not inspect.ismodule(documented) else None
            if not text or ">>>" not in text or text in seen or any(word in text for word in NEEDS_FILES):
                continue
            seen.add(text)
            try:
                sources = [example.source for example in parser.get_examples(text)]
            except ValueError:  # not in doctest's form
                continue
            yield DRIVER.format(module=module_name, sources=sources)


def repeatable(programs: list[str]) -> list[str]:
    """Those that print the same each time: none that shows an address or memory that nothing was written to."""
    runs = [plain_python.outputs(programs) for _ in range(REPEATS)]  # in processes anew: forks share their addresses
    return [program for program, *outputs in zip(programs, *runs, strict=True) if len(set(outputs)) == 1]


@pytest.mark.slow
@pytest.mark.parametrize("module", DOCUMENTED)
def test_docstring_examples(sandbox: Sandbox, module: str) -> None:
    programs = list(examples(module))
    for start in range(0, len(programs), BATCH):
        if found := differences(sandbox, programs[start : start + BATCH]):
            assert {program: found[program] for program in repeatable(list(found))} == {}


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


@settings(max_examples=100)
@given(expressions, numbers, numbers)
def test_expressions(sandbox: Sandbox, expression: str, a: float, b: float) -> None:
    code = f"a = {a!r}\nb = {b!r}\nb += a\n{expression}"
    (result,) = sandbox.run([("expressions", code)])
    try:
        end = repr(eval(expression, {"a": a, "b": b + a}))
        failed = False
    except Exception as problem:
        end, failed = f"{type(problem).__name__}: {problem}", True
    assert result.failed == failed
    assert result.text.endswith(end) if failed else result.text == end
