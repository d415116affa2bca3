"""Start processes that end with this process, even if it crashes."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_STOP_TIMEOUT = 10.0  # seconds to end after an interrupt

# Kill the process group as soon as the parent closes its end of the pipe on standard input, which also happens if it
# crashes. The watcher's own parent ends at once, so that the command has no unknown child.
_WATCHED = """exec 3<&0 </dev/null; ( { trap '' INT; read -r _ <&3; kill -9 0; } & ); exec "$@" 3<&-"""

Process = subprocess.Popen[bytes]


def start(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Process:
    """Start a command that leads a process group, and append its output to a log."""
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


def stop(process: Process) -> None:
    """Interrupt a process and its children as Ctrl-C does; kill them if they do not end in time."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGINT)
        process.wait(_STOP_TIMEOUT)
    end_group(process.pid)
    process.communicate()


def end_group(pid: int) -> None:
    """Kill a process group, if there still is one."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
