"""The run's side of the sandbox: starts it when first needed, hands out calls, and outlives whatever happens in it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox.wire import Channel

logger = logging.getLogger("lm_eval.medtasks")

MAX_CODE = 50_000
"""Characters that the code of one call may have."""

ALIVE = 2_000
"""Sessions whose processes are kept at most."""

_SESSION_BYTES = 6 << 20
"""Memory that an idle session takes: the pages that it no longer shares with the process it was forked from."""

_PATIENCE = 60.0
"""Seconds without a sign of life after which the supervisor is given up."""

_START = """
import sys
sys.path[:] = sys.argv[3:]
from medtasks_utils.sandbox.supervisor import start
start(sys.argv[1:3])
"""

# numpy's threads would neither survive a fork nor be allowed; local time is the same everywhere.
_ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"),
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


class SandboxError(MedtasksError):
    """The sandbox itself cannot start."""


@dataclass(frozen=True)
class Result:
    """What a call gave.

    Attributes:
        text: what the code printed, and the ``repr`` of a last bare expression, as in a REPL; if it failed, then the
            error. Valid UTF-8, at most ``max_output`` characters and a note of how many were cut.
        failed: whether it ended in an error: an exception, refused code, a timeout, a killed process.
    """

    text: str
    failed: bool


class Sandbox:
    """Python for models: code in, text out, variables kept by session.

    Nothing starts before the first call. A context manager; :meth:`close` ends all its processes, and so does the end
    of the process that made it, however it comes.

    Args:
        timeout: seconds of wall-clock time that a call may take.
        memory_mb: megabytes of memory that the code of a session may use.
        processes: calls that run at the same time; the number of cores by default.
        max_output: characters of output kept from a call.
        alive: sessions whose processes are kept; as many as half of the free memory holds by default. Beyond it,
            an idle one ends, and its session's code runs again when it is next called.
        _off: layers left out, for tests of the others: ``guards``, ``namespaces``, ``landlock``, ``limits``,
            ``seccomp``.
    """

    def __init__(
        self,
        *,
        timeout: float = 10.0,
        memory_mb: int = 512,
        processes: int | None = None,
        max_output: int = 10_000,
        alive: int | None = None,
        _off: Iterable[str] = (),
    ) -> None:
        if (
            min(timeout, memory_mb, max_output, 1 if alive is None else alive, 1 if processes is None else processes)
            <= 0
        ):
            raise SandboxError("the limits of the sandbox must be positive")
        self._settings = {
            "timeout": timeout,
            "memory_mb": memory_mb,
            "max_output": max_output,
            "max_code": MAX_CODE,
            "alive": alive or _sessions_in_free_memory(),
            "off": sorted(_off),
        }
        self._processes = processes or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._zygote: _Zygote | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def run(self, calls: Sequence[tuple[str, str]], progress: Callable[[], Any] | None = None) -> list[Result]:
        """Run calls: sessions side by side, the calls of one session in their order.

        Args:
            calls: pairs of a session's key and code.
            progress: called once per finished call.

        Returns:
            One result per call, in the order of the calls, whatever the code does.

        Raises:
            SandboxError: if the sandbox cannot start.
        """
        with self._lock:
            return _Batch(self, calls, progress).run()

    def forget(self, session: str) -> None:
        """End a session: its process and variables."""
        with self._lock:
            if self._zygote is not None and self._zygote.is_ours:
                with contextlib.suppress(OSError):
                    self._zygote.channel.send({"forget": session})

    def close(self) -> None:
        """End all processes. The next call starts anew."""
        zygote, self._zygote = getattr(self, "_zygote", None), None
        if zygote is not None:
            zygote.end()

    @property
    def layers(self) -> dict[str, str]:
        """By layer, why it is off, or an empty string if it is on; starts the sandbox if need be."""
        with self._lock:
            return self.started().layers

    def started(self) -> _Zygote:
        """The running sandbox of this process; a fork of it makes its own."""
        if self._zygote is None or not self._zygote.is_ours:
            self._zygote = _Zygote(self._settings)
            on = [name for name, reason in self._zygote.layers.items() if not reason]
            off = [f"{name} ({reason})" for name, reason in self._zygote.layers.items() if reason]
            logger.log(
                logging.WARNING if off else logging.INFO,
                "sandbox: on: %s%s",
                ", ".join(on),
                f"; off: {', '.join(off)}" if off else "",
            )
        return self._zygote


class _Zygote:
    """The fresh interpreter that forks the sessions' processes, and the channel to it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._owner = os.getpid()
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory() as folder, theirs:
            os.chmod(folder, 0o755)  # root is nobody when it enters, and the folder deleted
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", _START, str(theirs.fileno()), json.dumps(settings), *_search_path()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=_ENVIRONMENT,
                    cwd=folder,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxError(f"the sandbox cannot start {sys.executable!r}: {error}") from None
            theirs.close()
            ours.settimeout(_PATIENCE)
            self.channel = Channel(ours, 64 * 1024 * 1024)
            try:
                self.layers: dict[str, str] = self.channel.receive()["layers"]
            except (OSError, EOFError) as error:
                self.end()
                raise SandboxError(f"the sandbox cannot start: {_last_line(errors) or repr(error)}") from None

    @property
    def is_ours(self) -> bool:
        """Whether this process started it, rather than one that this process is a fork of."""
        return self._owner == os.getpid()

    def end(self) -> None:
        """End it and all its processes."""
        self.channel.connection.close()
        if self.is_ours:
            self._process.kill()  # its supervisor dies with it, and the supervisor's processes with that
            self._process.wait()


