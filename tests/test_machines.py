"""Two machine ranks of ``accelerate launch``: the samples and scores of one process, in one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import clean_environment, saved_results, saved_samples
from launching import ON_PROCESSORS, free_port, launch

TASKS = ("medmcqa_openmed", "medcalc_bench_calculator")


def started(launcher: list[str], model: Path, folder: Path) -> subprocess.Popen[str]:
    command = [
        *(*launcher, "-m", "medtasks_utils.__main__", "eval", "--data", "sample", "--tasks", ",".join(TASKS)),
        *("--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--batch_size", "1"),
        *("--apply_chat_template", "--gen_kwargs", "max_gen_toks=6", "--limit", "7", "--log_samples"),
        *("--output_path", str(folder)),
    ]
    return subprocess.Popen(
        command, cwd=folder.parent, env=clean_environment(ON_PROCESSORS), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def samples(folder: Path) -> dict[Any, Any]:
    return {(task, s["doc_id"], s["filter"]): s for task in TASKS for s in saved_samples(folder, task)}


@pytest.mark.torch
def test_two_machine_ranks_give_what_one_process_gives(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="several processes are accelerate's")
    port = free_port()
    for name, launchers in {"one": [[sys.executable]], "two": [launch(port, 2, rank) for rank in range(2)]}.items():
        for process in [started(launcher, tiny_model, tmp_path / name) for launcher in launchers]:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors
    one, two = tmp_path / "one", tmp_path / "two"
    assert saved_results(two)["results"] == saved_results(one)["results"]
    assert saved_results(two)["n-samples"] == saved_results(one)["n-samples"]
    assert samples(two) == samples(one) and len(samples(one)) == 7 * 2 * len(TASKS)
