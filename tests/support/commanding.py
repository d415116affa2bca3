"""Commands, in this process and in others, and what they say."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.__main__ import main


def exit_code(words: Iterable[object]) -> int:
    """Of a command in this process, which argparse may end; words may be paths or numbers."""
    try:
        return main(list(map(str, words)))
    except SystemExit as end:
        return int(end.code or 0)


def succeed(*words: object) -> None:
    """Run a command in this process, which ends with exit code 0."""
    assert exit_code(words) == 0


def one_line(errors: str) -> str:
    """The only line of ours on standard error, which has to be its last."""
    assert "Traceback" not in errors
    lines = errors.strip().splitlines()
    assert [line for line in lines if line.startswith("medtasks: error: ")] == lines[-1:]
    return lines[-1].removeprefix("medtasks: error: ")


class Said(NamedTuple):
    """What a command said."""

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
    """Commands in one process of their own, one after the other; ``first`` is Python that it runs before."""
    words = [sys.executable, "-c", first + _COMMANDS, json.dumps(commands)]
    done = subprocess.run(
        words, cwd=cwd, env=clean_environment(environment), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return [Said(*told) for told in json.loads(done.stdout.splitlines()[-1])]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in ("MEDTASKS_DATA", "PYTHONHASHSEED")}
    return {**inherited, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", **(extra or {})}
