"""What is replaced of lm_eval is still as it was seen; what is replaced is put back."""

import inspect

import pytest

from medtasks_utils.harness import patches
from medtasks_utils.harness.lm_eval_names import NAMES
from medtasks_utils.harness.patches import IN_EVERY_RUN, IN_THE_COMMAND


@pytest.mark.parametrize("patch", [*IN_EVERY_RUN, *IN_THE_COMMAND], ids=lambda patch: patch.name)
def test_the_installed_release_has_what_is_replaced(patch, monkeypatch):
    monkeypatch.undo()  # what all tests replace
    if "huggingface" in NAMES[patch.name].module:
        pytest.importorskip("torch")
    found = patches.original(patch)
    found = found.fget if isinstance(found, property) else inspect.unwrap(found)
    assert callable(found)
    assert " ".join(inspect.signature(found).parameters) == patch.parameters
    assert patch.without


def test_what_the_command_replaces_is_undo():
    before = [patches.original(patch) for patch in IN_THE_COMMAND]
    undo = patches.apply(IN_THE_COMMAND)
    during = [patches.original(patch) for patch in IN_THE_COMMAND]
    undo()
    assert [patches.original(patch) for patch in IN_THE_COMMAND] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
