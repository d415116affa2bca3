"""``medtasks eval``: mistakes are found first, and the harness does the rest."""

import argparse
import io
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import default_text
from medtasks_utils.errors import reason_of
from medtasks_utils.writing import SECRETS, table

from . import patches
from .api_batch import spent
from .catalog import listings
from .checks import check, folder_of
from .kept import KeptAnswers
from .patches.run import under_way


class Evaluation:
    """One run of the harness.

    Attributes:
        config: what was asked for.
        seconds: how long it took.
        results: as the harness has them; None in all processes but the first.
        path: the results file; None if nothing was to be saved, or nothing could be.
        problem: what went wrong with saving, in a line.
        spent: tokens that the server reported, and how many answers were taken over from an earlier run.
    """

    def __init__(
        self, config: EvaluatorConfig, settings: Sequence[str], *, keep: bool = True, fresh: bool = False
    ) -> None:
        """Check what is asked for.

        Args:
            config: flags of ``lm_eval run``.
            settings: those of ``--set``.
            keep: whether answers are kept until the run has ended.
            fresh: whether those that an earlier run kept are asked anew.

        Raises:
            MedtasksError: for the first mistake; a UsageError where it is one of the command line.
        """
        self.config = config
        self.seconds = 0.0
        self.results: dict[str, Any] | None = None
        self.path: Path | None = None
        self.problem: str | None = None
        self.spent: dict[str, Any] = {}
        SECRETS.learn(config.model_args, config.hf_hub_log_args, config.wandb_args)
        with only_results_on_standard_output():
            self.manager = check(config, settings)
        model = {"kind": config.model, "seeds": config.seed, **config.model_args}
        self.kept = KeptAnswers(folder_of(config), model, fresh) if config.output_path and keep else None

    def run(self, harness: Any) -> None:
        """Run the harness, given its command; all that it prints goes to standard error.

        Where it fails or is stopped, the last line of the log says how to go on.
        """
        log = logging.getLogger("lm_eval")
        problems: dict[str, None] = {}

        def scrub(record: logging.LogRecord) -> bool:
            error = sys.exc_info()[1]
            if error is not None and record.name == "lm_eval.loggers.evaluation_tracker":
                problems[reason_of(error)] = None  # which the harness logs and forgets
            record.msg, record.args = SECRETS.scrub(record.getMessage()), ()
            return True

        spent.clear()
        self._start = time.perf_counter()
        with ExitStack() as stack:
            for handler in log.handlers:
                handler.addFilter(scrub)
                stack.callback(handler.removeFilter, scrub)
            stack.callback(under_way.reset, under_way.set(self))
            stack.callback(patches.apply(patches.OF_THE_COMMAND))
            stack.enter_context(only_results_on_standard_output())
            try:
                harness(argparse.Namespace(**asdict(self.config)))
            except BaseException:
                log.warning(self._way_on)
                raise
        if problems:
            said = "; ".join([*problems, self._way_on])
            self.problem = f"not all results could be saved in {self.config.output_path}: {said}"
        elif self.kept is not None and self.results is not None:
            self.kept.end()

    @property
    def _way_on(self) -> str:
        if self.kept is None:
            return "no answer is kept; with --output_path results, the same command would go on"
        return self.kept.way_on

    def finish(self, results: dict[str, Any]) -> dict[str, Any]:
        """What is saved of the harness's results: with what was spent, and without secrets."""
        self.spent = {"tokens": dict(spent)} if spent else {}
        if self.kept and self.kept.taken:
            self.spent["answers_taken_over"] = self.kept.taken
        self.seconds = time.perf_counter() - self._start
        sys.stdout = io.StringIO()  # what the harness prints from here on: its table, with keys in the first line
        self.results = SECRETS.scrub({**results, **({"medtasks": self.spent} if self.spent else {})})
        return self.results

    def saved(self, date: str) -> None:
        """Take note of the results file."""
        self.path = next(folder_of(self.config).glob(f"*_{date}.json"), None)


@contextmanager
def only_results_on_standard_output() -> Iterator[None]:
    """Within this, what is written to standard output goes to standard error, by processes that are started too."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(ours, 1)
        os.close(ours)


def tasks_and_options() -> str:
    """The lists that ``--help`` ends in: tasks and groups from the YAML, options from their classes."""
    lines = ["tasks and groups (*):", table(listings(), left=2)]
    for benchmark in benchmarks().values():
        lines += ["", f"options of {benchmark.name} (--set {benchmark.name}.OPTION=VALUE), with their defaults:"]
        options = benchmark.options.model_fields.items()
        rows = [(f"{name} ({default_text(option.default)})", option.description) for name, option in options]
        lines.append(table(rows, left=2))
    return "\n".join(lines)
