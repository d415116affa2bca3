"""Provide :class:`Sandbox`, which manages sessions and decides which of them have a process."""

import os
import resource
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from medtasks_utils.errors import logger

from .execution_result import ExecutionResult, readable
from .workers import PATIENCE, Session, Zygote


class Sandbox:
    """A sandbox that runs Python code and keeps the variables of each session.

    Use it as a context manager. It starts on the first call. All of its processes end with :meth:`close`, or when the
    process that created it ends. It is thread-safe: calls start in the order in which they are made, ``processes`` at a
    time. When there is no room for another process, the newest idle session loses its process and variables; if none is
    idle, the call waits, and fails after :data:`.workers.PATIENCE` seconds.

    Args:
        timeout: maximum wall-clock time of a call, in seconds.
        memory_mb: maximum memory of a session's code, in MiB.
        processes: maximum number of calls that run at the same time; by default, the number of cores.
        max_output: maximum number of characters in a result's text.
        alive: maximum number of sessions that keep a process between calls, at least ``processes``; they use at most
            half of the user's limit on open files.
        weak: True to fall back to RestrictedPython if the kernel cannot confine plain Python. RestrictedPython is not a
            security boundary; use it only with models that you trust.
        repl: True to run code in :class:`.inside.repl.Repl`, confined in the same way.
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
        repl: bool = False,
        _off: Iterable[str] = (),
        _anyway: bool = False,
    ) -> None:
        self._settings = {"memory_mb": memory_mb, "anyway": _anyway, "off": list(_off), "repl": repl}
        self._timeout, self._max_output, self._weak = timeout, max_output, weak
        processes = processes or os.cpu_count() or 1
        self._alive = max(processes, alive)
        self._zygote: Zygote | None = None
        self._paths: Sequence[str] = ()
        self._sessions: dict[str, Session] = {}
        self._spawning = threading.RLock()  # never held while code runs
        self._threads = ThreadPoolExecutor(processes)  # serves calls in their order

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ---- the interface

    def run(self, calls: Sequence[tuple[str, str]]) -> list[ExecutionResult]:
        """Run calls, which are pairs of a session's key and code: sessions in parallel, calls of a session in order.

        Return one result per call, in the order of the calls. Failing code leads to a result, not to an exception.

        Raises:
            MedtasksError: if the sandbox cannot start.
        """
        codes = defaultdict(list)
        for key, code in calls:
            codes[key].append(code)

        def run_session(key: str) -> Iterator[ExecutionResult]:
            return iter([self._call(key, code) for code in codes[key]])

        results = dict(zip(codes, self._threads.map(run_session, codes), strict=True))
        return [next(results[key]) for key, _ in calls]

    def forget(self, session: str) -> None:
        """End a session, with its process and variables, after its current call; do nothing for an unknown session."""
        self._sessions.pop(session, Session()).end()

    def close(self) -> None:
        """End all processes, and with them all running and waiting calls. The next call starts the sandbox again."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._threads = ThreadPoolExecutor(self._threads._max_workers)
        zygote, self._zygote = self._zygote, None
        if zygote:
            zygote.end()
        for session in list(self._sessions):
            self.forget(session)

    @property
    def layers(self) -> dict[str, str]:
        """The layers, each with the reason why it is off, or an empty string; starts the sandbox if necessary."""
        return self.started().layers

    def started(self) -> Zygote:
        """Return the zygote; start it if necessary.

        Raises:
            OSError: if the zygote's folder or process cannot be made.
            MedtasksError: if the zygote ends before it is ready, or if the kernel cannot confine plain Python and
                ``weak`` is False.
        """
        with self._spawning:
            if self._zygote is None:
                self._zygote = Zygote(self._settings, self._weak)
                self._paths = self._zygote.paths
                self._alive = most_alive(self._alive)
                log = logger.warning if self._zygote.missing else logger.info
                log("sandbox: %s", self._zygote.description)
            return self._zygote

    # ---- one call

    def _call(self, key: str, code: str) -> ExecutionResult:
        """Run code in a session, and end the session's process if it can no longer be used."""
        session = self._sessions.setdefault(key, Session())
        with session.lock:
            data, failed, problem = b"", True, session.evicted
            try:
                if session.connection is None and not problem:
                    self._spawn(session)
            except OSError as error:
                problem = f"could not start a process for the code: {error}"
            if not problem:
                data, failed, problem = session.run(code, self._timeout)
            if problem:
                session.end()
                problem = f"Error: {problem}; all variables were lost"
        return ExecutionResult(readable(data, self._max_output, self._paths, problem), failed)

    def _spawn(self, session: Session) -> None:
        """Start a process for a session; if there is no room, end an idle session's process, or wait.

        Raises:
            OSError: if there is still no room after :data:`.workers.PATIENCE` seconds, or the sandbox is closed.
            MedtasksError: if the sandbox cannot start.
        """
        deadline = time.monotonic() + PATIENCE
        with self._spawning:
            alive = sum(other.connection is not None for other in list(self._sessions.values()))
            if alive >= self._alive:
                self._evict()
            while True:
                zygote = self.started()
                try:
                    return zygote.spawn(session)
                except ConnectionError:
                    if self._zygote is not zygote:
                        raise ConnectionAbortedError("the sandbox was closed") from None
                    logger.warning("sandbox: the forking process ended unexpectedly; starting it again")
                    self._zygote = None
                    zygote.end()
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    if not self._evict():
                        time.sleep(0.02)

    def _evict(self) -> bool:
        """End the process of the newest idle session; return whether there was one.

        The next call of that session fails with an error that gives this reason.
        """
        for session in reversed(list(self._sessions.values())):
            if session.connection and session.lock.acquire(blocking=False):
                session.end()
                session.evicted = "the process was ended to make room for others"
                session.lock.release()
                return True
        return False


def most_alive(wanted: int) -> int:
    """Raise the limit on open files, and return how many sessions may have a process, between 1 and ``wanted``.

    The limit is raised as far as ``wanted`` sessions need, but not above the hard limit. The returned number of
    sessions uses at most half of it, unless the number is 1.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = max(soft, min(hard, 4 * wanted))  # a session needs two
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, min(wanted, files // 4))
