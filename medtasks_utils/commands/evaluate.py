"""``medtasks eval``: ``lm_eval run`` with this pack's tasks and options at hand (:mod:`.harness.evaluate`)."""

import argparse
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .flags import Command

if TYPE_CHECKING:
    from medtasks_utils.harness.evaluate import Evaluation
    from medtasks_utils.report.short import Line
    from medtasks_utils.results import Run


@dataclass(kw_only=True)
class Eval(Command):
    """Run lm_eval with these tasks included: every flag of lm_eval run, a quicker start.

    examples:
      medtasks eval --data sample --tasks medtasks --apply_chat_template --model local-chat-completions \\
        --model_args model=NAME,base_url=http://localhost:8000/v1/chat/completions,num_concurrent=32
      medtasks eval --tasks medhallu --set medhallu.difficulty=hard --set medhallu.repeats=4 --model hf ...
      accelerate launch "$(which medtasks)" eval --tasks medexqa --model hf ...

    Attributes:
        data: where the rows come from: hub, sample, or a directory
        set: options, as in medhallu.difficulty=hard; a list as in rougeL,bleu
        no_keep: keep no answers for the case that the run dies
        fresh: ask anew what a run that died has kept
    """

    data: str | None = None
    set: Sequence[str] = ()
    no_keep: bool = False
    fresh: bool = False
    arguments: argparse.Namespace = field(init=False)
    """Of ``lm_eval run``."""

    @classmethod
    def help(cls) -> str:
        """With the tasks and options, which take a second to look up."""
        from medtasks_utils.harness.evaluate import tasks_and_options

        return f"{super().help()}\n\n{tasks_and_options()}"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Ours first, then all flags of ``lm_eval run``, which adds them itself."""
        from medtasks_utils.harness.late import import_lm_eval

        import_lm_eval()
        from medtasks_utils.harness.command_line import add_flags_of_run

        parser.usage = "medtasks eval --model MODEL --model_args NAME=VALUE,... --tasks TASK,... [flags]"
        super().add_arguments(parser)
        add_flags_of_run(parser)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "Eval":
        """The command, with those of ``lm_eval run`` as they are."""
        given = vars(arguments)
        command = cls(**{own.name: given.pop(own.name) for own in fields(cls) if own.name in given})
        command.arguments = arguments
        return command

    def run(self) -> int:
        """Run the harness and say what came of it; 1 if its results could not be saved where they should."""
        from lm_eval.utils import setup_logging

        from medtasks_utils.errors import MedtasksError
        from medtasks_utils.harness.command_line import configured
        from medtasks_utils.harness.evaluate import Evaluation

        setup_logging(self.arguments.verbosity or "INFO")
        config = configured(self.arguments, self.data, self.set)
        done = Evaluation(config, self.set, keep=not self.no_keep, fresh=self.fresh)
        done.run(self.arguments.func)
        if done.results is None:  # another process has them
            return 0
        from medtasks_utils.report.short import lines_of  # seconds that the first request need not wait for
        from medtasks_utils.results import as_run, read_runs

        run = read_runs(done.path)[0] if done.path else as_run(done.results, Path("run"))
        lines = lines_of(run)
        self.tell(_as_data(done, lines), "\n".join(_as_text(done, run, lines)))
        if done.problem:
            raise MedtasksError(done.problem)
        return 0


def _as_data(done: "Evaluation", lines: "Sequence[Line]") -> dict[str, Any]:
    from medtasks_utils.harness.checks import model_name
    from medtasks_utils.report.short import as_data

    return {
        "model": model_name(done.config),
        "scores": as_data(lines),
        "limit": done.config.limit,
        "seconds": round(done.seconds, 3),
        "tokens": None,
        "answers_taken_over": 0,
        **done.spent,
        "results": str(done.path) if done.path else None,
        "problem": done.problem,
    }


def _as_text(done: "Evaluation", run: "Run", lines: "Sequence[Line]") -> Iterator[str]:
    from medtasks_utils.report.short import as_text

    width = shutil.get_terminal_size((120, 24)).columns
    yield as_text(lines, width) if lines else "no scores (--predict_only keeps responses without scoring them)"
    for task in run.tasks.values():
        yield from (f"{task.task}: {remark}" for remark in task.remarks)
    spent = [f"{done.seconds:,.1f} s"]
    spent += [f"{number:,} {kind} tokens" for kind, number in done.spent.get("tokens", {}).items() if kind != "replies"]
    if "answers_taken_over" in done.spent:
        spent.append(f"{done.spent['answers_taken_over']} answers taken over")
    spent += [f"{line.tool_calls:.2f} tool calls an example ({line.unit.name})" for line in lines if line.tool_calls]
    yield "\n" + ", ".join(spent)
    if done.path is None:
        yield "not saved; with --output_path results --log_samples, medtasks report shows every sample"
    else:
        folder = shlex.quote(str(done.path.parent))
        yield f"saved in {folder}\nnext: medtasks report {folder} -o report.html"
