"""lm_eval is reached through one module, and the installed release has all that is taken from it."""

import ast
import re
from pathlib import Path

import pytest

import medtasks_utils
from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness import lm_eval_names
from medtasks_utils.harness.lm_eval_names import NAMES, Name, missing, owner_of

PACKAGE = Path(medtasks_utils.__file__).parent
DOORS = {PACKAGE / "harness" / "lm_eval_names.py", PACKAGE / "harness" / "deferred_imports.py"}


def modules_reached(path: Path) -> list[str]:
    """Modules of lm_eval that a source file imports or names in a string of its own, such as for import_module."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.append(node.value)
    return [name for name in names if re.fullmatch(r"lm_eval(\.\w+)+(:\w+)?", name) and name not in LOGGERS]


LOGGERS = {"lm_eval.medtasks", "lm_eval.loggers.evaluation_tracker", "lm_eval.tasks._index"}


def test_one_module_reaches_lm_eval():
    reached = {path: modules_reached(path) for path in PACKAGE.rglob("*.py") if path not in DOORS}
    assert {path: names for path, names in reached.items() if names} == {}
    assert modules_reached(PACKAGE / "harness" / "deferred_imports.py"), "the search finds what there is"


def test_the_installed_release_has_all_names():
    assert missing() == []
    for name, known in NAMES.items():
        assert known.purpose
        if "." not in name:
            assert getattr(lm_eval_names, name) is getattr(owner_of(name), name)


def test_every_name_is_used():
    sources = [path.read_text() for path in PACKAGE.rglob("*.py") if path not in DOORS]
    unused = [
        name
        for name in NAMES
        if not any(re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", source) for source in sources)
    ]
    assert unused == []


def test_a_name_that_a_release_lacks_is_one_line(monkeypatch):
    monkeypatch.setitem(NAMES, "gone", Name("utils", "nothing", "utils: come"))
    monkeypatch.setitem(NAMES, "elsewhere", Name("gone", "nothing"))
    monkeypatch.setitem(NAMES, "LM.gone", Name("api.model", "nothing"))
    assert missing() == ["utils: gone; in its place utils: come", "gone: elsewhere", "api.model: LM.gone"]
    for name in ("gone", "elsewhere"):
        with pytest.raises(MedtasksError, match=rf"lm_eval \S+ has no \w+\.{name}, which"):
            getattr(lm_eval_names, name)
    with pytest.raises(AttributeError):
        _ = lm_eval_names.unheard_of
