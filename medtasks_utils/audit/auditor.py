"""The auditor: an LLM that says what a response states, in the reader's own vocabulary, and how readings compare."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED
from medtasks_utils.benchmarks.medcalc_bench.kinds import KINDS, NOT_AVAILABLE, is_right
from medtasks_utils.judging.judge import Ask, Verdict
from medtasks_utils.judging.replies import UnreadableError
from medtasks_utils.judging.templates import Template

TEMPLATE = Template((Path(__file__).parent / "prompt.md").read_text(encoding="utf-8"))
NOTHING = "none"
_LONGEST = 12_000
"""Characters of a response that are shown, its last: an answer stands at the end."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_FORMS = {
    "letter": ("one of the letters A, B, C and D", "[A-D]"),
    "verdict": ("0 if it calls the answer to judge factual, 1 if hallucinated, 2 if it is unsure", "[012]"),
    "decimal": ("a number without unit, with a % if it is stated in per cent, as in 4.2, or 12.5%", f"{_NUMBER}%?"),
    "integer": ("a number without unit, as in 3", _NUMBER),
    "date": ("a date as month/day/year, as in 4/3/2023", "[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"),
    "weeks_days": ("weeks and days, as in (4 weeks, 3 days)", r"\([0-9]+ weeks, [0-9]+ days\)"),
    "days": ("a number of days, as in 31", _NUMBER),
}
"""What may be stated, by kind: in words, and as a pattern."""


@dataclass(frozen=True)
class Asked:
    """A response, what it answers, the :func:`kind_of` of what it may state, and whether it may state ``N/A``."""

    kind: str
    may_abstain: bool
    question: str
    options: tuple[str, ...]
    shown: str
    response: str


class Auditor:
    """One call a response; the output has the reading under ``stated``, ``none`` where nothing is stated."""

    name = "audit"
    rates: Sequence[str] = ()

    @property
    def signature(self) -> str:
        """The wording."""
        return f"audit|prompt:{TEMPLATE.version}"

    async def judge(self, case: Asked, ask: Ask) -> Verdict:
        """Read one response; the score is whether it states anything."""
        if not case.response:
            return Verdict(0.0, {"stated": NOTHING})
        words, pattern = _FORMS[case.kind]
        if case.may_abstain:
            words, pattern = f"{words}; or N/A if it says that the note lacks what is needed", f"{pattern}|N/A"
        cut = "[…] " if len(case.response) > _LONGEST else ""
        messages = TEMPLATE.messages(**{**asdict(case), "form": words, "response": cut + case.response[-_LONGEST:]})

        def read(text: str) -> str:
            """The line's value, which the strict reader must take."""
            found = re.fullmatch(rf"[`*\s]*STATED:[`*\s]*({pattern}|{NOTHING})[`*.\s]*", text, re.IGNORECASE)
            if not found or (found[1].lower() != NOTHING and value_of(found[1].upper(), case.kind) is None):
                raise UnreadableError("not the line that was asked for, with a value in its form")
            stated = found[1].lower()
            return stated if stated == NOTHING or case.kind == "weeks_days" else stated.upper()

        stated = await ask(messages, read)
        return Verdict(float(stated != NOTHING), {"stated": stated})


def kind_of(doc: Mapping[str, Any]) -> str | None:
    """What responses to a document may state; None where that is not known."""
    if doc.get("judgement") in _FORMS:
        return str(doc["judgement"])
    return "letter" if doc.get("answer_letter") else "verdict" if "shown" in doc else None


def value_of(reading: str, kind: str) -> Any:
    """What a reading stands for, by the strict reader; None where it is no answer."""
    if reading in (NOTHING, UNANSWERED):
        return None
    if kind in ("letter", "verdict") or reading == NOT_AVAILABLE:
        return reading
    try:
        return float(reading)
    except ValueError:
        return KINDS[kind].strict(reading.lower())


def _readings(reading: str, kind: str) -> list[Any]:
    """The same of a percentage as the number that it shows, and as the fraction that it means."""
    values = [value_of(reading, kind), *([float(reading[:-1])] if reading.endswith("%") else [])]
    return [value for value in values if value is not None]


def same(one: str, other: str, kind: str) -> bool:
    """Whether two readings are of the same answer, or both of none."""
    ours, theirs = _readings(one, kind), _readings(other, kind)
    return not (ours or theirs) or any(
        a == b or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-6))
        for a, b in itertools.product(ours, theirs)
    )


def right(reading: str, doc: Mapping[str, Any], kind: str) -> bool:
    """Whether a reading is the right answer."""
    if kind in ("letter", "verdict"):
        return bool(value_of(reading, kind) == str(doc.get("answer_letter") or doc.get("target")))
    return any(is_right(value, dict(doc)) for value in _readings(reading, kind))
