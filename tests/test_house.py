"""The house: which room may use which, how long a file and a function may be, and that importing changes nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "medtasks_utils"
FILES = sorted(PACKAGE.rglob("*.py"))

FLOORS = [
    {"errors", "metrics", "registry", "statistics", "writing"},
    {"aggregation", "extraction", "sandbox"},
    {"intervals", "planning", "explanations", "judging", "tools"},
    {"benchmarks.card", "benchmarks.known_answers"},
    {"benchmarks.*.card", "benchmarks.*.known_answers"},
    {"benchmarks"},
    {"harness"},
    {"benchmarks.*"},
    {"results"},
    {"compare", "importing", "rescore", "publish", "audit"},
    {"report"},
    {"sweep"},
    {"extract", "selfcheck", "scoring"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
"""Rooms from the ground up: each may use those below it and, among its own modules, whatever makes no circle."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


def used(path: Path, only_at_import: bool = False) -> Iterator[str]:
    """The package's modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    nodes = tree.body if only_at_import else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and id(node) not in typing_only and node.module:
            for name in node.names:
                for module in (f"{node.module}.{name.name}", node.module):
                    if module in MODULES:
                        yield module
                        break


def floor_of(module: str) -> int:
    parts = module.split(".")[1:]
    rooms = parts[:1]
    if parts[0] == "benchmarks" and len(parts) > 1:
        rooms = [f"benchmarks.{parts[1]}", f"benchmarks.*.{parts[-1]}", "benchmarks.*"]
    return next(number for room in rooms for number, floor in enumerate(FLOORS) if room in floor)


def test_no_arrow_leads_up() -> None:
    upward = [
        f"{module} -> {other}"
        for module, path in MODULES.items()
        if module != "medtasks_utils"
        for other in used(path)
        if other != "medtasks_utils" and floor_of(other) > floor_of(module)
    ]
    assert not upward


def test_no_circle_of_imports() -> None:
    graph = {module: set(used(path)) - {module} for module, path in MODULES.items()}
    while graph:
        free = {module for module, others in graph.items() if not others & graph.keys()}
        assert free, f"a circle among {sorted(graph)}"
        graph = {module: others for module, others in graph.items() if module not in free}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_is_read_in_one_sitting(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is long"


def test_only_one_module_reaches_into_the_harness() -> None:
    signs = ("lm_eval._", "unittest.mock", "_metric_fn_list", "dbdict", ".task_index", "hash_args", "__self__")
    for path in FILES:
        if path.parent.name != "patches":
            text = path.read_text(encoding="utf-8")
            assert not [sign for sign in signs if sign in text], path


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.strip()


def test_reading_the_cards_imports_no_harness() -> None:
    found = python("import sys; from medtasks_utils.benchmarks import cards; print(*cards(), 'lm_eval' in sys.modules)")
    assert found == "medcalc_bench medexqa medhallu medmcqa False"


def test_importing_changes_nothing() -> None:
    code = """
import importlib, pkgutil, sys
from lm_eval import evaluator_utils
before = sys.excepthook, evaluator_utils.stderr_for_metric
import medtasks_utils
for module in pkgutil.walk_packages(medtasks_utils.__path__, "medtasks_utils."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print((sys.excepthook, evaluator_utils.stderr_for_metric) == before)
"""
    assert python(code) == "True"
