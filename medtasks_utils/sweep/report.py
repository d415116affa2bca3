"""Write the report of a sweep, with one row per model and budget, while its jobs run and at the end."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from medtasks_utils.writing import write_whole

from .job import Job, jobs_of
from .plan import Plan


def tell_failures(failed: Sequence[Job]) -> None:
    """Print why jobs failed, with the paths of their logs."""
    for job in failed:
        print(f"{job.name}: {job.state}; its log: {job.folder}/log.txt", file=sys.stderr)


def write_report(plan: Plan) -> Path | None:
    """Write a report on all successful jobs, and return its path; None if no job has succeeded.

    A model's runs with the same budget share one row, except runs of the same task. Notes name the jobs that have not
    succeeded, with their states; a model without any successful job gets a row without scores.
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
        for place, row in enumerate(of_model):
            if row.tasks.keys().isdisjoint(run.tasks):
                of_model[place] = united([row, run])
                break
        else:
            of_model.append(replace(run, name=f"{job.variant} {job.run.name}" if of_model else job.variant))
    if not rows:
        return None
    for variant, problems in missing.items():
        rows[variant] = rows[variant] or [Run(variant, variant, plan.output, "", {"config": {}}, {}, {})]
        rows[variant][0].notes = problems
    path = plan.output / "report.html"
    write_whole(path, build_page([*chain.from_iterable(rows.values())]))
    return path
