"""``medtasks compare A B``: two runs on the same examples (:mod:`medtasks_utils.compare`)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from medtasks_utils.commands.flags import number
from medtasks_utils.writing import write_whole

SUMMARY = "compare two runs on the same examples: differences, intervals, p-values, what flipped"
DESCRIPTION = (
    "Pairs the examples of two runs that lm_eval wrote with --log_samples and --output_path, and tests the "
    "differences: McNemar's exact test for right or wrong, the t test for all else, clustered where examples share a "
    "question, corrected for the number of comparisons by Holm's method. Refuses runs whose signatures say that they "
    "measure different things. Exit code 1 if the runs cannot be compared."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two runs and what to compare of them."""
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("a", metavar="A", nargs="?", help="results file, or folder with one run")
    add("b", metavar="B", nargs="?", help="the other; differences are B minus A")
    add(
        "--task",
        action="append",
        type=_task,
        metavar="NAME[=NAME]",
        help="this task only (repeatable); A=B compares task A of the first run with task B of the second",
    )
    add("--filter", action="append", metavar="NAME", help="repeatable; default: strict-match; both for both")
    add("--metric", action="append", metavar="NAME", help="repeatable; default: the benchmark's")
    add("--common", action="store_true", help="compare the examples in both runs, where not all are")
    add("--force", action="store_true", help="compare what signatures say is not comparable")
    add("--all", action="store_true", help="show every group of every breakdown")
    add("--show", type=number(int, 0), default=0, metavar="N", help="show N flipped examples each way")
    add(
        "--plan",
        type=number(float, 0, 100, above=True),
        metavar="N",
        help="instead: how many examples or repeats a true difference of N points needs, judging by how A and B differ",
    )
    add(
        "--discordance",
        type=number(float, 0, 1, above=True),
        metavar="SHARE",
        help="with --plan and in place of A and B: the share of examples on which two runs disagree, such as 0.2",
    )
    add("-o", "--output", type=Path, metavar="FILE", help="write the JSON to a file too; - prints it")  # fmt: skip


def _task(text: str) -> tuple[str, str]:
    first, _, second = text.partition("=")
    return first, second or first


def run(arguments: argparse.Namespace) -> int:
    """Compare, or plan, print, and write the JSON if asked."""
    from medtasks_utils.errors import UsageError

    if arguments.discordance and (arguments.plan is None or arguments.a):
        raise UsageError("--discordance goes with --plan, and in place of A and B")
    if arguments.b is None and arguments.discordance is None:
        raise UsageError("two runs are needed, A and B; --plan N takes --discordance SHARE in their place")
    found, text = _plan_from_discordance(arguments) if arguments.discordance else _compare(arguments)
    written = json.dumps(found, indent=1, ensure_ascii=False)
    to_stdout = arguments.output == Path("-")
    if arguments.output and not to_stdout:
        write_whole(arguments.output, written + "\n")
    print(written if arguments.json or to_stdout else text)
    return 0


def _plan_from_discordance(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    from medtasks_utils.compare.plan import IN_FAMILY, stated

    points, share = arguments.plan, arguments.discordance
    needed, of_family = stated(points, share), stated(points, share, IN_FAMILY)
    found = {"points": points, "discordance": share, "examples": needed, "examples_of_family": of_family}
    return found, (
        f"{needed:,} examples: a true difference of {points:g} points in accuracy between runs that disagree "
        f"on {100 * share:g} % of them is then found 4 times of 5 by McNemar's exact test at 5 %; {of_family:,} where "
        f"it is one of {IN_FAMILY} comparisons, corrected by Holm's method"
    )


def _compare(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The comparison, or the plan, as JSON holds it and for people."""
    from medtasks_utils.compare import as_dict, as_table, compare_runs, one_run
    from medtasks_utils.compare.plan import as_text, plan
    from medtasks_utils.errors import UsageError
    from medtasks_utils.results import name_apart

    tasks = arguments.task
    a = one_run(arguments.a, [first for first, _ in tasks or ()])
    b = one_run(arguments.b, [second for _, second in tasks or ()])
    if a.path.resolve() == b.path.resolve() and not tasks:
        raise UsageError(f"A and B are the same run, {a.path}; name two")
    name_apart([a, b])
    comparison = compare_runs(
        a,
        b,
        tasks=tasks,
        filters=["strict-match", "flexible-extract"] if "both" in (arguments.filter or ()) else arguments.filter,
        metrics=arguments.metric,
        common=arguments.common,
        force=arguments.force,
    )
    if arguments.plan is None:
        return as_dict(comparison), as_table(comparison, every_group=arguments.all, show=arguments.show)
    planned = plan(comparison, arguments.plan)
    return planned, "\n".join(as_text(planned))
