"""What is going on: a line a job in a terminal, and in a log a line when something happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from medtasks_utils.sweep.plan import Job


class Watch:
    """Shows the jobs of a sweep, given the number of requests that each begins with; a context manager."""

    def __init__(self, jobs: Mapping[Job, int], is_terminal: bool | None = None) -> None:
        self._draws = sys.stderr.isatty() if is_terminal is None else is_terminal
        self._sizes = dict(jobs)
        self._bars: dict[Job, Any] = {}
        self._started: dict[Job, float] = {}

    def __enter__(self) -> Watch:
        if self._draws:
            width = max(map(len, (job.name for job in self._sizes)), default=0)
            for place, (job, size) in enumerate(self._sizes.items()):
                bar: Any = tqdm(total=size, desc=job.name.ljust(width), position=place, unit="reply", leave=True)
                bar.set_postfix_str("waiting")
                self._bars[job] = bar
        return self

    def __exit__(self, *error: object) -> None:
        for bar in self._bars.values():
            bar.close()

    def says(self, job: Job, what: str) -> None:
        """Something happened to a job."""
        if what == "running":
            self._started[job] = time.monotonic()
        if self._draws:
            self._bars[job].set_postfix_str(what)
            return
        took = f" after {time.monotonic() - self._started[job]:.0f} s" if job in self._started else ""
        print(f"{job.name}: {what}{'' if what == 'running' else took}", file=sys.stderr, flush=True)

    def counts(self, job: Job, answered: int) -> None:
        """So many of a job's requests are answered; with tools there may be more than it began with."""
        if self._draws:
            bar = self._bars[job]
            bar.total = max(bar.total or 0, answered)
            bar.n = answered
            bar.refresh()
