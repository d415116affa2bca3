"""What is replaced of lm_eval is still as it was seen; what is replaced is put back."""

from __future__ import annotations

import inspect

import pytest

from medtasks_utils.harness import patches
from medtasks_utils.harness.patches import OF_THE_COMMAND, TABLE, Patch


@pytest.mark.parametrize("patch", [*TABLE, *OF_THE_COMMAND], ids=lambda patch: f"{patch.place}.{patch.name}")
def test_the_installed_release_has_what_is_replaced(patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # what all tests replace
    if "huggingface" in patch.place:
        pytest.importorskip("torch")
    found = patches.original(patch)
    found = found.fget if isinstance(found, property) else inspect.unwrap(found)
    assert callable(found)
    assert " ".join(inspect.signature(found).parameters) == patch.parameters
    assert patch.without


def test_what_the_command_replaces_is_put_back() -> None:
    before = [patches.original(patch) for patch in OF_THE_COMMAND]
    put_back = patches.apply(OF_THE_COMMAND)
    during = [patches.original(patch) for patch in OF_THE_COMMAND]
    put_back()
    assert [patches.original(patch) for patch in OF_THE_COMMAND] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
