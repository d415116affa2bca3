"""``medtasks compare A B``: two runs on the same examples (:mod:`medtasks_utils.compare`)."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path

from medtasks_utils.writing import write_whole

SUMMARY = "compare two runs on the same examples: differences, intervals, p-values, what flipped"
DESCRIPTION = (
    "Pairs the examples of two runs that lm_eval wrote with --log_samples and --output_path, and tests the "
    "differences: McNemar's exact test for right or wrong, the t test for all else, clustered where examples share a "
    "question, corrected for the number of comparisons by Holm's method. Refuses runs whose signatures say that they "
    "measure different things. Exit code 1 if the runs cannot be compared."
)
_OF_RUNS = ("task", "filter", "metric", "common", "force", "all", "show")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Two runs and what to compare of them."""
    parser.description = DESCRIPTION
    parser.add_argument("a", metavar="A", nargs="?", help="results file, or folder with one run")
    parser.add_argument("b", metavar="B", nargs="?", help="the other; differences are B minus A")
    parser.add_argument(
        "--task",
        action="append",
        type=_task,
        metavar="NAME[=NAME]",
        help="this task only (repeatable); A=B compares task A of the first run with task B of the second; "
        "default: all tasks of this pack in both",
    )
    parser.add_argument(
        "--filter", action="append", metavar="NAME", help="filter (repeatable); default: strict-match; both for both"
    )
    parser.add_argument(
        "--metric", action="append", metavar="NAME", help="metric (repeatable); default: the benchmark's"
    )
    parser.add_argument("--common", action="store_true", help="compare the examples in both runs, where not all are")
    parser.add_argument("--force", action="store_true", help="compare what signatures say is not comparable")
    parser.add_argument("--all", action="store_true", help="show every group of every breakdown")
    parser.add_argument("--show", type=_count, default=0, metavar="N", help="show N flipped examples each way")
    parser.add_argument(
        "--plan",
        type=_number(lambda points: 0 < points < 100, "a number of points between 0 and 100"),
        metavar="N",
        help="instead: how many examples or repeats a true difference of N points needs, judging by how A and B differ",
    )
    parser.add_argument(
        "--discordance",
        type=_number(lambda share: 0 < share <= 1, "a share above 0 and up to 1"),
        metavar="SHARE",
        help="with --plan and without A and B: the share of examples on which two runs disagree, such as 0.2",
    )
    parser.set_defaults(wrong_usage=parser.error)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the JSON to a file too; - prints it in place of the table",
    )


def _task(text: str) -> tuple[str, str]:
    first, _, second = text.partition("=")
    if not first:
        raise argparse.ArgumentTypeError(f"{text!r} is no task, and no pair TASK=TASK")
    return first, second or first


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return int(text)


def _number(is_valid: Callable[[float], bool], wanted: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not is_valid(number):
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
        return number

    return read


def run(arguments: argparse.Namespace) -> int:
    """Compare, or plan, print, and write the JSON if asked."""
    if arguments.discordance is not None and (arguments.plan is None or arguments.a is not None):
        arguments.wrong_usage("--discordance goes with --plan, and in place of A and B")
    if arguments.b is None and arguments.discordance is None:
        arguments.wrong_usage("two runs are needed, A and B; --plan N takes --discordance SHARE in their place")
    needless = ("all", "show") if arguments.discordance is None else _OF_RUNS
    ignored = [f"--{name}" for name in needless if arguments.plan is not None and getattr(arguments, name)]
    if ignored:
        arguments.wrong_usage(f"{', '.join(ignored)}: of no use to --plan; leave it out")
    found, text = (_plan_from_discordance if arguments.discordance is not None else _compare)(arguments)
    to_stdout = arguments.output == Path("-")
    if arguments.output and not to_stdout:
        write_whole(arguments.output, found + "\n")
    print(found if arguments.json or to_stdout else text)
    return 0


def _plan_from_discordance(arguments: argparse.Namespace) -> tuple[str, str]:
    from medtasks_utils.compare.plan import IN_FAMILY, stated

    points, share = arguments.plan, arguments.discordance
    needed, of_family = stated(points, share), stated(points, share, IN_FAMILY)
    found = {"points": points, "discordance": share, "examples": needed, "examples_of_family": of_family}
    return json.dumps(found, indent=1), (
        f"{needed:,} examples: a true difference of {points:g} points in accuracy between runs that disagree "
        f"on {100 * share:g} % of them is then found 4 times of 5 by McNemar's exact test at 5 %; {of_family:,} where "
        f"it is one of {IN_FAMILY} comparisons, corrected by Holm's method"
    )


def _compare(arguments: argparse.Namespace) -> tuple[str, str]:
    """The comparison, or the plan, as JSON and for people."""
    from medtasks_utils.compare import as_json, as_table, compare_runs, one_run
    from medtasks_utils.compare.plan import as_dict, as_text, plan
    from medtasks_utils.results import name_apart

    filters, tasks = arguments.filter, arguments.task
    if filters and "both" in filters:
        filters = ["strict-match", "flexible-extract"]
    a = one_run(arguments.a, [first for first, _ in tasks or ()])
    b = one_run(arguments.b, [second for _, second in tasks or ()])
    if a.path.resolve() == b.path.resolve() and not tasks:
        arguments.wrong_usage(f"A and B are the same run, {a.path}; name two")
    name_apart([a, b])
    comparison = compare_runs(
        a,
        b,
        tasks=tasks,
        filters=filters,
        metrics=arguments.metric,
        common=arguments.common,
        force=arguments.force,
    )
    if arguments.plan is None:
        return as_json(comparison), as_table(comparison, every_group=arguments.all, show=arguments.show)
    needs = plan(comparison, arguments.plan)
    return json.dumps(as_dict(needs, arguments.plan), indent=1), "\n".join(as_text(needs, arguments.plan))
