"""``medtasks audit``: how often the rules misread saved responses (:mod:`medtasks_utils.audit`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import PositiveInt

from medtasks_utils.commands.flags import JudgeCommand, warn

_SHOWN = 20  # of each audit's disagreements


@dataclass
class Audit(JudgeCommand):
    """Measure how often the rules misread a run's responses: an LLM reads a sample of them.

    Asks an LLM, over any OpenAI-compatible endpoint, what responses state: all in which the rules found nothing or are
    least certain, and a random sample of the others. Writes audit_<task>_<date>.json beside each sample log. Started
    again, it asks only what was not answered. Exit code 1 if nothing could be read.

    Attributes:
        runs: result folders or files, with samples
        model: the LLM
        task: audit this task alone
        sample: of a task's undoubted ones; default: 200
        doubtful: of its others, at most; default: 1000
    """

    runs: tuple[Path, ...]
    _: KW_ONLY
    model: str = field()
    task: str | None = None
    sample: PositiveInt = 200
    doubtful: PositiveInt = 1000

    def run(self) -> int:
        """Audit, write, print; 1 if nothing could be read."""
        from medtasks_utils.audit import audit
        from medtasks_utils.results import read_runs

        audits = audit(read_runs(self.runs), self.settings(), self.sample, self.doubtful, self.task, warn)
        is_any_read = any(stratum["read"] for each in audits for stratum in each["strata"].values())
        return self.tell(audits, "\n".join(_lines(audits)), failed=not is_any_read)


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
        for row in islice(disagreements(each), _SHOWN):
            readings = ", ".join(f"{name} {row[name]}" for name in each["filters"])
            yield f"    {row['doc_id']}: {readings}, LLM {row['stated']}: …{' '.join(row['end'].split())[-120:]}"
        yield f"  all responses that were read: {each['path']}"


def _percent(estimate: dict[str, float] | None) -> str:
    if estimate is None:
        return "unknown, since no reply could be read"
    return f"{estimate['value']:.1%} ({estimate['low']:.1%} to {estimate['high']:.1%})"
