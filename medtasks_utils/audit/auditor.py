"""Ask an LLM which answer a response states, and compare its readings with those of the filters."""

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark, Example
from medtasks_utils.judging.judge import Ask, Judgement
from medtasks_utils.judging.judge_replies import UnreadableError
from medtasks_utils.judging.templates import Template

TEMPLATE = Template((Path(__file__).parent / "prompt.md").read_text(encoding="utf-8"))
NONE_STATED = "none"
_LONGEST = 12_000
"""Maximum number of characters of a response to show, from its end, where answers are stated."""


class AuditCase(NamedTuple):
    """A response, and the example of a benchmark that it answers."""

    benchmark: Benchmark
    example: Example
    response: str


class Auditor:
    """An LLM that reads each response in one call; its output has the answer, or ``none``, under ``stated``."""

    name = "audit"
    rates: Sequence[str] = ()

    @property
    def signature(self) -> str:
        """A text with the version of the prompt."""
        return f"audit|prompt:{TEMPLATE.version}"

    async def judge(self, case: AuditCase, ask: Ask) -> Judgement:
        """Read a response; the score is 1 if it states an answer, else 0."""
        if not case.response:
            return Judgement(0.0, output={"stated": NONE_STATED})
        question = case.benchmark.audit_question(case.example)
        cut = "[…] " if len(case.response) > _LONGEST else ""
        messages = TEMPLATE.messages(**question._asdict(), response=cut + case.response[-_LONGEST:])
        line = re.compile(rf"[`*\s]*STATED:[`*\s]*({question.pattern}|{NONE_STATED})[`*.\s]*", re.IGNORECASE)

        def read(text: str) -> str:
            """Return the answer in the only line of a reply; raise UnreadableError if it is not valid."""
            match = line.fullmatch(text)
            if match and match[1].lower() == NONE_STATED:
                return NONE_STATED
            stated = match[1] if match else NONE_STATED
            if not _values(stated, case.benchmark, case.example):
                raise UnreadableError("the reply is not the requested line with a valid answer")
            return stated

        stated = await ask(messages, read)
        return Judgement(float(stated != NONE_STATED), output={"stated": stated})


def _values(reading: str, benchmark: Benchmark, example: Example) -> list[Any]:
    """Return the values that a reading may stand for; an empty list if it is not an answer."""
    return [] if reading in (NONE_STATED, UNANSWERED) else benchmark.values_of(reading, example)


def same(first: str, second: str, benchmark: Benchmark, example: Example) -> bool:
    """Return True if two readings are the same answer, or neither is an answer."""
    first_values = _values(first, benchmark, example)
    second_values = _values(second, benchmark, example)
    if not (first_values or second_values):
        return True
    return any(itertools.starmap(benchmark.is_same, itertools.product(first_values, second_values)))


def right(reading: str, benchmark: Benchmark, example: Example) -> bool:
    """Return True if a reading is the right answer."""
    return any(benchmark.is_right(value, example) for value in _values(reading, benchmark, example))
