"""Read and write the records in a job's folder."""

import json
import sys
from functools import cache
from pathlib import Path

from medtasks_utils.writing import JsonObject, read_json, write_whole

JOB_FILE = "job.json"


def read_record(path: Path) -> JsonObject:
    """Return the object in a JSON file; an empty dict if the file is missing or, with a warning, damaged."""
    try:
        record: object = read_json(path)
        if isinstance(record, dict):
            return record
    except ValueError:
        pass
    _tell_damaged(path)
    return {}


@cache  # since such files do not change
def is_whole(results: Path) -> bool:
    """Return whether a results file is intact; print a warning if it is damaged."""
    return bool(read_record(results))


@cache  # once
def _tell_damaged(path: Path) -> None:
    print(f"{path} is damaged, perhaps because the disk was full, and is ignored", file=sys.stderr)


def note_end(folder: Path, code: int) -> None:
    """Record a job's exit code and final state, which quotes the last line of the log if the job failed."""
    state = f"failed with exit code {code}: {last_lines(folder / 'log.txt', 1)}" if code else "done"
    path = folder / JOB_FILE
    record = {name: value for name, value in read_record(path).items() if name != "since"}
    write_whole(path, json.dumps({**record, "code": code, "state": state}))


def last_lines(log: Path, count: int) -> str:
    """Return the last lines of a log; empty if there is no such log."""
    lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines() if log.exists() else []
    return "\n".join(lines[-count:])
