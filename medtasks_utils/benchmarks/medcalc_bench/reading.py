"""Reading MedCalc-Bench's answers: the authors' way, a reader's way, and whether a value is right."""

from __future__ import annotations

import re
from typing import Any

from medtasks_utils.benchmarks.medcalc_bench.card import NOT_AVAILABLE
from medtasks_utils.benchmarks.medcalc_bench.days import strict_days
from medtasks_utils.benchmarks.medcalc_bench.rows import Judgement
from medtasks_utils.extraction import numbers
from medtasks_utils.extraction.dates import strict_date
from medtasks_utils.extraction.durations import strict_weeks_days
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.extraction.think import final_text, think_tags_pair_up
from medtasks_utils.harness.sources import Row


def authors_value(content: str, judgement: Judgement) -> Any:
    """The value that the authors' scorer reads; None where it reads none."""
    text = re.sub(r"\s+", " ", content).strip().strip('"')
    if judgement == "date":
        return strict_date(text)
    if judgement == "weeks_days":
        return strict_weeks_days(text)
    if judgement == "days":
        return strict_days(text)
    return numbers.strict_integer(text) if judgement == "integer" else numbers.strict_decimal(text)


def is_right(value: Any, doc: Row) -> bool:
    """Whether a value equals the truth: the same date, the same weeks and days, the rounded number, or within limits.

    A percentage is right as the number that it shows or as the fraction that it means: 83.3 % may be 83.3 or 0.833.
    """
    truth = doc["ground_truth"]
    if NOT_AVAILABLE in (value, truth):
        return bool(value == truth)
    if doc["judgement"] == "date":
        return bool(value == strict_date(truth))
    if doc["judgement"] == "weeks_days":
        return bool(value == strict_weeks_days(truth))
    if doc["judgement"] == "days":
        return bool(value == float(truth))
    if doc["judgement"] == "integer":
        return bool(round(value) == float(truth))
    readings = (value, value / 100) if isinstance(value, Percentage) else (value,)
    return any(doc["lower_limit"] <= reading <= doc["upper_limit"] for reading in readings)


def answer_tag(response: str) -> str | None:
    """Content of the answer tag that counts: the last that is closed, after the reasoning; None without one.

    Where think tags do not pair up it is the last one wherever it stands, as the defining environment's parser has it.
    """
    tag = last_tag(final_text(response) if think_tags_pair_up(response) else response)
    return None if tag is None else tag[0]
