"""The process that forks, and a worker that it forked, as the run sees them."""

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
"""Bytes after which a call that does nothing but write is ended."""

_WEAK = "WEAK: RestrictedPython, which is not a boundary: only for models you trust"
_MISSING = (
    "the Python tool needs a kernel that can confine it, by seccomp, limits, and namespaces or Landlock; here lack {}. "
    "Use Linux 5.4 or later with libseccomp, and namespaces or Landlock (in Docker, the default profile will do), or "
    "accept, with weak_sandbox: true, RestrictedPython, which is not a boundary: only for models you trust"
)
PATIENCE = 60.0
"""Seconds for what takes a moment unless something is very wrong, or the machine is full."""

_START = """
import sys
sys.path[:] = [entry for entry in sys.path if entry] + [sys.prefix + "/site", sys.prefix + "/own"]
from inside.zygote import main
main(int(sys.argv[1]))
"""

# numpy's threads would neither survive a fork nor be allowed; local time is the same everywhere.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class Zygote:
    """A fresh interpreter that forks workers.

    Args:
        settings: what :class:`medtasks_utils.sandbox.inside.confine.Confinement` takes but for the files.
        accepts_weak: whether it is to run RestrictedPython rather than nothing.

    Attributes:
        layers: by layer, why it is off, or an empty string.
        missing: the layers without which it runs RestrictedPython, or nothing.
        paths: of this machine, that must not show in a text.

    Raises:
        MedtasksError: if it cannot start.
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
            self._layout.remove()  # it has a root of its own by now
        self._next = self._order()

    def _greet(self, settings: dict[str, Any]) -> Any:
        said = "it ended"
        with suppress(BrokenPipeError), cast(IO[str], self._process.stdin) as stdin:
            json.dump(settings, stdin)
        for said in cast(IO[str], self._process.stdout):
            if said.startswith('{"layers"'):
                return json.loads(said)
        self.end()
        raise MedtasksError(f"the sandbox cannot start: {said.strip()}")

    @property
    def description(self) -> str:
        """What runs the code, and what confines it."""
        on = ", ".join(name for name, reason in self.layers.items() if not reason) or "nothing"
        return f"{_WEAK if self.missing else 'plain Python'}, confined by {on}"

    def _order(self) -> socket.socket:
        """Wish for a worker; it answers on this socket."""
        ours, theirs = socket.socketpair()
        with theirs, open(os.devnull, "r+b", buffering=0) as nowhere:
            socket.send_fds(self._control, [b"."], [theirs.fileno(), nowhere.fileno()])
        ours.settimeout(PATIENCE)
        return ours

    def spawn(self, session: "Session") -> None:
        """Give a session a worker; not to be called by two threads at once.

        Raises:
            ConnectionError: if this process has ended.
            OSError: if no worker can be had now.
        """
        connection, self._next = self._next, self._order()  # which is forked while the first works
        answer, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        if not answer:
            raise BlockingIOError("the system gives no more")
        session.connection, session.process = connection, descriptors[0] if descriptors else None

    def end(self) -> None:
        """End it and all its workers."""
        self._control.close()
        with self._process:
            self._process.kill()  # the kernel ends its children with it, and theirs with them
        self._layout.remove()


class Session:
    """One example, and its process, which is stopped but for the time of a call.

    Attributes:
        lock: held while a call runs.
        connection: the socket to the process; None before the first call, and once the process has ended.
        process: its descriptor; None also in weak mode where the system has none, and it ends by itself.
        evicted: why it had to make room for another, which its next call will say; else an empty string.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: socket.socket | None = None
        self.process: int | None = None
        self.evicted = ""

    def run(self, code: str, seconds: float) -> tuple[bytes, bool, str]:
        """Run code for so long at most, with the lock held.

        Returns:
            What it wrote; whether it failed; why the process cannot go on, or an empty string.
        """
        connection, data, mark = cast(socket.socket, self.connection), bytearray(), os.urandom(MARK)
        deadline, problem = time.monotonic() + seconds, ""
        try:
            self._signal(signal.SIGCONT)
            body = code.encode(errors="replace")
            connection.settimeout(seconds)
            connection.sendall(HEADER.pack(mark, 0 if self.process else seconds + 1, len(body)) + body)
            while len(data) <= 2 * MARK or data[-MARK - 1 : -1] != mark:
                connection.settimeout(max(deadline - time.monotonic(), 1e-6))
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
        """Pages that the process holds for itself; 0 where there is none, or no way to see it."""
        with suppress(OSError):
            about = Path(f"/proc/self/fdinfo/{self.process}").read_text()
            number = about.partition("Pid:")[2].split()[0]
            _, resident, shared, *_ = Path(f"/proc/{number}/statm").read_text().split()
            return int(resident) - int(shared)
        return 0

    def end(self) -> None:
        """Kill the process, once its call has ended, and give back what it took."""
        with self.lock:
            self._signal(signal.SIGKILL)
            if self.process:
                gone = select.poll()
                gone.register(self.process, select.POLLIN)
                gone.poll(1000)
                os.close(self.process)
            if self.connection:
                self.connection.close()
            self.connection = self.process = None
            self.evicted = ""

    def _signal(self, number: int) -> None:
        if self.process:
            with suppress(OSError):  # it is gone
                signal_process(self.process, number)
