"""``medtasks eval``: ``lm_eval run`` with this pack's tasks and options at hand (:mod:`.harness.evaluate`)."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medtasks_utils.harness.evaluate import Evaluation
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
    ours = parser.add_argument_group("medtasks")
    ours.add_argument("--data", metavar="SOURCE", help="where the rows come from: hub, sample, or a directory")
    ours.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="BENCHMARK.OPTION=VALUE",
        help="an option, as in medhallu.difficulty=hard; may be given many times. A list as in rougeL,bleu",
    )
    ours.add_argument("--full_table", action="store_true", help="print the harness's own table too")
    ours.add_argument("--no_keep", action="store_true", help="keep no answers for the case that the run dies")
    ours.add_argument("--fresh", action="store_true", help="ask anew what a run that died has kept")
    ours.add_argument("--run_name", metavar="NAME", help="what the report calls the run")
    add_flags_of_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the harness and say what came of it; 1 if its results could not be saved where they should."""
    from medtasks_utils.errors import MedtasksError
    from medtasks_utils.harness.evaluate import Evaluation

    done = Evaluation(arguments)
    done.run(arguments.func)
    if done.results is None:  # another process has them
        return 0
    if arguments.full_table and not arguments.json:
        print(done.table)
    print(_as_json(done) if arguments.json else _as_text(done), flush=True)
    if done.problem:
        raise MedtasksError(done.problem)
    return 0


def _run(done: Evaluation) -> Run:
    """The run as saved; as the harness handed it over where it was not."""
    from pathlib import Path

    from medtasks_utils.results import as_run, read_runs

    return read_runs(done.path)[0] if done.path else as_run(done.results or {}, Path("run"))


def _as_json(done: Evaluation) -> str:
    from medtasks_utils.report.short import as_data, lines_of

    told = {
        "model": done.model_name,
        "scores": as_data(lines_of(_run(done))),
        "limit": done.config.limit,
        "seconds": round(done.seconds, 3),
        "tokens": done.spent.get("tokens"),
        "answers_taken_over": done.spent.get("answers_taken_over", 0),
        "results": str(done.path) if done.path else None,
        "problem": done.problem,
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _as_text(done: Evaluation) -> str:
    from medtasks_utils.report.short import as_text, lines_of

    run = _run(done)
    lines = lines_of(run)
    width = shutil.get_terminal_size((120, 24)).columns
    told = [as_text(lines, width) if lines else "no scores (--predict_only keeps responses without scoring them)"]
    limit = done.config.limit
    if limit is not None:
        part = f"{limit:.0%}" if limit < 1 else f"{limit:.0f} examples"
        told.append(f"of the first {part} of each task (--limit): for trying out, not for quoting")
    told += [f"{task.task}: {remark}" for task in run.tasks.values() for remark in task.remarks]
    tokens: dict[str, Any] = done.spent.get("tokens") or {}
    spent = [f"{done.seconds:,.1f} s"]
    spent += [f"{tokens[kind]:,} {kind} tokens" for kind in ("prompt", "completion") if tokens.get(kind)]
    if done.spent.get("answers_taken_over"):
        spent.append(f"{done.spent['answers_taken_over']} answers taken over")
    spent += [f"{line.tool_calls:.2f} tool calls an example ({line.unit.name})" for line in lines if line.tool_calls]
    told.append("\n" + ", ".join(spent))
    if done.path is None:
        told.append("not saved; with --output_path results --log_samples, medtasks report shows every sample")
    else:
        folder = shlex.quote(str(done.path.parent))
        told += [f"saved in {folder}", f"next: medtasks report {folder} -o report.html"]
    return "\n".join(told)
