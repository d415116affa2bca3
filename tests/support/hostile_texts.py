"""Provide responses made to break, stall or trick the scoring, and documents to which all of them are wrong."""

from typing import Any

from given import ROOT, table
from running import documents

FOLDER = ROOT / "tests" / "extraction" / "abstaining"


def texts(name: str) -> list[str]:
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return [line.replace("\\n", "\n") for line in lines if line.strip()]


(UNITS,) = table("hostile_units")


def long(length: int) -> dict[str, str]:
    """Return texts of about ``length`` characters, unless the table says how often their unit is repeated."""
    found = {}
    for name, before, unit, between, closing, after, times in table("hostile_long"):
        times = times or length // len(unit + closing)
        found[name] = before + unit * times + between + closing * times + after
    return found


def cases(task: Any) -> list[dict[str, Any]]:
    """Return a document of each kind of judgement, with a right answer that no response can give."""
    docs = documents(task)
    if "judgement" in docs[0]:
        kinds = {doc["judgement"]: doc for doc in docs}
        truths = {"date": "11/23/1987", "weeks_days": "(33 weeks, 5 days)", "integer": "-77", "decimal": "-77.7"}
        limits = {"lower_limit": -77.75, "upper_limit": -77.65}
        return [{**doc, **limits, "ground_truth": truths[kind]} for kind, doc in kinds.items()]
    impossible = {"answer_letter": "none"} if "answer_letter" in docs[0] else {"target": "3"}
    return [{**docs[0], **impossible}]
