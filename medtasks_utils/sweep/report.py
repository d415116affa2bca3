"""Write the report of a sweep, in which a model is a row, while its jobs run and at the end."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from medtasks_utils.writing import write_whole

from .job import Job, jobs_of
from .plan import Plan
from .records import last_lines

_LOG_LINES = 8  # number of lines of a job's log that are shown


def tell_failures(failed: Sequence[Job]) -> None:
    """Print why jobs failed."""
    for job in failed:
        log = job.folder / "log.txt"
        end = f"; the end of {log}:\n{last_lines(log, _LOG_LINES)}" if log.exists() else ""
        print(f"\n{job.name}: {job.state}{end}", file=sys.stderr)


def write_report(plan: Plan) -> Path | None:
    """Write a report on all jobs that are done, and return its path; None if no job is done.

    All runs of a model are one row, except those of tasks that another run of the model has too.
    """
    from medtasks_utils.report.page import build_page
    from medtasks_utils.results import Run, read_runs, united

    rows: dict[str, list[Run]] = defaultdict(list)
    missing: dict[str, list[str]] = defaultdict(list)
    for job in jobs_of(plan):
        if not job.is_done:
            missing[job.variant].append(f"{job.run.name}: {job.state}")
            continue
        (run,) = read_runs(str(job.results))
        run.results.setdefault("medtasks", {})["cost"] = job.cost
        of_model = rows[job.variant]
        place = next((at for at, row in enumerate(of_model) if row.tasks.keys().isdisjoint(run.tasks)), None)
        if place is None:
            of_model.append(replace(run, name=f"{job.variant} {job.run.name}" if of_model else job.variant))
        else:
            of_model[place] = united([of_model[place], run])
    if not rows:
        return None
    for variant, problems in missing.items():
        rows[variant] = rows[variant] or [Run(variant, variant, plan.output, "", {"config": {}}, {}, {})]
        rows[variant][0].notes = problems
    path = plan.output / "report.html"
    write_whole(path, build_page([run for of_model in rows.values() for run in of_model]))
    return path
