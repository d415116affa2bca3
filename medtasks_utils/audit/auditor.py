"""Ask an LLM which answer a response states, and compare its readings with those of the filters."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.extraction.think import final_text
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.judging.judge import Ask, Judgement
from medtasks_utils.judging.judge_replies import UnreadableError
from medtasks_utils.judging.templates import Template
from medtasks_utils.results import Sample
from medtasks_utils.results.samples import Row

TEMPLATE = Template((Path(__file__).parent / "prompt.md").read_text(encoding="utf-8"))
NONE_STATED = "none"
DOUBTFUL, OTHERS = "doubtful", "others"
_UNSURE_BELOW = 0.96  # certainty of guesses, weak patterns, and values with a rival stated almost as clearly
_LONGEST = 12_000
"""Maximum number of characters that the LLM reads: those at the end of a response, where answers are stated."""


class Item(NamedTuple):
    """A response to audit: its benchmark, its sample, and the index of the generation.

    Choices are lettered as the model saw them.
    """

    benchmark: Benchmark[Any]
    sample: Sample
    generation: int

    @property
    def response(self) -> str:
        """The text that the filters read."""
        return self.sample.responses[self.generation]

    @property
    def example(self) -> Row:
        """The example as the model saw it."""
        return self.sample.example_shown(self.benchmark, self.generation)

    @property
    def stratum(self) -> str:
        """The stratum from which the response may be drawn, ``doubtful`` or ``others``.

        A response is doubtful if a filter found no answer, the filters disagree, or the flexible reading is uncertain.
        """
        strict, flexible = map(self.answer_of, FILTERS)
        certainty = self.sample.details[FLEXIBLE].get("certainty")
        if isinstance(certainty, list):
            certainty = certainty[self.generation]
        is_unsure = certainty is not None and certainty < _UNSURE_BELOW
        is_doubtful = UNANSWERED in (strict, flexible) or not self.is_same(strict, flexible) or is_unsure
        return DOUBTFUL if is_doubtful else OTHERS

    def answer_of(self, filter_name: str) -> str:
        """Return the answer of a filter, as the letter that the model saw; ``[invalid]`` if unanswered."""
        return self.sample.answer_shown(self.sample.answers[filter_name][self.generation], self.generation)

    def is_scored_right(self, filter_name: str) -> bool:
        """Return whether the answer of a filter was scored as right."""
        return self.sample.scores_of(filter_name, "acc")[self.generation] == 1.0

    def values_of(self, reading: str) -> Sequence[object]:
        """Return the values that a reading may represent; empty if it is not an answer."""
        is_answer = reading not in (NONE_STATED, UNANSWERED)
        return self.benchmark.audit.values_of(reading, self.example) if is_answer else ()

    def is_same(self, first: str, second: str) -> bool:
        """Return whether two readings are the same answer, or neither is an answer."""
        values, others = self.values_of(first), self.values_of(second)
        return not (values or others) or self.benchmark.audit.agree(values, others)

    def is_right(self, reading: str) -> bool:
        """Return whether any value that a reading may represent is right."""
        return any(self.benchmark.is_right(value, self.example) for value in self.values_of(reading))


class Auditor:
    """A judge whose LLM reads one response per request; ``stated`` in its output is the answer, or ``none``."""

    name = "audit"
    signature = f"audit|prompt:{TEMPLATE.version}"
    rates: Sequence[str] = ()

    async def judge(self, case: Item, ask: Ask) -> Judgement:
        """Have the LLM read the end of a response without its reasoning.

        A response that is empty without its reasoning states no answer, and is not sent. The score is unused.
        """
        response = final_text(case.response).strip()
        if not response:
            return Judgement(0.0, output={"stated": NONE_STATED})
        question = case.benchmark.audit.question(case.example)
        cut = "[…] " if len(response) > _LONGEST else ""
        messages = TEMPLATE.messages(**question._asdict(), response=cut + response[-_LONGEST:])
        line = re.compile(rf"[`*\s]*STATED:[`*\s]*({question.pattern}|{NONE_STATED})[`*.\s]*", re.IGNORECASE)

        def parse(text: str) -> str:
            """Return the answer in a one-line reply; raise UnreadableError if there is no valid one."""
            match = line.fullmatch(text)
            stated = match[1] if match else ""
            if stated.lower() == NONE_STATED:
                return NONE_STATED
            if not stated or not case.values_of(stated):
                raise UnreadableError("the reply is not a single line with a valid answer")
            return stated

        return Judgement(0.0, output={"stated": await ask(messages, parse)})
