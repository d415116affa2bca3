"""The forking process and a session's worker process, as seen from outside the sandbox."""

import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from medtasks_utils.errors import MedtasksError

from .inside.system import signal_process
from .inside.worker import HEADER, MARK
from .layout import Layout

MAX_BYTES = 16 << 20
"""Most bytes that a call may write before it is ended."""

_WEAK = "WEAK: RestrictedPython, which is not a boundary: only for models you trust"
_MISSING = (
    "the Python tool needs a kernel that can confine it by seccomp, limits, and namespaces or Landlock; "
    "missing here: {}. Use Linux 5.4 or later with libseccomp and with namespaces or Landlock (Docker's default "
    "profile is enough), or set weak_sandbox=true to run RestrictedPython, which is not a boundary: only for models "
    "you trust"
)
PATIENCE = 60.0
"""Seconds to wait for a worker, which takes a moment unless the machine is full."""

_START = """
import sys
sys.path[:] = [entry for entry in sys.path if entry] + [sys.prefix + "/site", sys.prefix + "/own"]
from inside.zygote import main
main(int(sys.argv[1]))
"""

# numpy must not start threads, which neither survive a fork nor are allowed; local time is UTC on every machine.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class Zygote:
    """The forking process: a fresh interpreter that imports the libraries once and forks a worker for each session.

    Args:
        settings: arguments of :class:`medtasks_utils.sandbox.inside.confine.Confinement`, without ``folder`` and
            ``entries``.
        accepts_weak: True to run RestrictedPython if the kernel cannot confine plain Python.

    Attributes:
        layers: the reason why each layer is off, or an empty string if it is on.
        missing: the layers that plain Python needs and that are off; empty if plain Python runs.
        paths: paths of this machine to remove from outputs.

    Raises:
        MedtasksError: if it cannot start, or cannot confine plain Python and must not run RestrictedPython.
    """

    def __init__(self, settings: dict[str, Any], accepts_weak: bool) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._layout = Layout()
                folder, self.paths = self._layout.folder, self._layout.paths
                self._process = subprocess.Popen(
                    [f"{folder}/bin/python3", "-sSB", "-Wignore", "-c", _START, str(theirs.fileno())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**_ENVIRONMENT, "PYTHONHOME": folder},
                    cwd=folder,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    text=True,
                )
            except OSError as error:
                raise MedtasksError(f"the sandbox cannot start: {error}") from None
        greeting = self._greet({**settings, "folder": folder, "entries": self._layout.entries})
        self.layers: dict[str, str] = greeting["layers"]
        self.missing = greeting["missing"]
        if self.missing and not accepts_weak:
            self.end()
            raise MedtasksError(_MISSING.format("; ".join(f"{name}: {self.layers[name]}" for name in self.missing)))
        if not self.layers["namespaces"]:
            self._layout.remove()  # the zygote has its own root by now
        self._next = self._order()

    def _greet(self, settings: dict[str, Any]) -> Any:
        """Send the settings; return the layers that the zygote reports, or raise with what it printed instead."""
        line = "it ended"
        with suppress(BrokenPipeError), cast(IO[str], self._process.stdin) as stdin:
            json.dump(settings, stdin)
        for line in cast(IO[str], self._process.stdout):
            if line.startswith('{"layers"'):
                return json.loads(line)
        self.end()
        raise MedtasksError(f"the sandbox cannot start: {line.strip()}")

    @property
    def description(self) -> str:
        """A sentence on what runs the code and which layers confine it."""
        on = ", ".join(name for name, reason in self.layers.items() if not reason) or "nothing"
        return f"{_WEAK if self.missing else 'plain Python'}, confined by {on}"

    def _order(self) -> socket.socket:
        """Ask the zygote for a worker; return the socket on which the worker will answer."""
        ours, theirs = socket.socketpair()
        with theirs, open(os.devnull, "r+b", buffering=0) as null:
            socket.send_fds(self._control, [b"."], [theirs.fileno(), null.fileno()])
        ours.settimeout(PATIENCE)
        return ours

    def spawn(self, session: "Session") -> None:
        """Start a worker for a session. Not thread-safe.

        Raises:
            ConnectionError: if the zygote has ended.
            OSError: if it could not fork.
        """
        connection, self._next = self._next, self._order()  # the next worker is forked while this one runs
        answer, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        if not answer:
            raise BlockingIOError("the system allows no further process")
        session.connection, session.process = connection, descriptors[0] if descriptors else None

    def end(self) -> None:
        """End the zygote and all of its workers."""
        self._control.close()
        with self._process:
            self._process.kill()  # the kernel ends its children with it, and their children
        self._layout.remove()


class Session:
    """A session and its worker process, which is paused (SIGSTOP) except during a call.

    Attributes:
        lock: held while a call runs.
        connection: the socket to the process; None before the first call and after the process has ended.
        process: the process's descriptor (pidfd); None without a process, and in weak mode on systems without pidfds,
            where the process ends itself.
        evicted: the message for the next call if the process was ended to make room; else an empty string.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: socket.socket | None = None
        self.process: int | None = None
        self.evicted = ""

    def run(self, code: str, seconds: float) -> tuple[bytes, bool, str]:
        """Run code for at most so many seconds. The caller holds the lock.

        Returns:
            The bytes written, whether the code failed, and why the process cannot go on (empty if it can).
        """
        connection, data, mark = cast(socket.socket, self.connection), bytearray(), os.urandom(MARK)
        deadline, problem = time.monotonic() + seconds, ""
        try:
            self._signal(signal.SIGCONT)
            body = code.encode(errors="replace")
            connection.settimeout(seconds)
            connection.sendall(HEADER.pack(mark, 0 if self.process else seconds + 1, len(body)) + body)
            while len(data) <= 2 * MARK or data[-MARK - 1 : -1] != mark:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise TimeoutError
                connection.settimeout(remaining)
                received = connection.recv(1 << 16)
                if not received:
                    raise ConnectionResetError
                data += received
                if len(data) > MAX_BYTES:
                    problem = "the output had no end"
                    break
            self._signal(signal.SIGSTOP)
        except TimeoutError:
            problem = f"timed out after {seconds:g} s"
        except OSError:
            problem = "the Python process ended: it crashed, left, or was out of memory"
        if not problem and not data.startswith(mark):
            return b"", True, "the Python process wrote after its last answer"
        if problem:
            return bytes(data[MARK:]), True, problem
        return bytes(data[MARK : -MARK - 1]), data[-1:] != b"0", ""

    @property
    def memory(self) -> int:
        """Pages of memory that the process does not share; 0 without a process, or if that cannot be read."""
        with suppress(OSError):
            info = Path(f"/proc/self/fdinfo/{self.process}").read_text()
            pid = info.partition("Pid:")[2].split()[0]
            _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
            return int(resident) - int(shared)
        return 0

    def end(self) -> None:
        """Kill the process once its current call has ended, and close its descriptors."""
        with self.lock:
            self._signal(signal.SIGKILL)
            if self.process:
                exited = select.poll()
                exited.register(self.process, select.POLLIN)
                exited.poll(1000)  # milliseconds
                os.close(self.process)
            if self.connection:
                self.connection.close()
            self.connection = self.process = None
            self.evicted = ""

    def _signal(self, number: int) -> None:
        if self.process:
            with suppress(OSError):  # it has ended
                signal_process(self.process, number)
