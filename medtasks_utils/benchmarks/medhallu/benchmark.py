"""Define MedHallu (Pandit et al., arXiv:2502.14302): its options and rows, and the reading and scoring of verdicts."""

import ast
import hashlib
import re
from collections.abc import Sequence
from itertools import accumulate, chain
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import FiniteFloat

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import (
    Abstention,
    Breakdown,
    Data,
    Example,
    Files,
    LoadReport,
    ReportFacts,
    Repository,
    Tasks,
    by_field,
)
from medtasks_utils.benchmarks.options import CHOOSES_ROWS, About, Options, any_of
from medtasks_utils.benchmarks.shortcuts import verdicts
from medtasks_utils.benchmarks.tables import Row, Table, read_split, text_of
from medtasks_utils.errors import DataError
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.statistics.aggregation import F1, F1_OF_PART, RATIO
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.statistics.scores import Score

from .verdicts import read_verdict

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"
"""The possible verdicts."""
_VERDICTS = (FACTUAL, HALLUCINATED)
"""All verdicts but :data:`UNSURE`."""
DIFFICULTIES = ("easy", "medium", "hard")
"""The difficulties of rows, the easiest first."""

TELLS = "style says the truth"
MISLEADS = "style misleads"
"""The names of two groups of examples: a classifier that sees only the answer's text, and was trained on other rows, is
right on the first group and wrong on the second."""
AT_CHANCE = 0.55
"""The highest accuracy of a classifier of only the answers' text on rows that are considered balanced."""

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_CATEGORIES = {
    "misinterpretation": "misinterpretation_of_question",
    "incomplete": "incomplete_information",
    "mechanism": "mechanism_and_pathway_misattribution",
    "method": "methodological_and_evidence_fabrication",
}
"""The kinds of hallucination, by a word common to every spelling of the kind."""


class MedHalluOptions(Options):
    """Options of MedHallu, set under ``medhallu`` in ``--metadata`` or with ``--set``."""

    subset: Annotated[Literal["pqa_labeled", "pqa_artificial"], CHOOSES_ROWS] = "pqa_labeled"
    """configuration of the data set"""
    difficulty: Annotated[Literal["easy", "medium", "hard", "all"], CHOOSES_ROWS] = "all"
    """only rows of this difficulty (easy, medium or hard), or all rows"""
    use_knowledge: bool = False
    """show the knowledge passage with the question"""
    unsure_reward: Annotated[FiniteFloat, About(needs=any_of(allow_unsure=True))] = 0.01
    """reward for the answer 2 (unsure)"""
    allow_unsure: bool = True
    """offer 2 (unsure) as an answer"""
    style_balanced: Annotated[bool, CHOOSES_ROWS] = False
    """only rows on which a classifier that sees only the answers' style is at chance"""
    pairing: Annotated[Literal["both", "sampled"], CHOOSES_ROWS] = "both"
    """show both answers of each row, or one of them, drawn at random"""
    seed: Annotated[int, About(chooses_rows=True, needs=any_of(pairing="sampled"))] = 0
    """random seed for pairing=sampled"""


def _kind_of_hallucination(example: Row) -> str | None:
    """Return the kind of hallucination; None for examples that show the true answer."""
    return example.get("category") or None if example.get("shown") == "hallucinated" else None


