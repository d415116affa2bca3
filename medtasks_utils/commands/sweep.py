"""``medtasks sweep``: models × tasks × options, here or on a Ray cluster (:mod:`medtasks_utils.sweep`)."""

from __future__ import annotations

import argparse
from pathlib import Path

from medtasks_utils.commands.flags import number, show

SUMMARY = "run many models on many tasks, here or on a Ray cluster, resumed, ending in one report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The plan, and where."""
    from medtasks_utils.sweep import plan

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = f"{SUMMARY}\n\n{plan.__doc__}"
    add = parser.add_argument
    add("plan", type=Path, metavar="PLAN", help="a YAML file")
    add("--dry_run", action="store_true", help="print the jobs and how large they are, and run nothing")
    add("--ray", metavar="ADDRESS", help="a Ray cluster: its address, or auto")
    add("--cpus", type=number(float, 0), metavar="N", help="processors of this machine to use; default: all")
    add("--gpus", type=number(int, 0), metavar="N", help="GPUs of this machine to use; default: all")


def run(arguments: argparse.Namespace) -> int:
    """Run what is not done; 0 if all jobs are."""
    from medtasks_utils.sweep.local import Machine
    from medtasks_utils.sweep.plan import read_plan
    from medtasks_utils.sweep.run import overview, report, sweep
    from medtasks_utils.writing import table

    plan = read_plan(arguments.plan)
    if arguments.dry_run:
        jobs = overview(plan)
        rows = [[value for name, value in job.items() if name != "folder"] for job in jobs]
        head = [name for name in jobs[0] if name != "folder"]
        return show(arguments, jobs, table(rows, head, left=2))
    failed = sweep(plan, Machine.this_one(arguments.cpus, arguments.gpus), arguments.ray)
    page = report(plan, failed)
    return show(arguments, overview(plan), str(page or "no job is done: no report"), failed=bool(failed))
