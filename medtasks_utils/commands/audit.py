"""``medtasks audit``: how often the rules misread saved responses (:mod:`medtasks_utils.audit`)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

SUMMARY = "measure how often the rules misread a run's responses: an LLM reads a sample of them"
DESCRIPTION = (
    "Asks an LLM, over any OpenAI-compatible endpoint, what responses state: all in which the rules found nothing or "
    "are least certain, and a random sample of the others. Writes audit_<task>_<date>.json and .csv beside each sample "
    "log. Started again, it asks only what was not answered. The key comes from JUDGE_API_KEY, else OPENAI_API_KEY. "
    "Exit code 1 if nothing could be read."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, which LLM, and how many responses."""
    parser.description = DESCRIPTION
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="result folders or files, with samples")
    parser.add_argument("--model", required=True, metavar="NAME", help="the reading model's name at the endpoint")
    parser.add_argument("--base", metavar="URL", help="the endpoint, as in http://localhost:8000/v1; default: OpenAI's")
    parser.add_argument("--task", metavar="T", help="audit this task alone")
    parser.add_argument(
        "--sample", type=_at_least(1), default=200, metavar="N",
        help="responses drawn, by task, of those that the rules read without doubt; default: 200",
    )  # fmt: skip
    parser.add_argument(
        "--doubtful", type=_at_least(1), default=1000, metavar="N",
        help="responses asked about, by task, of the others, at most; default: 1000",
    )  # fmt: skip
    parser.add_argument("--key_var", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--max_tokens", type=_at_least(1), metavar="N", help="of a reply, reasoning included")
    parser.add_argument("--max_retries", type=_at_least(0), metavar="N", help="further tries of a failed call")
    parser.add_argument("--concurrency", type=_at_least(1), metavar="N", help="calls in flight at once, at most")
    parser.add_argument("--cache", metavar="PATH", help="file of answered calls; default: in the user's cache folder")
    parser.add_argument("--json", action="store_true", help="print what the files hold")


def _at_least(least: int) -> Callable[[str], int]:
    def whole_number(text: str) -> int:
        if not re.fullmatch(r"[0-9]+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return whole_number


def run(arguments: argparse.Namespace) -> int:
    """Audit, write, print; 1 if nothing could be read."""
    from medtasks_utils.audit import audit
    from medtasks_utils.judging import JudgeSettings
    from medtasks_utils.results import read_runs

    given = {name: getattr(arguments, name) for name in ("max_tokens", "max_retries", "concurrency")}
    settings = JudgeSettings.from_environment(
        model=arguments.model,
        base_url=arguments.base,
        key_variable=arguments.key_var,
        cache=arguments.cache,
        **{name: value for name, value in given.items() if value is not None},
    )
    try:
        audits = audit(read_runs(arguments.runs), settings, arguments.sample, arguments.doubtful, arguments.task, _warn)
    except KeyboardInterrupt:
        _warn("stopped; what was answered is in the cache, and the same command goes on from there")
        return 130
    for line in [json.dumps(audits, indent=2, ensure_ascii=False)] if arguments.json else _lines(audits):
        print(line)
    return 0 if any(stratum["read"] for each in audits for stratum in each["strata"].values()) else 1


def _warn(line: str) -> None:
    print(f"warning: {line}", file=sys.stderr)


def _lines(audits: Sequence[dict[str, Any]], shown: int = 20) -> Iterator[str]:
    """Lines on audits, with so many of each one's disagreements."""

    from medtasks_utils.audit import disagreements

    def percent(estimate: dict[str, float] | None) -> str:
        if estimate is None:
            return "unknown, since no reply could be read"
        return f"{estimate['value']:.1%} ({estimate['low']:.1%} to {estimate['high']:.1%})"

    for each in audits:
        yield f"{each['run']}, {each['task']}: {each['responses']} responses"
        for name, stratum in each["strata"].items():
            yield f"  {name}: {stratum['responses']}, of which {stratum['drawn']} were drawn and {stratum['read']} read"
        failed = ", ".join(f"{count} {kind}" for kind, count in each["failures"].items())
        if failed:
            yield f"  no reading: {failed}"
        for name, filter_ in each["filters"].items():
            yield f"  {name}: misread {percent(filter_['misread'])}, missed {percent(filter_['missed'])}"
        by_rules = ", ".join(f"{name} {filter_['accuracy']:.1%}" for name, filter_ in each["filters"].items())
        yield f"  accuracy: {by_rules}, as the LLM reads {percent(each['accuracy_as_read'])}"
        differing = list(disagreements(each))
        for row in differing[:shown]:
            end = " ".join(row["end"].split())[-120:]
            readings = ", ".join(f"{name} {row[name]}" for name in each["filters"])
            yield f"    {row['doc_id']}: {readings}, LLM {row['stated']}: …{end}"
        if len(differing) > shown:
            yield f"    and {len(differing) - shown} more; all are in {each['path']}"