class MedHallu(Benchmark[MedHalluOptions]):
    """``medhallu`` and its variants: the model decides whether an answer is factual (0) or hallucinated (1)."""

    name = "medhallu"
    title = "MedHallu"
    data = Data(
        repositories={"hub": Repository("UTAustin-AIHealth/MedHallu", "515060458a945c633debc6fd5baac7764416b724")},
        truth="target",
        shown=("question", "answer"),
        told_apart_by="shown",
        content=("question", "answer", "target"),
        checked_answer="answer",
        unsigned=("style",),
        cluster="row",
        shortcuts=Path(__file__).with_name("shortcuts.json"),
    )
    tasks = Tasks(default="medhallu")
    metrics = (
        Metric("f1", F1),
        ACC,
        Metric("precision", RATIO),
        Metric("recall", RATIO),
        Metric("accuracy_answered", RATIO),
        Metric("reward", unit="number"),
        Metric("unsure_rate", higher_is_better=False),
        ANSWERED,
        *(Metric(f"f1_{level}", F1_OF_PART) for level in DIFFICULTIES),
    )
    report = ReportFacts(
        headline=("acc", "unsure_rate"),  # F1 leaves out unsure and unanswered examples
        compared=("acc", "f1"),
        breakdowns=(
            Breakdown("difficulty", by_field("difficulty"), ("f1", "acc", "precision", "recall", "unsure_rate")),
            Breakdown("style", by_field("style"), ("f1", "acc")),
            Breakdown("kind", _kind_of_hallucination, ("acc", "unsure_rate")),
        ),
        abstention=Abstention(UNSURE, rate_metric="unsure_rate"),
    )
    answers = {FACTUAL: "factual", HALLUCINATED: "hallucinated", UNSURE: "unsure"}

    # ---- rows

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of the selected rows; the subset's only split is ``train``.

        Raises:
            DataError: for any other split, if no row has the requested difficulty, or if the option ``style_balanced``
                is set for rows whose style was not measured.
        """
        if split != "train":
            raise DataError(f"{self.task.name}: there is no split {split!r}; MedHallu's only split is 'train'")
        options = self.options
        table = read_split(files.folder(self.repository), options.subset)
        pairs = self._pairs(table)
        pairs = [pair for pair in pairs if options.difficulty in ("all", pair[0]["difficulty"])]
        if options.style_balanced:
            if not any(pair[0]["style"] for pair in pairs):
                raise DataError(
                    f"{table.path}: style_balanced requires the 1,000 rows of pqa_labeled, but these rows are "
                    "different; use a MedHallu task without style_balanced"
                )
            pairs = _style_balanced(pairs)
        if not pairs:
            raise DataError(f"{table.path} has no row of difficulty {options.difficulty!r}")
        if options.pairing == "sampled":
            pairs = [[pair[_is_second_drawn(pair[0]["row"], options.seed)]] for pair in pairs]
        return report.with_text(list(chain.from_iterable(pairs)), *self.data.shown)

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Make two examples from each row: one with the true answer, one with the hallucinated answer.

        Examples without a question or answer are left out and counted.
        """
        return report.with_text(list(chain.from_iterable(self._pairs(table))), *self.data.shown)

    def _pairs(self, table: Table) -> list[list[Example]]:
        """Return each row's two examples, with the row's index as ``row``.

        The field ``style`` is :data:`TELLS` if the style gives the answer away, :data:`MISLEADS` if it points to the
        wrong answer. It is empty if these rows were not measured.
        """
        pairs = table.made(_pair)
        examples = list(chain.from_iterable(pairs))
        right = verdicts(self.data, examples)
        for place, example in enumerate(examples):
            example["row"] = str(place // 2)
            example["style"] = (MISLEADS, TELLS)[right[place]] if right else ""
        return pairs

    # ---- reading

    def value(self, content: str, example: Example) -> str | None:
        """Return the verdict in the content of a box: 0, 1 or, if offered, 2; else None."""
        digit = unwrap(content)
        return digit if digit in _VERDICTS or (digit == UNSURE and self.options.allow_unsure) else None

    def read(self, text: str, example: Example) -> Reading:
        """Read the verdict that a response states, in a box or elsewhere; the value is None if it states none."""
        return read_verdict(final_text(without_continuation(text)))

    # ---- scores

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score every metric; ratios such as ``f1`` count only examples answered 0 or 1."""
        right = answer.value == example["target"]
        unsure = answer.value == UNSURE
        target, predicted = (float(verdict == HALLUCINATED) for verdict in (example["target"], answer.value))
        hit = target * predicted
        ratios: dict[str, Score] = {
            "f1": (2 * hit, target + predicted),
            "precision": (hit, predicted),
            "recall": (hit, target),
            "accuracy_answered": (float(right), 1.0),
        }
        if answer.value not in _VERDICTS:
            ratios = dict.fromkeys(ratios)
        difficulty = self.options.difficulty
        levels = DIFFICULTIES if difficulty == "all" else (difficulty,)
        in_level = ratios["f1"] or (0.0, 0.0)  # F1 is 0 if no example of the difficulty is decided
        by_level = {f"f1_{level}": in_level if example["difficulty"] == level else None for level in levels}
        reward = self.options.unsure_reward if unsure else float(right)
        usual = super().scores(answer, example)
        return {**usual, "reward": reward, "unsure_rate": float(unsure), **ratios, **by_level}


BENCHMARK = MedHallu


def _is_second_drawn(row: str, seed: int) -> bool:
    """Return whether a row's second example is drawn: at random, but always the same for equal rows and seeds."""
    return hashlib.sha256(f"{seed}:{row}".encode()).digest()[0] % 2 == 1


def _style_balanced(pairs: Sequence[list[Example]]) -> list[list[Example]]:
    """Return as many rows as possible while the style classifier's accuracy is at most :data:`AT_CHANCE`.

    Rows on which the classifier errs are chosen first, then the remaining ones in a pseudo-random order that is the
    same on every machine. Both answers of a row are kept, so this accuracy is also the mean of the classifier's
    accuracies on true and on hallucinated answers.
    """
    right_in = [list(map(itemgetter("style"), pair)).count(TELLS) for pair in pairs]
    draws = [hashlib.sha256(pair[0]["question"].encode()).digest() for pair in pairs]
    ranked = sorted(range(len(pairs)), key=lambda place: (right_in[place], draws[place]))
    right_so_far = accumulate(right_in[place] for place in ranked)
    count = sum(right <= AT_CHANCE * 2 * rows for rows, right in enumerate(right_so_far, 1))
    return [pairs[place] for place in sorted(ranked[:count])]


def _pair(row: Row) -> list[Example]:
    """Return the two examples of a row: the first shows the true answer, the second the hallucinated one.

    Raises:
        ValueError: for an unknown difficulty or kind of hallucination.
    """
    difficulty = text_of(row["Difficulty Level"]).strip().lower()
    if difficulty not in DIFFICULTIES:
        raise ValueError(f"Difficulty Level is {row['Difficulty Level']!r}, not easy, medium or hard")
    label = row["Category of Hallucination"]
    category = next((name for key, name in _CATEGORIES.items() if key in text_of(label).lower()), None)
    if category is None:
        raise ValueError(f"unknown Category of Hallucination {label!r}; known: {', '.join(_CATEGORIES.values())}")
    shared = {
        "question": text_of(row["Question"]).strip(),
        "knowledge": "\n\n".join(passages(row["Knowledge"])),
        "difficulty": difficulty,
        "category": category,
    }
    shown = (("ground_truth", "Ground Truth", FACTUAL), ("hallucinated", "Hallucinated Answer", HALLUCINATED))
    return [
        {**shared, "answer": text_of(row[column]).strip(), "shown": name, "target": target}
        for name, column, target in shown
    ]


def passages(knowledge: Any) -> list[str]:
    """Return the passages in a cell of ``Knowledge``.

    The cell may be a list, a string with a list printed by Python or NumPy, or any other string, which is one passage.
    An empty cell has no passages.
    """
    if isinstance(knowledge, list | tuple):
        return [text_of(passage) for passage in knowledge]
    text = text_of(knowledge).strip()
    if text.startswith("[") and not _QUOTED.sub("", text).strip("[], \r\n"):
        return [ast.literal_eval(re.sub("[\r\n]", r"\\n", quoted)) for quoted in _QUOTED.findall(text)]
    return [text] if text else []
