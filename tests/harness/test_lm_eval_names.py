"""lm_eval is reached through one module, and the installed release has all that is taken from it."""

import re
from unittest.mock import Mock

import pytest
from given import error_line

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness import lm_eval_names
from medtasks_utils.harness.lm_eval_names import NAMES, Name, missing, owner_of


def test_the_installed_release_has_all_names():
    assert missing() == []
    for name, known in NAMES.items():
        assert known.purpose
        if "." not in name:
            assert getattr(lm_eval_names, name) is getattr(owner_of(name), name)


def test_a_name_that_a_release_lacks_is_listed(monkeypatch):
    monkeypatch.setitem(NAMES, "gone", Name("utils", "nothing", "utils: come"))
    monkeypatch.setitem(NAMES, "elsewhere", Name("gone", "nothing"))
    monkeypatch.setitem(NAMES, "LM.gone", Name("api.model", "nothing"))
    assert missing() == ["utils: gone; in its place utils: come", "gone: elsewhere", "api.model: LM.gone"]


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
