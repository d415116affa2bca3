"""What is going on: a line a job in a terminal, and in a log a line when something happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from medtasks_utils.sweep.plan import Job


class Watch:
    """Shows the jobs of a sweep, given the number of requests that each begins with."""

    def __init__(self, jobs: Mapping[Job, int]) -> None:
        self._bars: dict[Job, Any] = {
            job: tqdm(total=size, desc=job.name, position=place, unit="reply", disable=None)
            for place, (job, size) in enumerate(jobs.items())
        }

    def close(self) -> None:
        """Leave the lines as they are."""
        for bar in self._bars.values():
            bar.close()

    def says(self, job: Job, what: str) -> None:
        """Something happened to a job."""
        self._bars[job].set_postfix_str(what)
        if self._bars[job].disable:
            print(f"{time.strftime('%H:%M:%S')} {job.name}: {what}", file=sys.stderr, flush=True)

    def counts(self, job: Job, answered: int) -> None:
        """So many of a job's requests are answered; with tools there may be more than it began with."""
        self._bars[job].n = answered
        self._bars[job].refresh()
