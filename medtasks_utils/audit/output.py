"""Audits as text and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .run import disagreements

_SHOWN = 20  # of each audit's disagreements


@dataclass(frozen=True)
class AuditSummary:
    """The result of ``medtasks audit``: audits as :func:`.run.audit` returns them."""

    audits: Sequence[dict[str, Any]]

    @property
    def failed(self) -> bool:
        """True if the LLM could read no response."""
        return not any(stratum["read"] for audited in self.audits for stratum in audited["strata"].values())

    def to_data(self) -> Sequence[dict[str, Any]]:
        """Return what the audits' files hold."""
        return self.audits

    def to_text(self) -> str:
        """Return each audit's strata, error rates, accuracy and first disagreements."""
        return "\n".join(_lines(self.audits))


def _lines(audits: Sequence[dict[str, Any]]) -> Iterator[str]:
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
