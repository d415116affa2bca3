"""``medtasks rescore``: explanations in saved samples, judged by LLMs (:mod:`medtasks_utils.rescore`)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable

SUMMARY = "judge the explanations in saved MedExQA samples with G-Eval and FActScore"
DESCRIPTION = (
    "Judges the explanations that lm_eval --log_samples wrote, over any OpenAI-compatible endpoint, into "
    "<prefix>geval.csv and <prefix>factscore.csv. Started again, it asks only what was not answered. "
    "The key comes from JUDGE_API_KEY, else OPENAI_API_KEY. Exit code 1 if nothing could be judged."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which samples, which judges, and the limits."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "--judge", default="both", type=_judges, metavar="NAME", help="geval, factscore, or both; default: both"
    )
    parser.add_argument(
        "--input_glob", required=True, nargs="+", metavar="GLOB",
        help="sample logs, as in 'results/**/samples_medexqa*.jsonl', or folders with them",
    )  # fmt: skip
    parser.add_argument("--out_csv_prefix", required=True, metavar="PREFIX", help="as in results/judged_")
    parser.add_argument("--model", metavar="NAME", help="the judging model; default: gpt-4o-mini")
    parser.add_argument("--base", metavar="URL", help="the endpoint, as in http://localhost:8000/v1; default: OpenAI's")
    parser.add_argument("--key_var", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--max_tokens", type=_at_least(1), metavar="N", help="of a reply, reasoning included")
    parser.add_argument("--max_retries", type=_at_least(0), metavar="N", help="further tries of a failed call")
    parser.add_argument(
        "--sleep_ms", type=_at_least(0), default=0, metavar="MS", help="rest of each slot after a call; default: 0"
    )
    parser.add_argument("--concurrency", type=_at_least(1), metavar="N", help="calls in flight at once, at most")
    parser.add_argument("--cache", metavar="PATH", help="file of answered calls; default: in the user's cache folder")
    parser.add_argument(
        "--use_coverage", action="store_true", help="FActScore: verify the references' claims against the response too"
    )
    parser.add_argument(
        "--filter", default="strict-match", choices=("strict-match", "flexible-extract"),
        help="whose answers decide which responses are right; default: strict-match",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--verbose", action="store_true", help="a line for each judgement, not for failures alone")


def _judges(text: str) -> tuple[str, ...]:
    from medtasks_utils.judging import JudgeError, judge_name

    try:
        return ("g-eval", "factscore") if text == "both" else (judge_name(text),)
    except JudgeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or both") from None


def _at_least(least: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        if not re.fullmatch(r"[0-9]+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return whole_number


def run(arguments: argparse.Namespace) -> int:
    """Judge what is not judged yet; 1 if every judgement failed."""
    from medtasks_utils.errors import UsageError
    from medtasks_utils.judging import DEFAULT_MODEL, JudgeSettings, make_judge
    from medtasks_utils.rescore import STATUSES, find_responses, rescore
    from medtasks_utils.writing import table

    judges = [make_judge(name, use_coverage=arguments.use_coverage) for name in arguments.judge]
    if arguments.use_coverage and not any(hasattr(judge, "use_coverage") for judge in judges):
        raise UsageError("--use_coverage is of FActScore: add --judge factscore or both, or leave it out")
    given = {name: getattr(arguments, name) for name in ("max_tokens", "max_retries", "concurrency")}
    limits = {name: value for name, value in given.items() if value is not None}
    settings = JudgeSettings.from_environment(
        model=arguments.model or DEFAULT_MODEL,
        base_url=arguments.base,
        key_variable=arguments.key_var,
        cache=arguments.cache,
        pause=arguments.sleep_ms / 1000,
        **limits,
    )
    responses = find_responses(arguments.input_glob, arguments.filter)
    for problem in responses.problems:
        _log(f"warning: {problem}")
    try:
        result = rescore(responses.found, judges, settings, arguments.out_csv_prefix, _log, arguments.verbose)
    except KeyboardInterrupt:
        _log("stopped; what was judged is in the cache, and the same command goes on from there")
        return 130
    if arguments.json:
        scores = [
            {"judge": judge, "run": run, "score": own.value, "stderr": own.stderr, "low": own.low, "high": own.high}
            | {"few": own.few, "examples": own.n, "statuses": dict(result.statuses[judge, run])}
            for (judge, run), own in result.scores.items()
        ]
        print(json.dumps({"scores": scores, "written": list(map(str, result.paths))}, indent=2, ensure_ascii=False))
        return int(result.has_failed)
    rows = []
    for (judge, run), own in result.scores.items():
        numbers = [f"{number:.2f}" if number is not None else "–" for number in (own.value, own.stderr)]
        rows.append((judge, run, *numbers, own.n, *(result.statuses[judge, run][status] for status in STATUSES)))
    print(table(rows, ("", "", "score", "stderr", "examples", *STATUSES), left=2))
    print(f"\nwritten: {', '.join(map(str, result.paths))}")
    return int(result.has_failed)


def _log(line: str) -> None:
    """A line on standard error, above the progress bar if there is one."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)
