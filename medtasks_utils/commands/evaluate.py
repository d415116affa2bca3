"""``medtasks eval``: ``lm_eval run`` with our tasks and options (:mod:`medtasks_utils.harness.evaluation`)."""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from medtasks_utils.errors import UsageError
from medtasks_utils.writing import counted

from .flags import Command, print_error

if TYPE_CHECKING:
    from medtasks_utils.harness.evaluation import Evaluation
    from medtasks_utils.harness.lm_eval_names import EvaluatorConfig
    from medtasks_utils.report.score_table import ScoreLine
    from medtasks_utils.results import Run


@dataclass(kw_only=True)
class HarnessCommand(Command):
    """A command that accepts every flag of ``lm_eval run``.

    Attributes:
        data: source of the rows: hub, sample, or a directory
        set: an option, as in medhallu.difficulty=hard; items of a list are separated by commas (repeatable)
    """

    usage: ClassVar[str]
    data: str | None = None
    set: Sequence[str] = ()
    arguments: argparse.Namespace = field(init=False)
    """The flags of ``lm_eval run``."""

    @classmethod
    def help(cls) -> str:
        """Return the docstring, followed by lists of the tasks and options, which take a second to create."""
        from medtasks_utils.harness.evaluation import tasks_and_options

        return f"{super().help()}\n\n{tasks_and_options()}"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add our own flags, then all flags of ``lm_eval run``."""
        from medtasks_utils.harness.command_line import add_flags_of_run

        parser.usage = cls.usage
        super().add_arguments(parser)
        add_flags_of_run(parser)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "HarnessCommand":
        """Create the command from parsed arguments; those of ``lm_eval run`` remain in one namespace."""
        values = vars(arguments)
        names = [field.name for field in fields(cls) if field.name in values]
        command = cls(**{name: values.pop(name) for name in names})
        command.arguments = arguments
        return command

    def configured(self) -> "EvaluatorConfig":
        """Return the configuration that follows from the flags."""
        from medtasks_utils.harness.command_line import configured
        from medtasks_utils.harness.lm_eval_names import setup_logging

        setup_logging(self.arguments.verbosity or "INFO")
        return configured(self.arguments, self.data, self.set)


@dataclass(kw_only=True)
class Eval(HarnessCommand):
    """Run lm_eval on this package's tasks, with every flag of lm_eval run and a faster start.

    examples:
      medtasks eval --data sample --tasks medtasks --apply_chat_template --model local-chat-completions \\
        --model_args model=NAME,base_url=http://localhost:8000/v1/chat/completions,num_concurrent=32
      medtasks eval --tasks medhallu --set medhallu.difficulty=hard --set medhallu.repeats=4 --model hf ...
      accelerate launch "$(which medtasks)" eval --tasks medexqa --model hf ...

    Attributes:
        no_keep: do not keep replies next to the output (they are reused if the run is interrupted, or extended later)
        fresh: ignore replies that an interrupted run has kept
        extend: reuse those replies of finished runs in the output folder that are still valid; request only the others
        against: evaluate examples in random order, and stop each task as soon as it is decided at 95 % confidence
            whether the model is better or worse than this saved run (a results file, or a folder with one run) on the
            same examples, or within --within points of it
        within: with --against, the largest difference that does not matter, in percentage points; default: 2
    """

    usage = "medtasks eval --model MODEL --model_args NAME=VALUE,... --tasks TASK,... [flags]"
    no_keep: bool = False
    fresh: bool = False
    extend: bool = False
    against: str | None = None
    within: Annotated[float, Field(ge=0, le=100)] | None = None

    def run(self) -> "EvalResult | None":
        """Run the harness, and return its scores; None in all processes but the first."""
        from medtasks_utils.harness.evaluation import Evaluation

        config = self.configured()
        saved_run = None
        if self.against is not None:
            from medtasks_utils.compare.against import Against  # imported late: it takes seconds

            saved_run = Against(self.against, config.tasks, self.within)
        elif self.within is not None:
            raise UsageError("--within has no effect without --against RUN: add it, or omit --within")
        evaluation = Evaluation(
            config, self.set, keep=not self.no_keep, fresh=self.fresh, extend=self.extend, saved_run=saved_run
        )
        evaluation.run(self.arguments.func)
        return EvalResult.of(evaluation)


@dataclass(frozen=True)
class EvalResult:
    """The result of ``medtasks eval``: the evaluation, the run that it wrote, and its scores."""

    evaluation: "Evaluation"
    saved: "Run"
    lines: "list[ScoreLine]"

    @classmethod
    def of(cls, evaluation: "Evaluation") -> "EvalResult | None":
        """Create the result of an evaluation; None in all processes but the first."""
        if evaluation.results is None:
            return None
        if evaluation.problem:
            print_error(evaluation.problem)
        from medtasks_utils.report.score_table import lines_of  # imported late: it takes seconds
        from medtasks_utils.results import as_run, read_runs

        path = evaluation.path
        run = read_runs(path)[0] if path else as_run(evaluation.results, Path("run"))
        return cls(evaluation, run, lines_of(run))

    @property
    def failed(self) -> bool:
        """True if the results could not be saved."""
        return bool(self.evaluation.problem)

    def to_data(self) -> dict[str, Any]:
        """Return a JSON-compatible dict with the scores, the time and tokens, and the path of the results."""
        from medtasks_utils.harness.checks import model_name
        from medtasks_utils.report.score_table import score_data

        evaluation = self.evaluation
        return {
            "model": model_name(evaluation.config),
            "scores": score_data(self.lines),
            "limit": evaluation.config.limit,
            "seconds": round(evaluation.seconds, 3),
            "tokens": None,
            "answers_taken_over": 0,
            **evaluation.spent,
            "against": evaluation.against,
            "results": str(evaluation.path) if evaluation.path else None,
            "problem": evaluation.problem,
        }

    def to_text(self) -> str:
        """Return a text with the scores, remarks on the tasks, the time and tokens, and the path of the results."""
        from medtasks_utils.report.score_table import score_table

        no_scores = "no scores (--predict_only keeps responses without scoring them)"
        remarks = [f"{task.task}: {remark}" for task in self.saved.tasks.values() for remark in task.remarks]
        scores = score_table(self.lines) or no_scores
        return "\n".join([scores, *remarks, *self._shares(), "", self._spent(), self._next()])

    def _shares(self) -> list[str]:
        """Return a line for each task with the share of examples that ``--limit`` selects; empty without it."""
        limit = self.evaluation.config.limit
        numbers = (self.evaluation.results or {}).get("n-samples", {}) if limit else {}
        return [
            f"{task}: --limit {limit:g}, {of_task['effective']:,} of {of_task['original']:,} examples "
            f"({100 * of_task['effective'] / of_task['original']:.1f} %)"
            for task, of_task in numbers.items()
        ]

    def _spent(self) -> str:
        """Return a line with the time, the tokens, the reused replies and the tool calls."""
        spent = self.evaluation.spent
        parts = [f"{self.evaluation.seconds:,.1f} s"]
        parts += [f"{count:,} {kind} tokens" for kind, count in spent.get("tokens", {}).items() if kind != "replies"]
        if "answers_taken_over" in spent:
            parts.append(f"{counted(spent['answers_taken_over'], 'reply', 'replies')} reused")
        for line in self.lines:
            if line.means["tool_calls"]:
                parts.append(f"{line.means['tool_calls']:.2f} tool calls per example ({line.topic.name})")
        return ", ".join(parts)

    def _next(self) -> str:
        """Return lines that say where the results are, and suggest the next command."""
        if self.evaluation.path is None and self.evaluation.unsaved:
            return "not saved"
        if self.evaluation.path is None:
            return "not saved; add --output_path results --log_samples to see every sample with medtasks report"
        path = self.evaluation.path
        is_file = str(self.evaluation.config.output_path).endswith(".json")  # its folder may hold other runs
        folder = shlex.quote(str(path if is_file else path.parent))
        if self.evaluation.unsaved:
            return f"only a part of the results is saved in {folder}"
        if self.evaluation.config.predict_only:
            way_on = "\nnext: run the same command with --extend instead of --predict_only to score them"
            return f"saved in {folder}{way_on * (self.evaluation.store is not None)}"
        return f"saved in {folder}\nnext: medtasks report {folder} -o report.html"
