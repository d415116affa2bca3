"""Sample logs for the tests of ``medtasks rescore``: the harness's own, and lines made by hand."""

from __future__ import annotations

import json
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


def sample(number: int, specialty: str = "clinical_psychology", **fields: Any) -> dict[str, Any]:
    """A line of a log, by default of a right answer."""
    doc = {
        "id": f"{specialty}/test/{number}",
        "specialty": specialty,
        "question": f"Question {number}?",
        "options": ["one", "two", "three", "four"],
        "answer_letter": "B",
        "answer_idx": 1,
        "explanation_1": f"Reference 1 of {number}.",
        "explanation_2": f"Reference 2 of {number}.",
    }
    doc |= {key: value for key, value in fields.items() if key in doc}
    line = {
        "doc_id": number,
        "doc": doc,
        "target": "B",
        "arguments": {"gen_args_0": {"arg_0": "prompt", "arg_1": {}}},
        "resps": [[f"The answer is B. Because of {number}."]],
        "filtered_resps": ["B"],
        "filter": "strict-match",
        "doc_hash": f"hash {number}",
    }
    return line | {key: value for key, value in fields.items() if key not in doc}


def write_log(
    folder: Path,
    lines: Sequence[dict[str, Any]],
    task: str = "medexqa_clinical_psychology",
    date: str = "2026-01-02T03-04-05.678901",
    tail: str = "",
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + tail, encoding="utf-8")
    return path
