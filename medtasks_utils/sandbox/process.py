"""The process that forks, and a worker that it forked, as the run sees them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox.inside.worker import HEADER, SPAWNED
from medtasks_utils.sandbox.layout import Layout

PATIENCE = 60.0
"""Seconds for what takes a moment unless something is very wrong."""

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
_SYS_RESOURCE = 1 << 24
"""The capability to raise limits, which counts in the first user namespace alone."""


class SandboxError(MedtasksError):
    """The sandbox itself cannot start, or not as it must."""


class Zygote:
    """A fresh interpreter that forks workers.

    Args:
        settings: what :class:`medtasks_utils.sandbox.inside.confine.Settings` holds, but for the files.
        spares: workers kept ready.

    Attributes:
        layers: by layer, why it is off, or an empty string.
        missing: the layers without which it runs RestrictedPython, or nothing.
        paths: of this machine, that must not show in a text.

    Raises:
        SandboxError: if it cannot start.
    """

    def __init__(self, settings: dict[str, Any], spares: int) -> None:
        self._spares: deque[socket.socket] = deque()
        if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
            raise SandboxError(f"the Python tool cannot run on {sys.platform}: use Linux, macOS or WSL")
        self._owner = os.getpid()
        try:
            self._layout = Layout()
        except OSError as error:
            raise SandboxError(
                f"the sandbox needs a few kilobytes in /tmp, /var/tmp, /dev/shm or $TMPDIR: {error.strerror or error}"
            ) from None
        self.paths = self._layout.paths
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = self._start(theirs)
            except OSError as error:
                self._control.close()
                self._layout.remove()
                raise SandboxError(f"the sandbox cannot start {sys.executable!r}: {error}") from None
        inside = {"folder": self._layout.folder, "entries": self._layout.entries, "witness": __file__}
        greeting = self._greet({**settings, **inside})
        self.layers: dict[str, str] = greeting["layers"]
        self.missing: list[str] = greeting["missing"]
        if not self.layers["namespaces"]:
            self._layout.remove()  # it has a root of its own by now
        self._limits_cpu = _may_raise_limits()
        if settings["weak"] or not self.missing:
            self._spares.extend(self._order() for _ in range(spares))

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        folder = self._layout.folder
        return subprocess.Popen(
            [self._layout.interpreter, "-s", "-S", "-B", "-c", _START, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**_ENVIRONMENT, "PYTHONHOME": folder},
            cwd=folder,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def _greet(self, settings: dict[str, Any]) -> dict[str, Any]:
        problem = ""
        try:
            self._control.settimeout(PATIENCE)
            body = json.dumps(settings).encode()
            self._control.sendall(struct.pack("!I", len(body)) + body)
            with self._control.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline() or "{}")
            if "layers" in answer:
                return answer
            problem = answer.get("error", "")
        except OSError as error:
            problem = str(error)
        self.end()
        assert self._process.stderr is not None
        said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(f"the sandbox cannot start: {problem or (said[-1] if said else 'it ended')}")

    @property
    def is_running(self) -> bool:
        """Whether it is there."""
        return self._process.poll() is None

    def _order(self) -> socket.socket:
        """Wish for a worker; it answers on this socket."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"."], [theirs.fileno()])
        except OSError:
            ours.close()
            raise
        return ours

    def spawn(self) -> Process:
        """A new worker; may be called from any thread.

        Raises:
            OSError: if none can be had.
        """
        try:
            ours = self._spares.popleft()
        except IndexError:
            ours = self._order()
        try:
            self._spares.append(self._order())  # forked while this one works
            ours.settimeout(PATIENCE)
            answer, descriptors, _, _ = socket.recv_fds(ours, 5, 1)
            if len(answer) < 5:
                raise OSError("the process that forks is gone")
            (number,) = struct.unpack("!I", answer[1:])
            if answer[:1] != SPAWNED:
                raise OSError(number, os.strerror(number))
        except OSError:
            ours.close()
            raise
        return Process(ours, number, descriptors[0] if descriptors else None, self._limits_cpu)

    def end(self) -> None:
        """End it and all its workers."""
        self._control.close()
        while self._spares:
            self._spares.pop().close()
        if self._owner == os.getpid():  # and not a process that this one is a fork of
            self._process.kill()  # the kernel ends its children with it, and theirs with them
            self._process.wait()
            self._layout.remove()


class Process:
    """A worker. It is stopped but for the time of a call.

    Args:
        connection: the socket to it.
        number: its process number, where there is no ``descriptor``.
        descriptor: its process as a descriptor.
        limits_cpu: whether this process may set its CPU time anew for each call.
    """

    def __init__(self, connection: socket.socket, number: int, descriptor: int | None, limits_cpu: bool) -> None:
        self.connection = connection
        self._descriptor = descriptor
        self._number = number if descriptor is None else _number_of(descriptor)
        self._limits_cpu = limits_cpu and self._number is not None and sys.platform == "linux"

    def ask(self, end: bytes, code: str, wait: float, cpu: float) -> None:
        """Let it go on, and give it code.

        Args:
            end: 16 bytes that will end the answer.
            code: the code.
            wait: seconds in which it must take it.
            cpu: seconds of CPU time that it may have used when the call ends.

        Raises:
            OSError: if it does not take it.
        """
        self._limit_cpu(cpu)
        self._send(signal.SIGCONT)
        body = code.encode()
        self.connection.settimeout(wait)
        self.connection.sendall(HEADER.pack(end, len(body)) + body)

    def _limit_cpu(self, seconds: float) -> None:
        if self._limits_cpu and self._number is not None:
            import resource

            soft = int(seconds) + 1
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(self._number, resource.RLIMIT_CPU, (soft, soft + 1))

    def pause(self) -> None:
        """Stop it, whatever it does."""
        self._send(signal.SIGSTOP)

    def is_silent(self) -> bool:
        """Whether it has written nothing since its last answer, and is there."""
        self.connection.setblocking(False)
        try:
            self.connection.recv(1)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def kill(self) -> None:
        """Kill it; whoever listens to it hears the end."""
        self._send(signal.SIGKILL)

    def end(self) -> None:
        """Kill it, and give back what it took; not while anyone listens to it."""
        self.kill()
        self.connection.close()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._number = None

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(OSError):  # it is gone
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, number)
            elif self._number is not None and not self._is_gone():
                os.kill(self._number, number)

    def _is_gone(self) -> bool:
        """Whether its end of the socket is closed; its number may then be another process's."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False


def _number_of(descriptor: int) -> int | None:
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pid:"):
                number = int(line.split()[1])
                return number if number > 0 else None
    return None


def _may_raise_limits() -> bool:
    with contextlib.suppress(OSError):
        if Path("/proc/self/uid_map").read_text(encoding="ascii").split() != ["0", "0", str((1 << 32) - 1)]:
            return False
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) & _SYS_RESOURCE)
    return False
