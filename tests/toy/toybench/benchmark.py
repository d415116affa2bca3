"""ToyBench: is a statement about colours true? Yes, no, or maybe.

A whole benchmark, as CONTRIBUTING.md leads through it: rows, prompt (in YAML), reading, score.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import (
    Abstention,
    Breakdown,
    Data,
    Example,
    ReportFacts,
    Repository,
    Tasks,
    by_field,
)
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.extraction.containers import candidates_in, first_reading
from medtasks_utils.extraction.plain import unformatted, without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading, choose, rows, weighed
from medtasks_utils.extraction.words import Mention, symbols_of
from medtasks_utils.judging import Case
from medtasks_utils.statistics.aggregation import RATIO
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.statistics.scores import Score

YES, NO, MAYBE = ANSWERS = ("yes", "no", "maybe")

_WORD = re.compile(rf"\b(?:{'|'.join(ANSWERS)})\b", re.IGNORECASE)

# What speaks for an answer (``<cand>``) and what against it; docs/reading.md has the language of these rows.
ROWS = rows(
    """
70 answer: answer [is colon the not]* <cand>
    yes: It is not black, no. The answer is yes.
64 leads: ^ <cand> (?=stop|comma|line|$)
    no: No, since yes is wrong here.
60 therefore: so [comma answer is the]* <cand>
    no: One may say yes, but it is grey, so no
58 ends: (stop|line) <cand> (?=stop* line* $)
    maybe: It is grey. Maybe.
-80 denied: not <cand>
    none: The answer is not yes.
-80 one of two: <cand> or [cand text]
    none: The answer is yes or no.
"""
)


class ToyOptions(Options):
    """Options of ToyBench, set under ``toybench`` in ``--metadata`` or with ``--set``."""

    politely: bool = False
    """say please"""

    @classmethod
    def of_environment(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return whether the environment said please."""
        return {"politely": bool(arguments.get("polite"))}


class ToyBench(Benchmark[ToyOptions]):
    """``toybench``: yes, no or maybe."""

    name = "toybench"
    title = "ToyBench"
    data = Data(repositories={"hub": Repository("nobody/toybench", "0123456")}, sample=Path(__file__).parent / "sample")
    tasks = Tasks(default="toybench", folder=Path(__file__).parent / "tasks")
    metrics = (
        Metric("acc_decided", RATIO),
        ACC,
        ANSWERED,
        Metric("maybe_rate", higher_is_better=None),
    )
    report = ReportFacts(
        compared=("acc_decided", "acc"),
        breakdowns=(Breakdown("colour", by_field("colour"), ("acc", "maybe_rate")),),
        abstention=Abstention(MAYBE, rate_metric="maybe_rate"),
    )
    answers = dict(zip(ANSWERS, ANSWERS, strict=True))  # noqa: RUF012

    def read(self, text: str, example: Example) -> Reading:
        """Weigh boxes, tags and keys, and the words of answers in the text around them."""
        return first_reading(final_text(without_continuation(text)), self._read_part)

    def _read_part(self, text: str) -> Reading:
        """Return what a part of a response states: in a box, tag or key, or else in its words."""
        inside = candidates_in(text, ("answer",), lambda container: self.value(container.content, {}))
        plain = unformatted(text)
        words = [Mention(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(plain)]
        return choose(inside or weighed(ROWS, symbols_of(plain, words)))

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score also whether the answer abstains, and ``acc`` of those that decide."""
        right = float(self.is_right(answer.value, example))
        decided = (right, 1.0) if answer.value in (YES, NO) else None
        usual = super().scores(answer, example)
        return {**usual, "acc_decided": decided, "maybe_rate": float(answer.value == MAYBE)}

    def case_of(self, example: Example, response: str) -> Case:
        """Return the explanation in a response, for judges; the answers are its choices."""
        return Case(
            specialty="colours",
            question=example["question"],
            options=ANSWERS,
            answer_letter="ABC"[ANSWERS.index(example["answer"])],
            explanation=final_text(response).strip(),
            references=(example["reason"],) if example["reason"] else (),
        )


BENCHMARK = ToyBench
