"""``medtasks eval``: ``lm_eval run`` with our tasks and options (:mod:`medtasks_utils.harness.evaluation`)."""

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError
from medtasks_utils.writing import SECRETS, filled

from .flags import Command, CommandResult, described

if TYPE_CHECKING:
    from medtasks_utils.harness.lm_eval_names import EvaluatorConfig


@dataclass(kw_only=True)
class HarnessCommand(Command):
    """A command that accepts every flag of ``lm_eval run``."""

    usage = ""
    data: str | None = None
    """source of the rows: hub, sample, or a directory"""
    set: Sequence[str] = ()
    """an option, such as medhallu.difficulty=hard; items of a list are separated by commas (repeatable)"""

    @classmethod
    def help(cls) -> str:
        """Return the help text, followed by the tasks and options."""
        return f"{super().help()}\n\n{tasks_and_options()}"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add our own flags, then all flags of ``lm_eval run``."""
        from medtasks_utils.harness.command_line import add_flags_of_run

        parser.usage = cls.usage
        super().add_arguments(parser)
        add_flags_of_run(parser)

    def configured(self) -> "EvaluatorConfig":
        """Set up lm_eval's logging, with secrets hidden, and return lm_eval's configuration for the given flags."""
        from medtasks_utils.harness.command_line import configured
        from medtasks_utils.harness.lm_eval_names import setup_logging

        setup_logging(self.arguments.verbosity or "INFO")
        for handler in logging.getLogger("lm_eval").handlers:
            handler.addFilter(SECRETS)
        return configured(self.arguments, self.data, self.set)


@dataclass(kw_only=True)
class Eval(HarnessCommand):
    about = """
    Run lm_eval on this package's tasks, with all flags of lm_eval run and a faster start.

    examples:
      medtasks eval --data sample --tasks medtasks --apply_chat_template \\
        --model local-chat-completions --model_args \\
        model=NAME,base_url=http://localhost:8000/v1/chat/completions
      medtasks eval --tasks medhallu --set medhallu.difficulty=hard --model hf ...
      accelerate launch "$(which medtasks)" eval --tasks medexqa --model hf ...
    """

    usage = "medtasks eval --model MODEL --model_args NAME=VALUE,... --tasks TASK,..."
    no_keep: bool = False
    """do not keep replies next to the output for an interrupted or extended run to reuse"""
    fresh: bool = False
    """ignore the replies of interrupted runs"""
    extend: bool = False
    """reuse valid replies of finished runs in the output folder, and request only the others"""
    against: str | None = None
    """evaluate examples in random order, and stop each task once the comparison with this saved run (a results file, or
    a folder with one run) is decided at 95 % confidence: the model is better, worse, or within --within points of it"""
    within: Annotated[float | None, Field(ge=0, le=100)] = None
    """with --against, the largest difference in percentage points that still counts as equal; default: 2"""

    def run(self) -> CommandResult | None:
        """Run the harness, and return the run's scores; None in all processes but the first.

        Raises:
            UsageError: for ``--within`` without ``--against``.
        """
        from medtasks_utils.harness.evaluation import Evaluation

        from .eval_result import result_of

        config = self.configured()
        saved_run = None
        if self.against is not None:
            from medtasks_utils.compare.against import SavedRun  # imported late: it takes seconds

            saved_run = SavedRun(self.against, config.tasks, self.within)
        elif self.within is not None:
            raise UsageError("--within has no effect without --against RUN: add it, or omit --within")
        evaluation = Evaluation(
            config, self.set, keep=not self.no_keep, fresh=self.fresh, extend=self.extend, saved_run=saved_run
        )
        evaluation.run(self.arguments.func)
        return result_of(evaluation)


def tasks_and_options() -> str:
    """Return the end of the help text: tasks and groups, options, and the benchmarks that failed to load."""
    from medtasks_utils.benchmarks import benchmarks
    from medtasks_utils.benchmarks.options import default_text
    from medtasks_utils.benchmarks.yaml_tasks import listings

    lines = ["tasks and groups (*):", *described(listings())]
    for benchmark in benchmarks().usable():
        lines += [
            "",
            filled(f"options of {benchmark.name} (--set {benchmark.name}.OPTION=VALUE), with their defaults:"),
        ]
        options = benchmark.options_class.model_fields.items()
        lines += described(
            (f"{name} ({default_text(option.default)})", option.description or "") for name, option in options
        )
    if problems := benchmarks().problems:
        lines += ["", "benchmarks that cannot be used:", *problems]
    return "\n".join(lines)
