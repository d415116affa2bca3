"""Run commands, in this process and in others, and read their output."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.__main__ import main


def exit_code(words: Iterable[object]) -> int:
    """Run a command in this process, and return its exit code, even if argparse exits; words may be of any type."""
    try:
        return main(list(map(str, words)))
    except SystemExit as end:
        return int(end.code or 0)


def succeed(*words: object) -> None:
    """Run a command in this process, and check that its exit code is 0."""
    assert exit_code(words) == 0


def one_line(errors: str) -> str:
    """Return the only line of ours on standard error; check that it is the last."""
    assert "Traceback" not in errors
    lines = errors.strip().splitlines()
    assert [line for line in lines if line.startswith("medtasks: error: ")] == lines[-1:]
    return lines[-1].removeprefix("medtasks: error: ")


class Said(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    errors: str


_COMMANDS = """
from medtasks_utils.__main__ import main
import contextlib, io, json, sys
told = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    told.append([code, out.getvalue(), errors.getvalue()])
print(json.dumps(told))
"""


def medtasks(*commands: list[str], cwd: Path, first: str = "", **environment: str) -> list[Said]:
    """Run commands one after the other in a separate process, after the Python code ``first``."""
    words = [sys.executable, "-c", first + _COMMANDS, json.dumps(commands)]
    done = subprocess.run(
        words, cwd=cwd, env=clean_environment(environment), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return [Said(*told) for told in json.loads(done.stdout.splitlines()[-1])]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("MEDTASKS_DATA", "PYTHONHASHSEED")}
    return {**inherited, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", **(extra or {})}
