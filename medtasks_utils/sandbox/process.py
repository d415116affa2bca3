"""The process that forks, and a worker that it forked, as the run sees them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO, Any, cast

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox.inside.system import signal_process
from medtasks_utils.sandbox.inside.worker import HEADER, MARK

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
from sandbox_inside.zygote import main
main(int(sys.argv[1]))
"""

# numpy's threads would neither survive a fork nor be allowed; local time is the same everywhere.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class SandboxError(MedtasksError):
    """The sandbox itself cannot start, or not as it must."""


class Zygote:
    """A fresh interpreter that forks workers.

    Args:
        settings: what :class:`medtasks_utils.sandbox.inside.confine.Confinement` takes but for the files, and
            ``timeout`` and ``weak``.
        spares: workers kept ready.

    Attributes:
        layers: by layer, why it is off, or an empty string.
        missing: the layers without which it runs RestrictedPython, or nothing.
        paths: of this machine, that must not show in a text.

    Raises:
        SandboxError: if it cannot start.
    """

    def __init__(self, settings: dict[str, Any], spares: int) -> None:
        if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
            raise SandboxError(f"the Python tool cannot run on {sys.platform}: use Linux, macOS or WSL")
        self._owner = os.getpid()
        from medtasks_utils.sandbox.layout import Layout

        try:
            self._layout = Layout()
        except OSError as error:
            raise SandboxError(
                f"the sandbox needs a few kilobytes in /tmp, /var/tmp, /dev/shm or $TMPDIR: {error.strerror or error}"
            ) from None
        self.paths = self._layout.paths
        self._spares: deque[socket.socket] = deque()
        self._control, theirs = socket.socketpair()
        folder = self._layout.folder
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [self._layout.interpreter, "-s", "-S", "-B", "-c", _START, str(theirs.fileno())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**_ENVIRONMENT, "PYTHONHOME": folder},
                    cwd=folder,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                self._layout.remove()
                raise SandboxError(f"the sandbox cannot start {sys.executable!r}: {error}") from None
        greeting = self._greet({**settings, "folder": folder, "entries": self._layout.entries, "witness": __file__})
        self.layers: dict[str, str] = greeting["layers"]
        self.missing: list[str] = greeting["missing"]
        if self.missing and not settings["weak"]:
            self.end()
            reasons = "; ".join(f"{name}: {self.layers[name]}" for name in self.missing)
            raise SandboxError(_MISSING.format(reasons))
        if not self.layers["namespaces"]:
            self._layout.remove()  # it has a root of its own by now
        self._spares.extend(self._order() for _ in range(spares))

    def _greet(self, settings: dict[str, Any]) -> dict[str, Any]:
        said = b"it ended"
        with contextlib.suppress(BrokenPipeError), cast(IO[bytes], self._process.stdin) as stdin:
            stdin.write(json.dumps(settings).encode())
        for said in cast(IO[bytes], self._process.stdout):
            if said.startswith(b'{"layers"'):
                greeting: dict[str, Any] = json.loads(said)
                return greeting
        self.end()
        raise SandboxError(f"the sandbox cannot start: {said.decode('utf-8', 'replace').strip()}")

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

    def spawn(self, session: Session) -> None:
        """Give a session a worker; not to be called by two threads at once.

        Raises:
            ConnectionError: if this process has ended.
            OSError: if no worker can be had.
        """
        self._spares.append(self._order())  # forked while the one below works
        connection = self._spares.popleft()
        answer, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
        if answer != b"\0":
            raise OSError(answer[0], os.strerror(answer[0])) if answer else ConnectionResetError
        session.connection, session.process = connection, descriptors[0] if descriptors else None
        with contextlib.suppress(OSError):
            about = Path(f"/proc/self/fdinfo/{session.process}").read_text(encoding="ascii")
            session.number = int(about.partition("Pid:")[2].split()[0])

    def end(self) -> None:
        """End it and all its workers."""
        self._control.close()
        while self._spares:
            self._spares.pop().close()
        if self._owner == os.getpid():  # and not a process that this one is a fork of
            with self._process:
                self._process.kill()  # the kernel ends its children with it, and theirs with them
            self._layout.remove()


class Session:
    """One example, and its process, which is stopped but for the time of a call.

    Attributes:
        lock: held while a call runs.
        connection: the socket to the process; None before the first call, and once the process has ended.
        process: its descriptor; None also in weak mode where the system has none, and it ends by itself.
        number: its process number, to look at only; 0 if it is not known.
        memory: pages that it held after its last call.
        is_evicted: whether it had to make room for another, which its next call will say.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: socket.socket | None = None
        self.process: int | None = None
        self.number = self.memory = 0
        self.is_evicted = False

    def run(self, code: str, seconds: float) -> tuple[bytes, bool, str]:
        """Run code for so long at most, with the lock held.

        Returns:
            What it wrote; whether it failed; why the process cannot go on, or an empty string.
        """
        connection, data, mark = cast(socket.socket, self.connection), bytearray(), os.urandom(MARK)
        deadline = time.monotonic() + seconds
        try:
            self._signal(signal.SIGCONT)
            body = code.encode()
            connection.settimeout(seconds)
            connection.sendall(HEADER.pack(mark, len(body)) + body)
            end = -1
            while end < 0 or len(data) == end + MARK:
                connection.settimeout(max(deadline - time.monotonic(), 1e-6))
                received = connection.recv(1 << 16)
                if not received:
                    raise ConnectionResetError
                data += received
                end = data.find(mark, max(MARK, len(data) - len(received) - MARK - 1))
                if len(data) > MAX_BYTES:
                    return bytes(data[MARK:]), True, "the output had no end"
            self._signal(signal.SIGSTOP)
        except TimeoutError:
            return bytes(data[MARK:]), True, f"timed out after {seconds:g} s"
        except OSError:
            return bytes(data[MARK:]), True, "the Python process ended: it crashed, left, or was out of memory"
        if not data.startswith(mark) or len(data) > end + MARK + 1:
            return b"", True, "the Python process wrote after its last answer"
        with contextlib.suppress(OSError):
            resident, shared = Path(f"/proc/{self.number}/statm").read_text(encoding="ascii").split()[1:3]
            self.memory = int(resident) - int(shared)
        return bytes(data[MARK:end]), data[-1:] != b"0", ""

    def interrupt(self) -> None:
        """End the process, even if a call runs in another thread."""
        connection = self.connection
        if connection is not None:
            with contextlib.suppress(OSError):  # it has ended
                connection.shutdown(socket.SHUT_RDWR)
        with self.lock:
            self.end()

    def end(self) -> None:
        """Kill the process, with the lock held, and give back what it took."""
        self._signal(signal.SIGKILL)
        if self.process is not None:
            gone = select.poll()
            gone.register(self.process, select.POLLIN)
            gone.poll(1000)
            os.close(self.process)
        if self.connection is not None:
            self.connection.close()
        self.connection = self.process = None

    def _signal(self, number: int) -> None:
        if self.process is not None:
            with contextlib.suppress(OSError):  # it is gone
                signal_process(self.process, number)
