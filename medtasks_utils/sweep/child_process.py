"""Start a process that ends with its parent: ``python -m medtasks_utils.sweep.child_process COMMAND``.

The command leads a process group. A watcher in the group kills the whole group as soon as the parent closes its end of
a pipe, which also happens if the parent crashes.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_STOP_TIMEOUT = 10.0  # seconds to end after an interrupt


def start(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command, whose output is appended to a log, and return its process."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils.sweep.child_process", *command],
            stdin=subprocess.PIPE,  # never written to
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a process and its children as Ctrl-C does; kill them if they do not end within the timeout."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(_STOP_TIMEOUT)
    end_group(process.pid)
    process.communicate()


def end_group(pid: int) -> None:
    """Kill a process group."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _watch() -> None:
    """Kill this process group when standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.read(0, 1)
    end_group(0)


if __name__ == "__main__":
    if os.fork() == 0:
        if os.fork() == 0:  # fork twice, so that the command has no unknown child
            _watch()
        os._exit(0)
    os.wait()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
