"""The run's side of the sandbox: it holds the sessions, and decides which may have a process."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from medtasks_utils.sandbox.output import Result, readable
from medtasks_utils.sandbox.process import PATIENCE, SandboxError, Session, Zygote

logger = logging.getLogger("lm_eval.medtasks")

MAX_CODE = 50_000
"""Characters that the code of one call may have."""

ALIVE = 2_000
"""Sessions whose processes are kept at most."""

LOST = "all variables were lost"

LAYERS = {
    "namespaces": "tried: reading a file of the machine, its loopback network",
    "landlock": "tried: reading and making a file outside the libraries",
    "seccomp": "tried: a socket, a signal, a new process",
    "limits": "tried: more memory than allowed; a process can be stopped and ended",
}
"""The layers, and the attempts that each has to stop before it counts as on."""


class Sandbox:
    """Python for models: code in, text out, variables kept by session.

    Nothing starts before the first call. A context manager; :meth:`close` ends all its processes, and so does the end
    of the process that made it, however it comes. Any number of threads may use it at once: calls run in the order in
    which they came, ``processes`` at a time. Where processes or memory run out, the idle session that holds most memory
    loses its process and its variables, and calls wait.

    Args:
        timeout: seconds of wall-clock time that a call may take.
        memory_mb: megabytes of memory that the code of a session may use.
        processes: calls that run at the same time; the number of cores by default.
        max_output: characters of a result's text.
        alive: sessions whose processes are kept at most; by default 2,000, or as many as there is room for.
        weak: where the kernel cannot confine plain Python, run RestrictedPython: not a boundary, only for models that
            one trusts.
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
        alive: int = ALIVE,
        weak: bool = False,
        _off: Iterable[str] = (),
        _anyway: bool = False,
    ) -> None:
        if min(timeout, memory_mb, max_output, alive, 1 if processes is None else processes) <= 0:
            raise SandboxError("the limits of the sandbox must be positive")
        self._settings = {
            "timeout": timeout,
            "memory_mb": memory_mb,
            "weak": weak,
            "anyway": _anyway,
            "off": sorted(_off),
        }
        self._timeout, self._memory = timeout, memory_mb << 20
        self._max_output = max_output
        self._alive = alive
        self._processes = processes or os.cpu_count() or 1
        self._zygote: Zygote | None = None
        self._reset()

    def _reset(self) -> None:
        self._owner = os.getpid()
        self._lock = threading.Lock()  # for the sessions, never while a call runs
        self._sessions: dict[str, Session] = {}
        self._starting, self._spawning = threading.Lock(), threading.Lock()
        self._places = ThreadPoolExecutor(self._processes)  # its queue is first come, first served

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # of one that was refused
            self.close()

    # ---- the interface

    def run(self, calls: Sequence[tuple[str, str]]) -> list[Result]:
        """Run calls: sessions side by side, the calls of one session in their order.

        Args:
            calls: pairs of a session's key and code.

        Returns:
            One result per call, in the order of the calls, whatever the code does.

        Raises:
            SandboxError: if the sandbox cannot start.
        """
        self.started()
        places: dict[str, list[int]] = {}
        for place, (session, _) in enumerate(calls):
            places.setdefault(session, []).append(place)
        results: dict[int, Result] = {}

        def run_session(session: str) -> None:
            for place in places[session]:
                results[place] = self._call(session, calls[place][1])

        running = [self._places.submit(run_session, session) for session in places]
        try:
            for each in running:
                each.result()
        finally:  # an interrupt from the keyboard, or no sandbox
            for each in running:
                each.cancel()
        return [results[place] for place in range(len(calls))]

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
    def description(self) -> str:
        """What runs the code, and what confines it; starts the sandbox if need be."""
        return self.started().description

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
                from medtasks_utils.sandbox import capacity

                self._alive = capacity.sessions(self._alive)
                self._zygote, self._paths = zygote, zygote.paths
                level = logging.WARNING if zygote.missing else logging.INFO
                logger.log(level, "sandbox: %s", zygote.description)
            return self._zygote

    # ---- one call

    def _call(self, key: str, code: str) -> Result:
        code = code.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if len(code) > MAX_CODE:
            return Result(f"Error: the code is too long: {len(code):,} characters, at most {MAX_CODE:,}", True)
        while True:
            with self._lock:
                session = self._sessions.setdefault(key, Session())
            with session.lock:
                if self._sessions.get(key) is session:  # and was not forgotten meanwhile
                    return self._run(session, code)

    def _run(self, session: Session, code: str) -> Result:
        if session.is_evicted:
            session.is_evicted = False
            return Result(f"Error: there was no room for all processes, and this one was ended; {LOST}", True)
        try:
            if session.connection is None:
                self._spawn(session)
        except OSError as error:
            return Result(f"Error: no process could be started for the code: {error.strerror or error}", True)
        data, failed, problem = session.run(code, self._timeout)
        if problem:
            session.end()
            problem = f"Error: {problem}; {LOST}"
        return Result(readable(data, self._max_output, self._paths, problem), failed)

    def _spawn(self, session: Session) -> None:
        """Give a session a process, once there is room for one.

        Raises:
            OSError: if there is none for a minute.
        """
        from medtasks_utils.sandbox import capacity

        deadline = time.monotonic() + PATIENCE
        with self._spawning:
            if capacity.is_memory_short(self._memory):
                self._evict()
            while True:
                zygote = self.started()
                try:
                    if sum(each.connection is not None for each in list(self._sessions.values())) >= self._alive:
                        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                    return zygote.spawn(session)
                except ConnectionError:
                    logger.warning("sandbox: lost and started anew")
                    with self._starting:
                        self._zygote = None
                    zygote.end()
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    if not self._evict():
                        time.sleep(0.02)

    def _evict(self) -> bool:
        """End the idle process that holds most; its session will say so."""
        with self._lock:
            sessions = sorted(self._sessions.values(), key=lambda each: each.memory, reverse=True)
        for session in sessions:
            if session.lock.acquire(blocking=False):
                try:
                    if session.connection is not None:
                        session.end()
                        session.is_evicted = True
                        return True
                finally:
                    session.lock.release()
        return False
