"""The auditor: an LLM that says what a response states, in the reader's own vocabulary, and how readings compare."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.judging.judge import Ask, Verdict
from medtasks_utils.judging.replies import UnreadableError
from medtasks_utils.judging.templates import Template

TEMPLATE = Template((Path(__file__).parent / "prompt.md").read_text(encoding="utf-8"))
NOTHING = "none"
_LONGEST = 12_000
"""Characters of a response that are shown, its last: an answer stands at the end."""


@dataclass(frozen=True)
class Asked:
    """A response, and the example of a benchmark that it answers."""

    benchmark: Benchmark
    example: Example
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
        question = case.benchmark.audit_question(case.example)
        cut = "[…] " if len(case.response) > _LONGEST else ""
        messages = TEMPLATE.messages(**question._asdict(), response=cut + case.response[-_LONGEST:])
        line = re.compile(rf"[`*\s]*STATED:[`*\s]*({question.pattern}|{NOTHING})[`*.\s]*", re.IGNORECASE)

        def read(text: str) -> str:
            """The line's value, which the benchmark must take for an answer."""
            found = line.fullmatch(text)
            if found and found[1].lower() == NOTHING:
                return NOTHING
            stated = case.benchmark.as_logged(found[1]) if found else NOTHING
            if not _values(stated, case.benchmark, case.example):
                raise UnreadableError("not the line that was asked for, with a value in its form")
            return stated

        stated = await ask(messages, read)
        return Verdict(float(stated != NOTHING), {"stated": stated})


def _values(reading: str, benchmark: Benchmark, example: Example) -> list[Any]:
    """Return what a reading may stand for; nothing where it is none."""
    return [] if reading in (NOTHING, UNANSWERED) else benchmark.values_of(reading, example)


def same(one: str, other: str, benchmark: Benchmark, example: Example) -> bool:
    """Whether two readings are of the same answer, or both of none."""
    ours, theirs = (_values(reading, benchmark, example) for reading in (one, other))
    return not (ours or theirs) or any(itertools.starmap(benchmark.is_same, itertools.product(ours, theirs)))


def right(reading: str, benchmark: Benchmark, example: Example) -> bool:
    """Whether a reading is the right answer."""
    return any(benchmark.is_right(value, example) for value in _values(reading, benchmark, example))
