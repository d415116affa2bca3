"""Names that are used or replaced in lm_eval: the tables are complete and true, and replacements are undone."""

import inspect
import re
from unittest.mock import Mock

import pytest
from given import error_line

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness import lm_eval_names, patches
from medtasks_utils.harness.lm_eval_names import NAMES, Name, missing, owner_of
from medtasks_utils.harness.patches import REPLACED, made_from_original

TABLE = {each.name for each in REPLACED}


# ---- what is taken


def test_the_installed_release_has_all_names():
    assert missing() == []
    for name, known in NAMES.items():
        assert known.purpose
        if "." not in name:
            assert getattr(lm_eval_names, name) is getattr(owner_of(name), name)


def test_names_that_a_release_lacks_are_listed_with_what_replaces_them(monkeypatch):
    for name, module in (("Gone", "api.task"), ("Task.gone", "api.task"), ("any", "models.of_no_package")):
        monkeypatch.setitem(NAMES, name, Name(module, "tests", "Scorer" if name == "Gone" else ""))
    assert missing() == ["api.task: Gone; in its place Scorer", "api.task: Task.gone", "models.of_no_package: any"]


@pytest.mark.parametrize(
    "error",
    [ImportError("Cannot import module"), ModuleNotFoundError("No", name="lm_eval.gone"), AttributeError("no x")],
)
def test_with_a_release_that_is_not_supported_one_line_names_those_that_are(error, monkeypatch):
    monkeypatch.setattr(lm_eval_names, "owner_of", Mock(side_effect=error))
    line = error_line(MedtasksError, getattr, lm_eval_names, "Instance")
    assert re.fullmatch(rf"lm_eval 0.4.13 is not supported \({error}\): pip install 'lm-eval\[api\][<>=0-9.,]+'", line)


def test_a_package_that_a_model_needs_is_another_error(monkeypatch):
    monkeypatch.setattr(lm_eval_names, "owner_of", Mock(side_effect=ModuleNotFoundError("No torch", name="torch")))
    with pytest.raises(ModuleNotFoundError, match="No torch"):
        lm_eval_names.Instance  # noqa: B018


# ---- what is replaced


@pytest.mark.parametrize("name", sorted(TABLE - {"datasets"} | {name for name in NAMES if NAMES[name].parameters}))
def test_the_installed_release_has_what_is_replaced(name, monkeypatch):
    monkeypatch.undo()  # what all tests replace
    if NAMES[name].module.startswith("models.") and "api" not in NAMES[name].module:
        pytest.importorskip("torch")
    if not NAMES[name].parameters:
        return
    found = getattr(owner_of(name), name.rpartition(".")[2])
    found = inspect.unwrap(getattr(found, "fget", found))  # of a property
    assert " ".join(inspect.signature(found).parameters) == NAMES[name].parameters


def test_what_eval_replaces_in_lm_eval_is_put_back():
    names = made_from_original("command")
    before = [getattr(owner_of(name), name) for name in names]
    undo = patches.apply("command")
    during = [getattr(owner_of(name), name) for name in names]
    undo()
    assert [getattr(owner_of(name), name) for name in names] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
