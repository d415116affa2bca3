"""A job's process: ``python -m medtasks_utils.sweep.process SERVER SECONDS eval …``.

It waits so long for the server to answer, if there is one; a server that does not answer by then is wrong usage. It
ends, with all that it started, when the process that started it does.
"""

import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_ASKED = 5.0  # seconds that a server has to answer in, and between looks for it
_STOPPING = 10.0  # seconds to end in, once interrupted
_STARTING = (502, 503, 504)  # what a proxy, or a server that loads its model, says meanwhile


def start(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a job's process; what it says goes into the folder's log."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils.sweep.process", *arguments],
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


def _wait_for(server: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while seconds and server and not is_there(server):
        if time.monotonic() > deadline:
            print(f"no server answers at {server} within {seconds:g} s")
            sys.exit(2)
        print(f"waits for {server}", flush=True)
        time.sleep(_ASKED)


def _end_with_the_sweep() -> None:
    """Kill this process and its children once the sweep's end of the pipe is closed."""
    os.read(0, 1)
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_sweep, daemon=True).start()
    _wait_for(sys.argv.pop(1), float(sys.argv.pop(1)))
    runpy.run_module("medtasks_utils.__main__", run_name="__main__")  # the command line, as a program of its own
