"""What is replaced of lm_eval is all in one table, is still as it was seen, and is put back."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from commanding import clean_environment
from given import ROOT

from medtasks_utils.harness import patches
from medtasks_utils.harness.lm_eval_names import NAMES, owner_of
from medtasks_utils.harness.patches import REPLACED, made_from_original

TABLE = {each.name for each in REPLACED}
NEVER_SEEN = {"LM._rank", "LM._world_size", "TemplateAPI.max_length", "VLLM._model_generate"}
"""What is replaced under accelerate, for a server with a tokenizer, and with vLLM."""


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


def replaced_in_a_run(folder: Path, *model: str) -> set[str]:
    """What is replaced when the model gets its first request, as a process of its own finds it."""
    words = [sys.executable, str(ROOT / "tests/support/replaced.py"), *model, str(folder)]
    environment = clean_environment({"PYTHONPATH": str(ROOT / "tests/support")})
    found = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    return set(json.loads(found.stdout.splitlines()[-1]))


def test_the_table_has_what_a_run_with_a_server_has_replaced(tmp_path):
    assert replaced_in_a_run(tmp_path, "server") == TABLE - NEVER_SEEN - {"HFLM._model_generate"}


@pytest.mark.torch
def test_the_table_has_what_a_run_in_this_process_has_replaced(tiny_model, tmp_path):
    assert replaced_in_a_run(tmp_path, "hf", str(tiny_model)) == TABLE - NEVER_SEEN


def test_what_the_command_replaces_is_undone():
    names = made_from_original("command")
    before = [getattr(owner_of(name), name) for name in names]
    undo = patches.apply("command")
    during = [getattr(owner_of(name), name) for name in names]
    undo()
    assert [getattr(owner_of(name), name) for name in names] == before
    assert not any(one is other for one, other in zip(before, during, strict=True))
