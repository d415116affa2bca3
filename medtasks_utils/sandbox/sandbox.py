"""The interface of the sandbox: it keeps the sessions, and decides which of them have a process."""

import os
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from medtasks_utils.errors import logger

from . import capacity
from .execution_result import ExecutionResult, readable
from .workers import PATIENCE, Session, Zygote


class Sandbox:
    """A sandbox that runs Python code and keeps each session's variables.

    A context manager. It starts on the first call; :meth:`close` ends all of its processes, and so does the end of the
    process that made it. It is thread-safe: calls run in the order in which they are made, ``processes`` at a time.
    When processes or memory run out, the idle session that holds most memory loses its process and variables, and calls
    wait.

    Args:
        timeout: most seconds of wall-clock time that a call may take.
        memory_mb: megabytes of memory that a session's code may use.
        processes: how many calls run at the same time; default: the number of cores.
        max_output: most characters of a result's text.
        alive: most sessions that keep a process between calls; fewer if the machine has no room for them.
        weak: True to run RestrictedPython if the kernel cannot confine plain Python. That is no security boundary: only
            for models that you trust.
        _off: layers to leave out, for tests: ``namespaces``, ``landlock``, ``seccomp``, ``limits``.
        _anyway: True to run plain Python even if layers are off, for tests.
    """

    def __init__(
        self,
        *,
        timeout: float = 10.0,
        memory_mb: int = 1024,
        processes: int | None = None,
        max_output: int = 10_000,
        alive: int = 2_000,
        weak: bool = False,
        _off: Iterable[str] = (),
        _anyway: bool = False,
    ) -> None:
        self._settings = {"memory_mb": memory_mb, "anyway": _anyway, "off": list(_off)}
        self._timeout, self._memory, self._max_output, self._weak = timeout, memory_mb << 20, max_output, weak
        processes = processes or os.cpu_count() or 1
        self._alive = max(processes, alive)
        self._zygote: Zygote | None = None
        self._sessions: dict[str, Session] = {}
        self._spawning = threading.RLock()  # never held while code runs
        self._threads = ThreadPoolExecutor(processes)  # serves calls in their order

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- the interface

    def run(self, calls: Sequence[tuple[str, str]]) -> list[ExecutionResult]:
        """Run calls: different sessions in parallel, the calls of one session in order.

        Args:
            calls: pairs of a session's key and code.

        Returns:
            One result per call, in the order of the calls. Code that fails is a result, not an exception.

        Raises:
            MedtasksError: if the sandbox cannot start.
        """
        indices: dict[str, list[int]] = {}
        for index, (key, _) in enumerate(calls):
            indices.setdefault(key, []).append(index)
        results = [ExecutionResult("", True)] * len(calls)

        def run_session(key: str) -> None:
            for index in indices[key]:
                results[index] = self._call(key, calls[index][1])

        list(self._threads.map(run_session, indices))
        return results

    def forget(self, session: str) -> None:
        """End a session once its current call has ended; its process and variables are gone."""
        self._sessions.pop(session, Session()).end()

    def close(self) -> None:
        """End all processes, those of running calls included. The next call starts the sandbox again."""
        if self._zygote:
            self._zygote.end()
        self._zygote = None
        for session in list(self._sessions):
            self.forget(session)

    @property
    def layers(self) -> dict[str, str]:
        """The reason why each layer is off, or an empty string if it is on; starts the sandbox if needed."""
        return self.started().layers

    def started(self) -> Zygote:
        """Return the forking process, which is started if needed.

        Raises:
            MedtasksError: if it cannot start, or if the kernel cannot confine plain Python and ``weak`` is False.
        """
        with self._spawning:
            if self._zygote is None:
                self._zygote = Zygote(self._settings, self._weak)
                self._paths = self._zygote.paths
                self._alive = capacity.most_sessions(self._alive)
                log = logger.warning if self._zygote.missing else logger.info
                log("sandbox: %s", self._zygote.description)
            return self._zygote

    # ---- one call

    def _call(self, key: str, code: str) -> ExecutionResult:
        """Run code in a session, and end the session's process if it cannot go on."""
        session = self._sessions.setdefault(key, Session())
        with session.lock:
            data, failed, problem = b"", True, session.evicted
            try:
                if session.connection is None and not problem:
                    self._spawn(session)
            except OSError as error:
                problem = f"no process could be started for the code: {error}"
            if not problem:
                data, failed, problem = session.run(code, self._timeout)
            if problem:
                session.end()
                problem = f"Error: {problem}; all variables were lost"
        return ExecutionResult(readable(data, self._max_output, self._paths, problem), failed)

    def _spawn(self, session: Session) -> None:
        """Start a process for a session as soon as there is room for one.

        Raises:
            OSError: if there is no room within a minute.
        """
        deadline = time.monotonic() + PATIENCE
        with self._spawning:
            alive = sum(other.connection is not None for other in list(self._sessions.values()))
            if alive >= self._alive or capacity.is_memory_short(self._memory):
                self._evict()
            while True:
                zygote = self.started()
                try:
                    return zygote.spawn(session)
                except ConnectionError:
                    logger.warning("sandbox: its process was lost and is started again")
                    self._zygote = None
                    zygote.end()
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    if not self._evict():
                        time.sleep(0.02)

    def _evict(self) -> bool:
        """End the idle process that holds most memory, which its session's next call reports; False if none is idle."""
        for session in sorted(self._sessions.values(), key=lambda session: session.memory, reverse=True):
            if session.connection and session.lock.acquire(blocking=False):
                session.end()
                session.evicted = "there was no room for all processes, and this one was ended"
                session.lock.release()
                return True
        return False
