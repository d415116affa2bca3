"""What is replaced of lm_eval is still as it was seen; what is replaced is put back."""

import inspect

import pytest

from medtasks_utils.harness import patches
from medtasks_utils.harness.lm_eval_names import NAMES, owner_of
from medtasks_utils.harness.patches import IN_EVERY_RUN, IN_THE_COMMAND

REPLACED = sorted({*IN_EVERY_RUN, *IN_THE_COMMAND, *(name for name, known in NAMES.items() if known.parameters)})


@pytest.mark.parametrize("name", REPLACED)
def test_the_installed_release_has_what_is_replaced(name, monkeypatch):
    monkeypatch.undo()  # what all tests replace
    if "huggingface" in NAMES[name].module:
        pytest.importorskip("torch")
    found = getattr(owner_of(name), name.rpartition(".")[2])
    found = found.fget if isinstance(found, property) else inspect.unwrap(found)
    assert callable(found)
    assert " ".join(inspect.signature(found).parameters) == NAMES[name].parameters


def test_what_the_command_replaces_is_undone():
    before = [getattr(owner_of(name), name) for name in IN_THE_COMMAND]
    undo = patches.apply(IN_THE_COMMAND)
    during = [getattr(owner_of(name), name) for name in IN_THE_COMMAND]
    undo()
    assert [getattr(owner_of(name), name) for name in IN_THE_COMMAND] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
