"""Honest code gives in the sandbox what it gives in plain Python, byte for byte."""

import re
import sys
from itertools import combinations

import pytest
from given import table

from medtasks_utils.sandbox import Sandbox
from medtasks_utils.sandbox.layout import Layout


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(timeout=60, max_output=100_000) as sandbox:
        yield sandbox


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what a traceback shows of a line is each version's own")
def test_honest_programs_print_what_cpython_prints(sandbox):
    programs, said = zip(*table("programs"), strict=True)
    results = sandbox.run([(f"honest {number}", program) for number, program in enumerate(programs)])
    assert [_rounded(result.text) for result in results] == [*map(_rounded, said)]


def test_paths_in_a_folder_are_removed_from_output_before_the_folder():
    layout = Layout()
    layout.remove()
    assert not any(later.startswith(f"{earlier}/") for earlier, later in combinations(layout.paths, 2))


def _rounded(text):
    """Without the last digits, in which one processor's linear algebra differs from another's."""
    return re.sub(r"\d+\.\d+(?:e[+-]\d+)?", lambda number: f"{float(number[0]):.6g}", text)
