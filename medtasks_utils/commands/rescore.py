"""``medtasks rescore``: explanations in saved samples, judged by LLMs (:mod:`medtasks_utils.rescore`)."""

from __future__ import annotations

import argparse
import sys

from medtasks_utils.commands.flags import add_judge, judge_settings, number, show

SUMMARY = "judge the explanations in saved MedExQA samples with G-Eval and FActScore"
DESCRIPTION = (
    "Judges the explanations that lm_eval --log_samples wrote, over any OpenAI-compatible endpoint, into "
    "<prefix>geval.csv and <prefix>factscore.csv. Started again, it asks only what was not answered. "
    "The key comes from JUDGE_API_KEY, else OPENAI_API_KEY. Exit code 1 if nothing could be judged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which samples, which judges, and the limits."""
    parser.description = DESCRIPTION
    judged, filters = ("both", "geval", "factscore"), ("strict-match", "flexible-extract")
    add = parser.add_argument
    add("--judge", default="both", choices=judged, help="default: both")
    add("--input_glob", required=True, nargs="+", metavar="GLOB", help="sample logs, or their folders")
    add("--out_csv_prefix", required=True, metavar="PREFIX", help="as in results/judged_")
    add("--sleep_ms", type=number(int, 0), default=0, metavar="MS", help="rest after each call")
    add("--use_coverage", action="store_true", help="FActScore: verify the references' claims too")
    add("--filter", default=filters[0], choices=filters, help="whose answers decide what is right")
    add("--verbose", action="store_true", help="a line for each judgement, not for failures alone")
    add_judge(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge what is not judged yet; 1 if every judgement failed."""
    from medtasks_utils.errors import UsageError
    from medtasks_utils.judging import judge_name, make_judge
    from medtasks_utils.rescore import STATUSES, find_responses, rescore
    from medtasks_utils.writing import table

    if arguments.use_coverage and arguments.judge == "geval":
        raise UsageError("--use_coverage is of FActScore: add --judge factscore or both, or leave it out")
    names = ("g-eval", "factscore") if arguments.judge == "both" else (judge_name(arguments.judge),)
    judges = [make_judge(name, use_coverage=arguments.use_coverage) for name in names]
    responses = find_responses(arguments.input_glob, arguments.filter)
    settings = judge_settings(arguments, pause=arguments.sleep_ms / 1000)
    for problem in responses.problems:
        _log(f"warning: {problem}")
    result = rescore(responses.found, judges, settings, arguments.out_csv_prefix, _log, arguments.verbose)
    scores, rows = [], []
    for (judge, run), own in result.scores.items():
        statuses = result.statuses[judge, run]
        scores.append(
            {"judge": judge, "run": run, "score": own.value, "stderr": own.stderr, "low": own.low, "high": own.high}
            | {"few": own.few, "examples": own.n, "statuses": dict(statuses)}
        )
        numbers = ["–" if number is None else f"{number:.2f}" for number in (own.value, own.stderr)]
        rows.append((judge, run, *numbers, own.n, *(statuses[status] for status in STATUSES)))
    written = list(map(str, result.paths))
    text = table(rows, ("", "", "score", "stderr", "examples", *STATUSES), left=2)
    told = {"scores": scores, "written": written}
    return show(arguments, told, f"{text}\n\nwritten: {', '.join(written)}", result.has_failed)


def _log(line: str) -> None:
    """A line on standard error, above the progress bar if there is one."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)
