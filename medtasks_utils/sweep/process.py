"""A job's process: ``python -m medtasks_utils.sweep.process SERVER eval …``.

SERVER is empty where none is waited for. Where it does not answer, the process ends with :data:`NO_SERVER` at once, so
that what it would run on is free meanwhile. It ends, with all that it started, when the process that started it does.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

NO_SERVER = 75
"""The exit code of a process whose server does not answer yet."""

_ASKED = 5.0  # seconds that a server has to answer in
_STOPPING = 10.0  # seconds to end in, once interrupted
_STARTING = (502, 503, 504)  # what a proxy, or a server that loads its model, says meanwhile


def start(
    server: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start ``medtasks`` with arguments; what it says goes into the folder's log."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils.sweep.process", server, *arguments],
            stdin=subprocess.PIPE,  # never written to: its end tells the job that this process is gone
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> int:
    """Interrupt a job as Ctrl-C does, if it still runs, and end it if that takes too long; its exit code."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        return process.wait(_STOPPING)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def is_there(server: str) -> bool:
    """Whether anything answers at an address, be it a complaint, but for those of a server that is starting."""
    try:
        urllib.request.urlopen(server, timeout=_ASKED).close()
    except urllib.error.HTTPError as error:
        return error.code not in _STARTING
    except (OSError, ValueError):
        return False
    return True


def _end_with_the_sweep() -> None:
    """Kill this process and its children once the sweep's end of the pipe is closed."""
    os.read(0, 1)
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_sweep, daemon=True).start()
    waited_for = sys.argv.pop(1)
    if waited_for and not is_there(waited_for):
        print(f"no server answers at {waited_for}")
        sys.exit(NO_SERVER)
    runpy.run_module("medtasks_utils.__main__", run_name="__main__")  # the command line, as a program of its own
