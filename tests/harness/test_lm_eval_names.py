"""lm_eval is reached through one module, and the installed release has all that is taken from it."""

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
