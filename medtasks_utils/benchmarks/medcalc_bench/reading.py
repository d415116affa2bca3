"""Reading MedCalc-Bench's answers: the authors' way, a reader's way, and whether a value is right."""

from __future__ import annotations

import re
from typing import Any

from medtasks_utils.benchmarks.medcalc_bench.rows import Judgement
from medtasks_utils.extraction import numbers
from medtasks_utils.extraction.dates import strict_date
from medtasks_utils.extraction.durations import strict_weeks_days
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.harness.sources import Row


def authors_value(content: str, judgement: Judgement) -> Any:
    """The value that the authors' scorer reads; None where it reads none."""
    text = re.sub(r"\s+", " ", content).strip('"')  # not stripped of a leading space, before which no date starts
    if judgement == "date":
        return strict_date(text)
    if judgement == "weeks_days":
        return strict_weeks_days(text)
    return numbers.strict_integer(text) if judgement == "integer" else numbers.strict_decimal(text)


def is_right(value: Any, doc: Row) -> bool:
    """Whether a value equals the truth: the same date, the same weeks and days, the rounded number, or within limits.

    A percentage is right as the number that it shows or as the fraction that it means: 83.3 % may be 83.3 or 0.833.
    """
    truth = doc["ground_truth"]
    if doc["judgement"] == "date":
        return bool(value == strict_date(truth))
    if doc["judgement"] == "weeks_days":
        return bool(value == strict_weeks_days(truth))
    if doc["judgement"] == "integer":
        return bool(round(value) == float(truth))
    readings = (value, value / 100) if isinstance(value, Percentage) else (value,)
    return any(doc["lower_limit"] <= reading <= doc["upper_limit"] for reading in readings)


def tag_despite_malformed_thinking(response: str) -> tuple[str, int] | None:
    """An intact answer tag that a malformed think block hides.

    Where think tags do not pair up, a final answer that stands on a line of its own, or right after some tag, at the
    end of the response was meant as one. Mentioned within reasoning that is never closed, it is not.
    """
    openings, closings = len(re.findall("(?i)<think>", response)), len(re.findall("(?i)</think>", response))
    tag = last_tag(response)
    if openings == closings or tag is None:
        return None
    content, end = tag
    before = response[: end - len(f"<answer>{content}</answer>")].rstrip(" \t")
    after = re.sub(r"(?i)</think>", "", response[end:])
    only_opening = openings == 1 and before.lower().endswith("<think>")
    stands_alone = not before or (before.endswith(("\n", ">")) and not only_opening)
    return tag if stands_alone and not after.strip() else None
