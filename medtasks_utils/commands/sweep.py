"""``medtasks sweep``: models × tasks × options, here or on a Ray cluster (:mod:`medtasks_utils.sweep`)."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from pydantic import NonNegativeFloat, NonNegativeInt

from medtasks_utils.writing import CommandResult

from .flags import Command


@dataclass
class Sweep(Command):
    """Run many models on many tasks, here or on a Ray cluster, resumed, ending in one report.

    Attributes:
        plan: a YAML file
        dry_run: print the jobs and how large they are, and run nothing
        ray: a Ray cluster: its address, or auto
        cpus: processors of this machine to use; default: all
        gpus: GPUs of this machine to use; default: all
    """

    plan: Path
    _: KW_ONLY
    dry_run: bool = False
    ray: str | None = None
    cpus: NonNegativeFloat | None = None
    gpus: NonNegativeInt | None = None

    @classmethod
    def help(cls) -> str:
        """With what a plan looks like."""
        from medtasks_utils.sweep import plan

        return f"{super().help()}\n\n{plan.__doc__}"

    def run(self) -> CommandResult:
        """Run the jobs that are not done; the result failed if any job did."""
        import logging

        from medtasks_utils.sweep.local import Machine
        from medtasks_utils.sweep.plan import read_plan
        from medtasks_utils.sweep.run import JobList, SweepResult, report, sweep

        logging.getLogger("lm_eval").setLevel(logging.ERROR)  # each job's own log has what the harness warns of
        plan = read_plan(self.plan)
        if self.dry_run:
            return JobList(plan)
        failures = sweep(plan, Machine.this_one(self.cpus, self.gpus), self.ray)
        return SweepResult(plan, failures, report(plan, failures))
