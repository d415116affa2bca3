"""``medtasks sweep``: run models × tasks here, on a Ray cluster or under Slurm (:mod:`medtasks_utils.sweep`)."""

from dataclasses import KW_ONLY
from pathlib import Path

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from .flags import Command, CommandResult


@dataclass
class Sweep(Command):
    about = """
    Run many models on many tasks, on this machine, a Ray cluster or under Slurm, and write one report.

    Each run of each model in the plan is a job; the sweep starts and stops the models' servers. Re-run the same command
    after an interruption: finished jobs are skipped, and replies of unfinished ones are reused. Exit code 1 if a job
    failed.
    """

    plan: Path
    """the plan, a YAML file"""
    _: KW_ONLY
    status: bool = False
    """list each job with its number of requests, progress, cost and, if it failed, the reason; run nothing"""
    dry_run: bool = False
    """like --status, and also print the commands and Slurm scripts of the jobs; run nothing"""
    ray: str | None = None
    """run the jobs on the Ray cluster at this address; auto: the cluster of this machine"""
    cpus: PositiveInt | None = None
    """number of this machine's processors to use; default: all"""

    @classmethod
    def help(cls) -> str:
        """Return the help text, followed by an example of a plan."""
        from medtasks_utils.sweep.plan import EXAMPLE

        return f"{super().help()}\n\n{EXAMPLE}"

    def run(self) -> CommandResult:
        """Run the unfinished jobs, and return the report's path and the jobs' records.

        The command fails if a job failed. With ``--status`` or ``--dry_run``, nothing runs, and the jobs'
        progress is returned.
        """
        import logging

        from medtasks_utils.sweep.plan import read_plan
        from medtasks_utils.sweep.report import tell_failures, write_report
        from medtasks_utils.sweep.scheduler import sweep
        from medtasks_utils.sweep.status import dry_run, job_records, status_lines

        logging.getLogger("lm_eval").setLevel(logging.ERROR)  # the harness's warnings are in each job's log
        plan = read_plan(self.plan)
        if self.status or self.dry_run:
            records = job_records(plan)
            commands = dry_run(plan) if self.dry_run else ()
            return CommandResult([*status_lines(plan, records), *commands], records)
        failures = sweep(plan, self.cpus, self.ray)
        tell_failures(failures)
        page = write_report(plan)
        return CommandResult([str(page or "no report: no job has finished")], job_records(plan), failed=bool(failures))
