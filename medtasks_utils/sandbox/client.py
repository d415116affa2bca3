"""The run's side of the sandbox: it holds the sessions, their code and output, and the clock."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

from medtasks_utils.sandbox.output import Answer, OutOfTurn, Result, TooMuchOutput
from medtasks_utils.sandbox.process import Process, SandboxError, Zygote

logger = logging.getLogger("lm_eval.medtasks")

MAX_CODE = 50_000
"""Characters that the code of one call may have."""

MAX_REPLAY = 200_000
"""Characters of a session's earlier code that are kept, so that its variables can be brought back."""

ALIVE = 2_000
"""Sessions whose processes are kept at most."""

_SESSION_BYTES = 6 << 20
"""Memory that an idle session takes: the pages that it no longer shares with the process it was forked from."""

_DESCRIPTORS = 2
"""Files of ours that a live session takes: its socket and its process."""

LOST = "all variables were lost"

LAYERS = {
    "namespaces": "tried: reading a file of the machine, its loopback network, its processes",
    "landlock": "tried: reading and making a file outside the libraries",
    "seccomp": "tried: a socket, a signal, a new process",
    "limits": "tried: more memory than allowed",
}
"""The layers, and the attempts that each has to stop before it counts as on."""


class _Session:
    """One example: its process, and what brings its variables back.

    Attributes:
        lock: held while a call runs.
        process: None before the first call, and once it has ended.
        codes: what ran in it; None if that is too long to keep.
        spent: seconds that its process has run, at most.
        last_end: the bytes that ended its process's last answer.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: Process | None = None
        self.codes: list[str] | None = []
        self.spent = 0.0
        self.last_end = b""

    def ran(self, code: str) -> None:
        if self.codes is not None:
            self.codes.append(code)
            if sum(map(len, self.codes)) > MAX_REPLAY:
                self.codes = None

    def interrupt(self) -> None:
        """End the process, even in the middle of a call."""
        process = self.process
        if process is not None:
            process.kill()
        with self.lock:
            self.end([])

    def end(self, codes: list[str] | None) -> None:
        """End the process, with the lock held; ``codes`` is what will bring the variables back."""
        process, self.process = self.process, None
        if process is not None:
            process.end()
        self.codes, self.spent, self.last_end = codes, 0.0, b""


class Sandbox:
    """Python for models: code in, text out, variables kept by session.

    Nothing starts before the first call. A context manager; :meth:`close` ends all its processes, and so does the end
    of the process that made it, however it comes. Any number of threads may use it at once.

    Args:
        timeout: seconds of wall-clock time that a call may take.
        memory_mb: megabytes of memory that the code of a session may use.
        processes: calls that run at the same time; the number of cores by default.
        max_output: characters of a result's text.
        alive: sessions whose processes are kept; as many as half of the free memory holds by default. Beyond it,
            an idle one ends, and its session's code runs again when it is next called.
        weak: where the kernel cannot confine plain Python, run RestrictedPython, which is no boundary.
        _off: layers left out, for tests: ``namespaces``, ``landlock``, ``seccomp``, ``limits``.
        _anyway: run whatever is off, for tests.
    """

    def __init__(
        self,
        *,
        timeout: float = 10.0,
        memory_mb: int = 1024,
        processes: int | None = None,
        max_output: int = 10_000,
        alive: int | None = None,
        weak: bool = False,
        _off: Iterable[str] = (),
        _anyway: bool = False,
    ) -> None:
        limits = (timeout, memory_mb, max_output, 1 if alive is None else alive, 1 if processes is None else processes)
        if min(limits) <= 0:
            raise SandboxError("the limits of the sandbox must be positive")
        self._settings = {
            "timeout": timeout,
            "memory_mb": memory_mb,
            "weak": weak,
            "anyway": _anyway,
            "off": sorted(_off),
        }
        self._timeout = timeout
        self._max_output = max_output
        self._alive = _descriptors_for(alive or _sessions_in_free_memory())
        self._processes = processes or os.cpu_count() or 1
        self._zygote: Zygote | None = None
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()  # for the two below, never while a call runs
        self._sessions: dict[str, _Session] = {}  # in order of use
        self._starting = threading.Lock()
        self._slots = threading.Semaphore(self._processes)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # of one that was refused
            self.close()

    # ---- the interface

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
        if not calls:
            return []
        self.started()
        places: dict[str, list[int]] = {}
        for place, (session, _) in enumerate(calls):
            places.setdefault(session, []).append(place)
        results: list[Result | None] = [None] * len(calls)

        def run_session(session: str) -> None:
            for place in places[session]:
                results[place] = self._call(session, calls[place][1])
                if progress is not None:
                    progress()

        if len(places) == 1:
            run_session(calls[0][0])
        else:
            with ThreadPoolExecutor(min(self._processes, len(places))) as threads:
                try:
                    list(threads.map(run_session, places))
                except BaseException:  # an interrupt from the keyboard, or no sandbox
                    threads.shutdown(wait=False, cancel_futures=True)
                    raise
        return [result for result in results if result is not None]

    def forget(self, session: str) -> None:
        """End a session: its process and variables."""
        if self._owner == os.getpid():
            with self._lock:
                forgotten = self._sessions.pop(session, None)
            if forgotten is not None:
                forgotten.interrupt()

    def close(self) -> None:
        """End all processes. The next call starts anew."""
        if self._owner != os.getpid():
            return
        with self._lock:
            sessions, self._sessions = self._sessions, {}
            zygote, self._zygote = self._zygote, None
        for session in sessions.values():
            session.interrupt()
        if zygote is not None:
            zygote.end()

    @property
    def layers(self) -> dict[str, str]:
        """By layer, why it is off, or an empty string if it is on; starts the sandbox if need be."""
        return self.started().layers

    @property
    def missing(self) -> list[str]:
        """The layers whose lack makes it run RestrictedPython; starts the sandbox if need be."""
        return self.started().missing

    @property
    def description(self) -> str:
        """What runs the code, and what confines it; starts the sandbox if need be."""
        zygote = self._zygote or self.started()
        on = ", ".join(name for name, reason in zygote.layers.items() if not reason) or "nothing"
        kind = "WEAK: RestrictedPython, which is no boundary" if zygote.missing else "plain Python"
        return f"{kind}, confined by {on}"

    def started(self) -> Zygote:
        """The process that forks, started if need be; a fork of this process has its own.

        Raises:
            SandboxError: if it cannot start, or if the kernel offers no boundary and ``weak`` does not waive it.
        """
        if self._owner != os.getpid():
            self._zygote = None
            self._reset()
        with self._starting:
            if self._zygote is None:
                zygote = Zygote(self._settings, spares=self._processes)
                if zygote.missing and not self._settings["weak"]:
                    zygote.end()
                    raise SandboxError(_what_is_missing(zygote))
                self._zygote = zygote
                logger.log(logging.WARNING if zygote.missing else logging.INFO, "sandbox: %s", self.description)
            return self._zygote

    # ---- one call

    def _call(self, key: str, code: str) -> Result:
        code = code.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if len(code) > MAX_CODE:
            return Result(f"Error: the code is too long: {len(code):,} characters, at most {MAX_CODE:,}", True)
        with self._lock:
            session = self._sessions[key] = self._sessions.pop(key) if key in self._sessions else _Session()
        with session.lock, self._slots:
            if session.process is None and session.codes is None:
                session.codes = []
                return Result(f"Error: too many sessions are alive; {LOST}", True)
            try:
                if session.process is None and not self._revive(session):
                    return Result(f"Error: earlier code of this example could not run again in time; {LOST}", True)
            except OSError as error:
                session.end(session.codes)
                return Result(f"Error: no process could be started for the code: {error.strerror or error}", True)
            session.ran(code)
            return self._exchange(session, code, self._timeout)

    def _exchange(self, session: _Session, code: str, seconds: float) -> Result:
        """Run code in a session's process for so long at most; whatever is wrong with the process ends it."""
        process = session.process
        end = os.urandom(16)
        paths = self._zygote.paths if self._zygote else ()
        answer = Answer(end, self._max_output, paths, session.last_end)
        started = time.monotonic()
        deadline = started + seconds
        try:
            if process is None or not process.is_silent():
                raise OutOfTurn
            process.ask(end, code, max(seconds, 0.01), session.spent + seconds)
            while not answer.feed(_receive(process, deadline)):
                pass
            process.pause()
            session.spent += time.monotonic() - started
            session.last_end = end
            error = ""
        except TimeoutError:
            error = f"Error: timed out after {self._timeout:g} s; {LOST}"
        except OutOfTurn:
            answer = Answer(end, self._max_output)  # what it wrote belongs to no call
            error = f"Error: the Python process wrote after its answer, or ended; {LOST}"
        except TooMuchOutput:
            error = f"Error: the output had no end; {LOST}"
        except (OSError, EOFError, ValueError):  # a forgotten session's socket is closed in the middle
            error = f"Error: the Python process ended: it crashed, left, or was out of memory; {LOST}"
        if error:
            session.end([])
        return Result(answer.text(error), bool(error) or answer.failed)

    # ---- processes

    def _revive(self, session: _Session) -> bool:
        """Give a session a process, with the variables that it had; whether they came back, in a call's time in all."""
        while True:
            with self._lock:
                is_full = sum(each.process is not None for each in self._sessions.values()) >= self._alive
            if is_full:
                self._end_an_idle_one()
            try:
                session.process = self._spawn()
                break
            except OSError:
                if not self._end_an_idle_one():
                    raise
        for code in session.codes or ():
            self._exchange(session, code, self._timeout - session.spent)
            if session.process is None:
                return False
        return True

    def _spawn(self) -> Process:
        zygote = self.started()
        try:
            return zygote.spawn()
        except OSError:
            if zygote.is_running:
                raise
        logger.warning("sandbox: lost and started anew")
        with self._starting:
            if self._zygote is zygote:
                self._zygote = None
        zygote.end()
        return self.started().spawn()

    def _end_an_idle_one(self) -> bool:
        """End the idle process that was used last; its session's code runs again when it is next called.

        Rounds go through the sessions in one order, so the one used last is needed last.
        """
        with self._lock:
            sessions = list(self._sessions.values())
        for session in reversed(sessions):
            if session.process is not None and session.lock.acquire(blocking=False):
                try:
                    session.end(session.codes)
                    return True
                finally:
                    session.lock.release()
        return False


def _receive(process: Process, deadline: float) -> bytes:
    wait = deadline - time.monotonic()
    if wait <= 0:
        raise TimeoutError
    process.connection.settimeout(wait)
    data = process.connection.recv(1 << 16)
    if not data:
        raise EOFError
    return data


def _what_is_missing(zygote: Zygote) -> str:
    reasons = "; ".join(f"{name}: {zygote.layers[name]}" for name in zygote.missing)
    return (
        "the Python tool needs a kernel that can confine it, by seccomp, limits, and namespaces or Landlock; here lack "
        f"{reasons}. Use Linux 5.13 or later with libseccomp (in Docker, the default profile will do), or accept "
        "RestrictedPython, which is no boundary, with weak_sandbox: true"
    )


def _sessions_in_free_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # what can be had without swapping, in kB
            free = 1024 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = 4 << 30
    return min(ALIVE, max(16, free // 2 // _SESSION_BYTES))


def _descriptors_for(alive: int) -> int:
    """How many sessions may live, after the limit on open files was raised for them as far as it can be."""
    try:
        import resource
    except ImportError:
        return alive
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 1024 + _DESCRIPTORS * alive
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return max(1, min(alive, (soft - 512) // _DESCRIPTORS))
    return alive
