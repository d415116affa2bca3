"""``medtasks audit``: how often the rules misread saved responses (:mod:`medtasks_utils.audit`)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.commands.flags import add_judge, judge_settings, number, warn

SUMMARY = "measure how often the rules misread a run's responses: an LLM reads a sample of them"
DESCRIPTION = (
    "Asks an LLM, over any OpenAI-compatible endpoint, what responses state: all in which the rules found nothing or "
    "are least certain, and a random sample of the others. Writes audit_<task>_<date>.json and .csv beside each sample "
    "log. Started again, it asks only what was not answered. The key comes from JUDGE_API_KEY, else OPENAI_API_KEY. "
    "Exit code 1 if nothing could be read."
)
_SHOWN = 20  # of each audit's disagreements


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which runs, which LLM, and how many responses."""
    parser.description = DESCRIPTION
    count = number(int, 1)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="result folders or files, with samples")
    parser.add_argument("--task", metavar="T", help="audit this task alone")
    parser.add_argument(
        "--sample", type=count, default=200, metavar="N", help="of a task's undoubted ones; default 200"
    )
    parser.add_argument(
        "--doubtful", type=count, default=1000, metavar="N", help="of its others, at most; default 1000"
    )
    add_judge(parser, required=True)


def run(arguments: argparse.Namespace) -> int:
    """Audit, write, print; 1 if nothing could be read."""
    from medtasks_utils.audit import audit
    from medtasks_utils.results import read_runs

    settings = judge_settings(arguments)
    audits = audit(read_runs(arguments.runs), settings, arguments.sample, arguments.doubtful, arguments.task, warn)
    print(json.dumps(audits, indent=2, ensure_ascii=False) if arguments.json else "\n".join(_lines(audits)))
    return 0 if any(stratum["read"] for each in audits for stratum in each["strata"].values()) else 1


def _lines(audits: Sequence[dict[str, Any]]) -> Iterator[str]:
    from medtasks_utils.audit import disagreements

    for each in audits:
        yield f"{each['run']}, {each['task']}: {each['responses']} responses"
        for name, stratum in each["strata"].items():
            yield f"  {name}: {stratum['responses']}, of which {stratum['drawn']} were drawn and {stratum['read']} read"
        if each["failures"]:
            yield "  no reading: " + ", ".join(f"{count} {kind}" for kind, count in each["failures"].items())
        for name, found in each["filters"].items():
            yield f"  {name}: misread {_percent(found['misread'])}, missed {_percent(found['missed'])}"
        by_rules = ", ".join(f"{name} {found['accuracy']:.1%}" for name, found in each["filters"].items())
        yield f"  accuracy: {by_rules}, as the LLM reads {_percent(each['accuracy_as_read'])}"
        differing = list(disagreements(each))
        for row in differing[:_SHOWN]:
            readings = ", ".join(f"{name} {row[name]}" for name in each["filters"])
            yield f"    {row['doc_id']}: {readings}, LLM {row['stated']}: …{' '.join(row['end'].split())[-120:]}"
        if len(differing) > _SHOWN:
            yield f"    and {len(differing) - _SHOWN} more; all are in {each['path']}"


def _percent(estimate: dict[str, float] | None) -> str:
    if estimate is None:
        return "unknown, since no reply could be read"
    return f"{estimate['value']:.1%} ({estimate['low']:.1%} to {estimate['high']:.1%})"
