"""Audits in lines of text."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from .run import disagreements

_SHOWN = 20  # of each audit's disagreements


def is_any_read(audits: Sequence[dict[str, Any]]) -> bool:
    """Whether the LLM could read any response."""
    return any(stratum["read"] for each in audits for stratum in each["strata"].values())


def as_text(audits: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What people are told of audits, in lines."""
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
