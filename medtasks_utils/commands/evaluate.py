"""``medtasks eval``: ``lm_eval run`` with this pack's tasks and options at hand (:mod:`.harness.evaluate`)."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medtasks_utils.harness.evaluate import Outcome
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
    from medtasks_utils.harness.patches.commands import add_flags_of_run

    parser.usage = USAGE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    parser.format_help = partial(_help, parser, parser.format_help)  # type: ignore[method-assign]
    ours = parser.add_argument_group("medtasks")
    ours.add_argument(
        "--data",
        metavar="SOURCE",
        help="where the rows come from: hub, sample, or a directory (default: MEDTASKS_DATA, or hub)",
    )
    ours.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="BENCHMARK.OPTION=VALUE",
        help="an option, as in medhallu.difficulty=hard; may be given many times. A list as in rougeL,bleu",
    )
    ours.add_argument("--full_table", action="store_true", help="print the harness's own table too")
    ours.add_argument("--json", action="store_true", help="print the scores as JSON, and no table")
    ours.add_argument("--no_keep", action="store_true", help="keep no answers for the case that the run dies")
    ours.add_argument("--fresh", action="store_true", help="ask anew what a run that died has kept")
    ours.add_argument("--run_name", metavar="NAME", help="what the report calls the run")
    add_flags_of_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the harness and say what came of it; 1 if its results could not be saved where they should."""
    from medtasks_utils.errors import MedtasksError
    from medtasks_utils.harness import evaluate

    try:
        outcome = evaluate.run(arguments)
    except evaluate.Stopped as stopped:
        print(f"\nmedtasks: stopped; {stopped}", file=sys.stderr)
        return 130
    if outcome.results is None:  # another process has them
        return 0
    if arguments.full_table and not arguments.json:
        print(outcome.table)
    print(_as_json(outcome) if arguments.json else _as_text(outcome), flush=True)
    if outcome.problem:
        raise MedtasksError(outcome.problem)
    return 0


def _run(outcome: Outcome) -> Run:
    """The run as saved; as the harness handed it over where it was not."""
    from pathlib import Path

    from medtasks_utils.results import as_run, read_runs

    if outcome.path is not None:
        return read_runs(outcome.path)[0]
    return as_run(outcome.results or {}, Path("run"))


def _as_json(outcome: Outcome) -> str:
    from medtasks_utils.report.short import as_data, lines_of

    told = {
        "model": outcome.config.model_name,
        "scores": as_data(lines_of(_run(outcome))),
        "limit": outcome.config.limit,
        "seconds": round(outcome.seconds, 3),
        "tokens": outcome.spent.get("tokens"),
        "answers_taken_over": outcome.spent.get("answers_taken_over", 0),
        "results": str(outcome.path) if outcome.path else None,
        "problem": outcome.problem,
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _as_text(outcome: Outcome) -> str:
    from medtasks_utils.report.short import as_text, lines_of

    run = _run(outcome)
    lines = lines_of(run)
    width = shutil.get_terminal_size((120, 24)).columns
    told = [as_text(lines, width) if lines else "no scores (--predict_only keeps responses without scoring them)"]
    limit = outcome.config.limit
    if limit is not None:
        part = f"{limit:.0%}" if limit < 1 else f"{limit:.0f} examples"
        told.append(f"of the first {part} of each task (--limit): for trying out, not for quoting")
    told += [f"{task.task}: {remark}" for task in run.tasks.values() for remark in task.remarks]
    spent = [f"{outcome.seconds:,.1f} s"]
    tokens = outcome.spent.get("tokens") or {}
    spent += [f"{tokens[kind]:,} {kind} tokens" for kind in ("prompt", "completion") if tokens.get(kind)]
    spent += [
        f"{outcome.spent[kept]} answers taken over" for kept in ("answers_taken_over",) if outcome.spent.get(kept)
    ]
    spent += [f"{line.tool_calls:.2f} tool calls an example ({line.unit.name})" for line in lines if line.tool_calls]
    told.append("\n" + ", ".join(spent))
    return "\n".join([*told, *_next(outcome)])


def _next(outcome: Outcome) -> list[str]:
    if outcome.path is None:
        return ["not saved; with --output_path results --log_samples, medtasks report shows every sample"]
    folder = shlex.quote(str(outcome.path.parent))
    found = [f"saved in {folder}"]
    if not (outcome.config.log_samples or outcome.config.predict_only):
        found.append("with --log_samples, the report would show every sample")
    return [*found, f"next: medtasks report {folder} -o report.html"]
