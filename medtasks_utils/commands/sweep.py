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

    Each model on each run of the plan is a job; the sweep starts and stops the models' servers. Re-run the same command
    after an interruption: finished jobs are skipped, and replies of unfinished ones are reused. Exit code
    1 if a job failed.
    """

    plan: Path
    """the plan, a YAML file"""
    _: KW_ONLY
    status: bool = False
    """print the jobs, their numbers of requests, how far they are, why they failed and what they cost; run nothing"""
    dry_run: bool = False
    """print what --status prints, then the commands to start, and the scripts that Slurm would get; run nothing"""
    ray: str | None = None
    """run the jobs on a Ray cluster: its address, or auto for the cluster of this machine"""
    cpus: PositiveInt | None = None
    """number of processors of this machine to use; default: all"""

    @classmethod
    def help(cls) -> str:
        """Return the text with an example of a plan."""
        from medtasks_utils.sweep.plan import EXAMPLE

        return f"{super().help()}\n\n{EXAMPLE}"

    def run(self) -> CommandResult:
        """Run the jobs that are not done; return the report's path and the jobs' records, as failed if a job is.

        With ``--status`` or ``--dry_run``, run nothing, and return the records.
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
        return CommandResult([str(page or "no report: no job is done")], job_records(plan), failed=bool(failures))
