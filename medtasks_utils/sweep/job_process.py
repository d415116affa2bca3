"""The process of a job: ``python -m medtasks_utils.sweep.job_process SERVER SECONDS eval …``.

It waits at most SECONDS for the server, if there is one, then runs ``medtasks eval``; a server that does not answer is
a usage error (exit code 2). When the process that started it ends, it ends too, with all of its children.
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

_PROBE_TIMEOUT = 5.0  # seconds; also the pause between probes
_STOP_TIMEOUT = 10.0  # seconds to end after an interrupt
_STARTING = (502, 503, 504)  # statuses of a proxy, or of a server that still loads its model


def start(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the process of a job and return it; its output goes to ``log.txt`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils.sweep.job_process", *arguments],
            stdin=subprocess.PIPE,  # never written to: when it closes, the job knows that this process has ended
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> int:
    """Interrupt a running job as Ctrl-C does, kill it if it does not end soon, and return its exit code."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        return process.wait(_STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def is_up(server: str) -> bool:
    """Return True if a server answers at an address, even with an error, unless the error says that it is starting."""
    try:
        urllib.request.urlopen(server, timeout=_PROBE_TIMEOUT).close()
    except urllib.error.HTTPError as error:
        return error.code not in _STARTING
    except (OSError, ValueError):
        return False
    return True


def _wait_for(server: str, seconds: float) -> None:
    """Wait until a server answers; exit with code 2 if it does not do so in time."""
    deadline = time.monotonic() + seconds
    while seconds and server and not is_up(server):
        if time.monotonic() > deadline:
            print(f"no server answers at {server} within {seconds:g} s")
            sys.exit(2)
        print(f"waiting for {server}", flush=True)
        time.sleep(_PROBE_TIMEOUT)


def _end_with_the_sweep() -> None:
    """Kill this process and its children as soon as the sweep closes its end of standard input."""
    os.read(0, 1)
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_sweep, daemon=True).start()
    _wait_for(sys.argv.pop(1), float(sys.argv.pop(1)))
    runpy.run_module("medtasks_utils.__main__", run_name="__main__")  # the medtasks command, as the main program
