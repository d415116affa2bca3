"""``medtasks compare A B``: two runs on the same examples (:mod:`medtasks_utils.compare`)."""

from __future__ import annotations

import argparse

from medtasks_utils.commands.flags import number, show

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
    add("a", metavar="A", help="results file, or folder with one run")
    add("b", metavar="B", help="the other; differences are B minus A")
    add(
        "--task",
        action="append",
        default=[],
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
        type=number(float, 0.01, 100),
        metavar="N",
        help="instead: how many examples or repeats a true difference of N points needs, judging by how A and B differ",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, or plan, and print."""
    from medtasks_utils.compare import as_dict, as_table, compare_runs, one_run
    from medtasks_utils.compare.plan import as_text, plan
    from medtasks_utils.results import name_apart

    tasks = [(first, second or first) for first, _, second in (name.partition("=") for name in arguments.task)]
    a = one_run(arguments.a, [first for first, _ in tasks])
    b = one_run(arguments.b, [second for _, second in tasks])
    name_apart([a, b])
    comparison = compare_runs(
        a,
        b,
        tasks=tasks or None,
        filters=["strict-match", "flexible-extract"] if "both" in (arguments.filter or ()) else arguments.filter,
        metrics=arguments.metric,
        common=arguments.common,
        force=arguments.force,
    )
    if arguments.plan is None:
        return show(
            arguments, as_dict(comparison), as_table(comparison, every_group=arguments.all, show=arguments.show)
        )
    planned = plan(comparison, arguments.plan)
    return show(arguments, planned, "\n".join(as_text(planned)))
