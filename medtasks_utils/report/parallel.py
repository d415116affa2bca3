"""Jobs in several processes that share what was read, where the system can fork."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

T = TypeVar("T")

_MOST = 8  # processes
_jobs: list[Callable[[], Any]] = []  # what forked processes find; nothing but numbers is sent to them


@contextmanager
def in_parallel(jobs: Sequence[Callable[[], T]], worth_it: bool = True) -> Iterator[Iterator[T]]:
    """The jobs' results, which can be pickled, in order, as they come; meanwhile other work can go on here.

    Where it is not ``worth_it``, each job is done here when its result is asked for.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if cores < 2 or not jobs or not worth_it:
        yield (job() for job in jobs)
        return
    _jobs[:] = jobs
    try:
        with ProcessPoolExecutor(min(_MOST, len(jobs), cores), mp_context=get_context("fork")) as pool:
            yield pool.map(_do, range(len(jobs)))
    finally:
        _jobs.clear()


def _do(number: int) -> Any:
    return _jobs[number]()
