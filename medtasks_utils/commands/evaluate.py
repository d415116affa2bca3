"""``medtasks eval``: ``lm_eval run`` with this pack's tasks and options at hand (:mod:`.harness.evaluate`)."""

from __future__ import annotations

import argparse
import shlex
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medtasks_utils.commands.flags import show

if TYPE_CHECKING:
    from medtasks_utils.harness.evaluate import Evaluation
    from medtasks_utils.report.short import Line
    from medtasks_utils.results import Run

SUMMARY = "lm_eval run with these tasks included: every flag of it, a quicker start"
USAGE = "medtasks eval --model MODEL --model_args NAME=VALUE,... --tasks TASK,... [--data SOURCE] [--set ...] [flags]"
EXAMPLES = """\
examples:
  medtasks eval --data sample --tasks medtasks --apply_chat_template --model local-chat-completions \\
    --model_args model=NAME,base_url=http://localhost:8000/v1/chat/completions,num_concurrent=32
  medtasks eval --tasks medhallu --set medhallu.difficulty=hard --set medhallu.repeats=4 --model hf ...
  accelerate launch "$(which medtasks)" eval --tasks medexqa --model hf ...
"""


def _help(parser: argparse.ArgumentParser, format_help: Callable[[], str]) -> str:
    """The help with the tasks and options in it, which take a second to look up."""
    from medtasks_utils.harness.evaluate import tasks_and_options

    parser.description = f"{SUMMARY}\n\n{tasks_and_options()}"
    return format_help()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Ours first, then all flags of ``lm_eval run``, which adds them itself."""
    from medtasks_utils.harness.command_line import add_flags_of_run

    parser.usage = USAGE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.format_help = partial(_help, parser, parser.format_help)  # type: ignore[method-assign]
    add = parser.add_argument_group("medtasks").add_argument
    add("--data", metavar="SOURCE", help="where the rows come from: hub, sample, or a directory")
    add(
        "--set",
        action="append",
        default=[],
        metavar="BENCHMARK.OPTION=VALUE",
        help="an option, as in medhallu.difficulty=hard; may be given many times. A list as in rougeL,bleu",
    )
    add("--full_table", action="store_true", help="print the harness's own table too")
    add("--no_keep", action="store_true", help="keep no answers for the case that the run dies")
    add("--fresh", action="store_true", help="ask anew what a run that died has kept")
    add("--run_name", metavar="NAME", help="what the report calls the run")
    add_flags_of_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the harness and say what came of it; 1 if its results could not be saved where they should."""
    from medtasks_utils.errors import MedtasksError
    from medtasks_utils.harness.evaluate import Evaluation

    done = Evaluation(arguments)
    done.run(arguments.func)
    if done.results is None:  # another process has them
        return 0
    from medtasks_utils.report.short import lines_of  # seconds that the first request need not wait for
    from medtasks_utils.results import as_run, read_runs

    run = read_runs(done.path)[0] if done.path else as_run(done.results, Path("run"))
    lines = lines_of(run)
    if arguments.full_table and not arguments.json:
        print(done.table)
    show(arguments, _as_data(done, lines), "\n".join(_as_text(done, run, lines)))
    if done.problem:
        raise MedtasksError(done.problem)
    return 0


def _as_data(done: Evaluation, lines: Sequence[Line]) -> dict[str, Any]:
    from medtasks_utils.harness.checks import model_name
    from medtasks_utils.report.short import as_data

    return {
        "model": model_name(done.config),
        "scores": as_data(lines),
        "limit": done.config.limit,
        "seconds": round(done.seconds, 3),
        "tokens": done.spent.get("tokens"),
        "answers_taken_over": done.spent.get("answers_taken_over", 0),
        "results": str(done.path) if done.path else None,
        "problem": done.problem,
    }


def _as_text(done: Evaluation, run: Run, lines: Sequence[Line]) -> list[str]:
    from medtasks_utils.report.short import as_text

    width = shutil.get_terminal_size((120, 24)).columns
    told = [as_text(lines, width) if lines else "no scores (--predict_only keeps responses without scoring them)"]
    told += [f"{task.task}: {remark}" for task in run.tasks.values() for remark in task.remarks]
    tokens: dict[str, Any] = done.spent.get("tokens") or {}
    spent = [f"{done.seconds:,.1f} s"]
    spent += [f"{tokens[kind]:,} {kind} tokens" for kind in ("prompt", "completion") if tokens.get(kind)]
    if done.spent.get("answers_taken_over"):
        spent.append(f"{done.spent['answers_taken_over']} answers taken over")
    spent += [f"{line.tool_calls:.2f} tool calls an example ({line.unit.name})" for line in lines if line.tool_calls]
    told.append("\n" + ", ".join(spent))
    if done.path is None:
        return [*told, "not saved; with --output_path results --log_samples, medtasks report shows every sample"]
    folder = shlex.quote(str(done.path.parent))
    return [*told, f"saved in {folder}", f"next: medtasks report {folder} -o report.html"]
