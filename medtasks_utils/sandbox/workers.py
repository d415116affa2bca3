"""Start and control the zygote and the sessions' worker processes, from outside the sandbox."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from multiprocessing.connection import wait
from typing import cast

from medtasks_utils.errors import MedtasksError

from .inside.system import signal_process
from .inside.worker import HEADER, MARK
from .layout import Layout

MAX_BYTES = 16 << 20
"""Maximum number of bytes that a call may write; a call that writes more is ended."""

_WEAK = "WEAK: RestrictedPython, which is not a security boundary (only for models you trust)"
_MISSING = (
    "the Python tool needs a kernel that can confine code with seccomp, limits, and namespaces or Landlock; "
    "missing here: {}. Use Linux 5.4 or later with libseccomp and with namespaces or Landlock (Docker's default "
    "profile is enough), or set weak_sandbox=true to run RestrictedPython, which is not a security boundary (only for "
    "models you trust)"
)
PATIENCE = 60.0
"""Maximum time in seconds to wait for a worker, which starts within milliseconds unless the machine is full."""

_START = """
import sys
sys.path[:] = [entry for entry in sys.path if entry] + [sys.prefix + "/site", sys.prefix + "/own"]
from inside.zygote import main
main(int(sys.argv[1]))
"""

# numpy must not start threads: they do not survive a fork, and the sandbox forbids them. Local time is UTC.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class Zygote:
    """The zygote: a fresh interpreter that imports the libraries once and forks a worker for each session.

    Args:
        settings: the arguments of :class:`medtasks_utils.sandbox.inside.confine.Confinement` except ``folder`` and
            ``entries``, and ``repl``: True to run code in :class:`medtasks_utils.sandbox.inside.repl.Repl`.
        accepts_weak: True to run RestrictedPython if plain Python cannot be confined.

    Attributes:
        layers: for each layer, the reason why it is off; an empty string if it is on.
        missing: names of the layers that are off although plain Python needs them; empty if none is.
        paths: paths of this machine to remove from outputs.

    Raises:
        OSError: if the zygote's folder or process cannot be made.
        MedtasksError: if the zygote ends before it is ready, or if it cannot confine plain Python and ``accepts_weak``
            is False.
    """

    def __init__(self, settings: dict[str, object], accepts_weak: bool) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._layout = Layout()
            folder = self._layout.folder
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
        self.paths = self._layout.paths
        self._python = "RestrictedPython" if settings["repl"] else "plain Python"
        self.layers, self.missing = self._greet({**settings, "folder": folder, "entries": self._layout.entries})
        if self.missing and not accepts_weak:
            self.end()
            raise MedtasksError(_MISSING.format("; ".join(f"{name}: {self.layers[name]}" for name in self.missing)))
        if not self.layers["namespaces"]:
            self._layout.remove()  # the zygote has its own root by now

    def _greet(self, settings: dict[str, object]) -> tuple[dict[str, str], list[str]]:
        """Send the settings to the zygote, and return ``layers`` and ``missing``, which it reports.

        Raises:
            MedtasksError: with the last line of the zygote's output, if there is no report.
        """
        line = "it ended"
        with suppress(BrokenPipeError), self._process.stdin as stdin:  # type: ignore[union-attr] # it is a pipe
            json.dump(settings, stdin)
        for line in self._process.stdout:  # type: ignore[union-attr] # it is a pipe
            if line.startswith('{"layers"'):
                report = json.loads(line)
                return report["layers"], report["missing"]
        self.end()
        raise MedtasksError(f"the sandbox cannot start: {line.strip()}")

    @property
    def description(self) -> str:
        """A short description of the interpreter and the layers that confine it."""
        on = ", ".join(name for name, reason in self.layers.items() if not reason) or "nothing"
        return f"{_WEAK if self.missing else self._python}, confined by {on}"

    def spawn(self, session: "Session") -> None:
        """Start a worker for a session, and set the session's ``connection`` and ``process``. Not thread-safe.

        Raises:
            ConnectionError: if the zygote has ended.
            OSError: if the zygote cannot fork, or does not answer within :data:`PATIENCE` seconds.
        """
        ours, theirs = socket.socketpair()
        with theirs, open(os.devnull, "r+b", buffering=0) as null:
            socket.send_fds(self._control, [b"."], [theirs.fileno(), null.fileno()])
        ours.settimeout(PATIENCE)
        answer, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        if not answer:
            raise BlockingIOError("the system does not allow another process")
        session.connection, session.process = ours, descriptors[0] if descriptors else None

    def end(self) -> None:
        """End the zygote and all of its workers."""
        self._control.close()
        with self._process:
            self._process.kill()  # the kernel then ends all of its descendants
        self._layout.remove()


class Session:
    """A Python session in a worker process, which is paused (SIGSTOP) between calls if its pidfd is known.

    Attributes:
        lock: held while a call runs.
        connection: the socket to the process; None before the first call and after the process has ended.
        process: the process's descriptor (pidfd); None if there is no process, or in weak mode on systems without
            pidfds, where the process ends itself on a timeout.
        evicted: the error for the next call if the process was ended to make room; else an empty string.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: socket.socket | None = None
        self.process: int | None = None
        self.evicted = ""

    def run(self, code: str, seconds: float) -> tuple[bytes, bool, str]:
        """Run code for at most ``seconds``. The caller must hold the lock.

        Returns:
            The bytes that the code wrote, whether it failed, and why the process is no longer usable (an empty string
            if it is).
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
                    problem = f"the output exceeded {MAX_BYTES >> 20} MiB"
                    break
            self._signal(signal.SIGSTOP)
        except TimeoutError:
            problem = f"timed out after {seconds:g} s"
        except OSError:
            problem = "the Python process ended: it crashed, exited, or ran out of memory"
        if problem:
            return bytes(data[MARK:]), True, problem
        if not data.startswith(mark):
            return b"", True, "the Python process wrote output between two calls"
        return bytes(data[MARK : -MARK - 1]), data[-1:] != b"0", ""

    def end(self) -> None:
        """Kill the process after its current call, close its descriptors, and clear ``evicted``."""
        with self.lock:
            self._signal(signal.SIGKILL)
            if self.process:
                wait([self.process], timeout=1)  # until it has exited
                os.close(self.process)
            if self.connection:
                self.connection.close()
            self.connection = self.process = None
            self.evicted = ""

    def _signal(self, number: int) -> None:
        if self.process:
            with suppress(OSError):  # it has ended
                signal_process(self.process, number)
