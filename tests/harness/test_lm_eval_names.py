"""lm_eval is reached through one module, and the installed release has all that is taken from it."""

import re
from pathlib import Path

import medtasks_utils
from medtasks_utils.harness import lm_eval_names
from medtasks_utils.harness.lm_eval_names import NAMES, Name, missing, owner_of

PACKAGE = Path(medtasks_utils.__file__).parent


def test_the_installed_release_has_all_names():
    assert missing() == []
    for name, known in NAMES.items():
        assert known.purpose
        if "." not in name:
            assert getattr(lm_eval_names, name) is getattr(owner_of(name), name)


def test_every_name_is_used():
    sources = [path.read_text() for path in PACKAGE.rglob("*.py") if path.name != "lm_eval_names.py"]
    unused = [
        name
        for name in NAMES
        if not any(re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", source) for source in sources)
    ]
    assert unused == []


def test_a_name_that_a_release_lacks_is_listed(monkeypatch):
    monkeypatch.setitem(NAMES, "gone", Name("utils", "nothing", "utils: come"))
    monkeypatch.setitem(NAMES, "elsewhere", Name("gone", "nothing"))
    monkeypatch.setitem(NAMES, "LM.gone", Name("api.model", "nothing"))
    assert missing() == ["utils: gone; in its place utils: come", "gone: elsewhere", "api.model: LM.gone"]
