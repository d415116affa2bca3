"""Sample logs for the tests of ``medtasks rescore``: the harness's own, and lines made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conftest import Row
from saved_runs import save_run


def run_harness(folder: Path, tasks: Sequence[str], answer: Callable[[Row], Any], **options: Any) -> Path:
    """A run of the real harness, saved by its own code as ``--log_samples`` does; the folder with the logs."""
    return save_run(folder, answer, tasks, metadata={"medexqa": options}).parent


def explained(doc: Row) -> str:
    """A right answer to the first two questions of a specialty, a wrong one to the others; every text is another."""
    number = int(doc["id"].rsplit("/", 1)[1])
    letter = "ABCD"[(doc["answer_idx"] + (number > 1)) % 4]
    return f'<think>Say "B", or A?</think>\nThe answer is {letter}.\n\n{doc["id"]} explains, in full.'
