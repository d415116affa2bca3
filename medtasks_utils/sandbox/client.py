"""The run's side of the sandbox: it holds the sessions, and decides which may have a process."""

import os
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from medtasks_utils.errors import logger

from . import capacity
from .output import Result, readable
from .process import PATIENCE, Session, Zygote


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
        alive: sessions whose processes are kept at most; fewer where there is no room for so many.
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
        self._spawning = threading.RLock()  # never held while a call runs
        self._places = ThreadPoolExecutor(processes)  # its queue is first come, first served

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- the interface

    def run(self, calls: Sequence[tuple[str, str]]) -> list[Result]:
        """Run calls: sessions side by side, the calls of one session in their order.

        Args:
            calls: pairs of a session's key and code.

        Returns:
            One result per call, in the order of the calls, whatever the code does.

        Raises:
            MedtasksError: if the sandbox cannot start.
        """
        places: dict[str, list[int]] = {}
        for place, (session, _) in enumerate(calls):
            places.setdefault(session, []).append(place)
        results = [Result("", True)] * len(calls)

        def run_session(session: str) -> None:
            for place in places[session]:
                results[place] = self._call(session, calls[place][1])

        list(self._places.map(run_session, places))
        return results

    def forget(self, session: str) -> None:
        """End a session, once its call has ended: its process and variables."""
        self._sessions.pop(session, Session()).end()

    def close(self) -> None:
        """End all processes, and the calls that run. The next call starts anew."""
        if self._zygote:
            self._zygote.end()
        self._zygote = None
        for session in list(self._sessions):
            self.forget(session)

    @property
    def layers(self) -> dict[str, str]:
        """By layer, why it is off, or an empty string if it is on; starts the sandbox if need be."""
        return self.started().layers

    def started(self) -> Zygote:
        """The process that forks, started if need be.

        Raises:
            MedtasksError: if it cannot start, or if the kernel offers no boundary and ``weak`` does not waive it.
        """
        with self._spawning:
            if self._zygote is None:
                self._zygote = Zygote(self._settings, self._weak)
                self._paths = self._zygote.paths
                self._alive = capacity.sessions(self._alive)
                said = logger.warning if self._zygote.missing else logger.info
                said("sandbox: %s", self._zygote.description)
            return self._zygote

    # ---- one call

    def _call(self, key: str, code: str) -> Result:
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
        return Result(readable(data, self._max_output, self._paths, problem), failed)

    def _spawn(self, session: Session) -> None:
        """Give a session a process, once there is room for one.

        Raises:
            OSError: if there is none for a minute.
        """
        deadline = time.monotonic() + PATIENCE
        with self._spawning:
            alive = sum(each.connection is not None for each in list(self._sessions.values()))
            if alive >= self._alive or capacity.is_memory_short(self._memory):
                self._evict()
            while True:
                zygote = self.started()
                try:
                    return zygote.spawn(session)
                except ConnectionError:
                    logger.warning("sandbox: lost and started anew")
                    self._zygote = None
                    zygote.end()
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    if not self._evict():
                        time.sleep(0.02)

    def _evict(self) -> bool:
        """End the idle process that holds most; its session will say so."""
        for session in sorted(self._sessions.values(), key=lambda each: each.memory, reverse=True):
            if session.connection and session.lock.acquire(blocking=False):
                session.end()
                session.evicted = "there was no room for all processes, and this one was ended"
                session.lock.release()
                return True
        return False
