"""Format audits as text."""

from collections.abc import Iterator, Sequence

from medtasks_utils.writing import JsonObject, one_line

_SHOWN = 20  # maximum number of disagreements shown for each audit


def summary_lines(audits: Sequence[JsonObject]) -> Iterator[str]:
    """Yield lines with the strata, error rates, accuracy and first disagreements of each audit."""
    for audited in audits:
        yield f"{audited['run']}, {audited['task']}: {audited['responses']} responses"
        for name, stratum in audited["strata"].items():
            yield f"  {name}: {stratum['responses']}, of which {stratum['drawn']} were drawn and {stratum['read']} read"
        for name, rates in audited["filters"].items():
            yield f"  {name}: misread {_percent(rates['misread'])}, missed {_percent(rates['missed'])}"
        by_rules = ", ".join(f"{name} {rates['accuracy']:.1%}" for name, rates in audited["filters"].items())
        yield f"  accuracy: {by_rules}, by the LLM's readings {_percent(audited['accuracy_as_read'])}"
        agreements = [row["person_agrees"] for row in audited["readings"] if row["person_agrees"] is not None]
        if agreements:
            shared = f"{sum(agreements)} of {len(agreements)} marked responses"
            yield f"  the LLM read the same answer as a person in {shared}"
        for row in [row for row in audited["readings"] if row["differs"]][:_SHOWN]:
            readings = ", ".join(f"{name} {row[name]}" for name in audited["filters"])
            yield f"    {row['doc_id']}: {readings}, LLM {row['stated']}: …{one_line(row['end'])[-120:]}"
        yield f"  all responses that were read: {audited['path']}"


def _percent(estimate: dict[str, float] | None) -> str:
    if estimate is None:
        return "unknown, since no reply could be read"
    value, low, high = (round(estimate[name], 3) + 0.0 for name in ("value", "low", "high"))  # not -0.0
    return f"{value:.1%} ({low:.1%} to {high:.1%})"
