"""Start processes that end when this process ends or crashes, and kill those that have escaped."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

MARK_VARIABLE = "MEDTASKS_STARTED_AS"
"""The environment variable that identifies the processes of a served model, even outside their process groups."""
_STOP_TIMEOUT = 10.0  # seconds to end after a signal

# Kill the process group as soon as the parent closes its end of the pipe on standard input, which also happens if it
# crashes. The watcher's own parent ends at once, so that the command has no unknown child.
_WATCHED = """exec 3<&0 </dev/null; ( { trap '' INT TERM; read -r _ <&3; kill -9 0; } & ); exec "$@" 3<&-"""

Process = subprocess.Popen[bytes]


def start(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Process:
    """Start a command as the leader of a process group, and append its output to a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        return subprocess.Popen(
            ["sh", "-c", _WATCHED, "sh", *command],
            stdin=subprocess.PIPE,  # never written to
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def stop(processes: Sequence[Process], mark: str) -> None:
    """Terminate processes and their children, all at once; kill those that do not end in time.

    The signal is SIGTERM, since SIGINT does not reach Ray's workers and their children. Processes that have left their
    process group are killed by :func:`end_marked`, unless ``mark`` is empty.
    """
    for process in processes:
        _signal_group(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_TIMEOUT
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        _signal_group(process.pid, signal.SIGKILL)
        process.communicate()
    end_marked(mark)


def end_marked(mark: str) -> None:
    """Kill this user's processes whose environment contains a mark, and wait for them to end.

    Children inherit the mark. Do nothing if the mark is empty.
    """
    killed = []
    for process in psutil.process_iter() if mark else ():
        with suppress(psutil.Error):
            if process.environ().get(MARK_VARIABLE) == mark:
                process.kill()
                killed.append(process)
    psutil.wait_procs(killed, _STOP_TIMEOUT)


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