def _sessions_in_free_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # what can be had without swapping, in kB
            free = 1024 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = 4 << 30
    return min(ALIVE, max(16, free // 2 // _SESSION_BYTES))


def _search_path() -> list[str]:
    return [os.path.abspath(entry or ".") for entry in sys.path]


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


class _Batch:
    """The calls of one :meth:`Sandbox.run`: which may run next, which are running, what came back."""

    def __init__(self, sandbox: Sandbox, calls: Sequence[tuple[str, str]], progress: Callable[[], Any] | None) -> None:
        self._sandbox = sandbox
        self._calls = calls
        self._progress = progress
        self._results: dict[int, Result] = {}
        self._waiting: dict[str, deque[int]] = {}  # by session, in order
        for number, (session, _) in enumerate(calls):
            self._waiting.setdefault(session, deque()).append(number)
        self._ready = deque(self._waiting)
        self._running: set[int] = set()

    def run(self) -> list[Result]:
        while len(self._results) < len(self._calls):
            zygote = self._sandbox.started()
            try:
                while self._ready and len(self._running) < self._sandbox._processes:
                    self._send(zygote)
                if self._running:
                    message = zygote.channel.receive()
                    if "call" in message:
                        self._finish(message["call"], Result(message["text"], message["failed"]))
            except (OSError, EOFError, ValueError) as error:
                logger.warning("sandbox: lost and started anew (%r)", error)
                self._sandbox.close()
                for number in sorted(self._running):
                    self._finish(number, Result("Error: the sandbox was lost; all variables were lost", True))
        return [self._results[number] for number in range(len(self._calls))]

    def _send(self, zygote: _Zygote) -> None:
        session = self._ready.popleft()
        number = self._waiting[session].popleft()
        code = self._calls[number][1].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._running.add(number)
        if len(code) > MAX_CODE:
            text = f"Error: the code is too long: {len(code):,} characters, at most {MAX_CODE:,}"
            self._finish(number, Result(text, True))
        else:
            zygote.channel.send({"session": session, "call": number, "code": code})

    def _finish(self, number: int, result: Result) -> None:
        self._running.remove(number)
        self._results[number] = result
        session = self._calls[number][0]
        if self._waiting[session]:
            self._ready.append(session)
        if self._progress is not None:
            self._progress()
