"""``medtasks eval``: ``lm_eval run`` with this pack's tasks and options at hand (:mod:`.harness.evaluate`)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

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
    from medtasks_utils.harness.patches import add_flags_of_run

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
        help="an option, as in medhallu.difficulty=hard; may be given many times. JSON where VALUE is JSON, else text",
    )
    add_flags_of_run(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the harness; 0 when its results are printed."""
    from medtasks_utils.harness import evaluate

    return evaluate.run(arguments)
