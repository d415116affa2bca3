"""MedHallu (Pandit et al., arXiv:2502.14302): rows, pairs of examples, extraction, score."""

from __future__ import annotations

import ast
import hashlib
import re
from typing import Any, ClassVar, Literal

from pydantic import Field

from medtasks_utils.benchmarks.medhallu.card import CARD, DIFFICULTIES, FACTUAL, HALLUCINATED, UNSURE
from medtasks_utils.errors import DataError
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.verdicts import read_verdict
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.harness.answer import Answer, Score
from medtasks_utils.harness.options import Need, Options
from medtasks_utils.harness.sources import Row, Table, read_split
from medtasks_utils.harness.task import MedTask

_COLUMNS = (
    "Question",
    "Knowledge",
    "Ground Truth",
    "Difficulty Level",
    "Hallucinated Answer",
    "Category of Hallucination",
)


class MedHalluOptions(Options):
    """Options under ``medhallu``."""

    choose_rows = frozenset({"subset", "difficulty", "pairing", "seed"})
    needs: ClassVar = {
        "seed": Need("pairing=sampled", lambda options: options.pairing == "sampled"),
        "unsure_reward": Need("allow_unsure=true", lambda options: options.allow_unsure),
    }

    subset: Literal["pqa_labeled", "pqa_artificial"] = Field("pqa_labeled", description="configuration of the data set")
    difficulty: Literal["easy", "medium", "hard", "all"] = Field("all", description="rows of one difficulty, or all")
    use_knowledge: bool = Field(False, description="show the knowledge passage with the question")
    unsure_reward: float = Field(0.01, description="reward of answering 2 (unsure)", allow_inf_nan=False)
    allow_unsure: bool = Field(True, description="offer 2 (unsure) as an answer")
    pairing: Literal["both", "sampled"] = Field("both", description="both answers of a row, or one drawn by seed")
    seed: int = Field(0, description="seed of pairing: sampled")


class MedHallu(MedTask):
    """``medhallu`` and its variants: is the answer shown factual (0) or hallucinated (1)?"""

    card = CARD
    options_type = MedHalluOptions

    # ---- rows

    def load_rows(self) -> list[Row]:
        """Two examples per row, with the true and with the hallucinated answer; or one of them, drawn by seed."""
        subset, reward = self.options.subset, self.options.unsure_reward
        if reward > 1:
            self.remark(f"unsure_reward={reward:g} rewards being unsure above being right")
        table = read_split(self.folder(), subset, f"{subset}/train")
        table.require_columns(_COLUMNS)
        documents: list[Row] = []
        for index, row in enumerate(table.rows):
            difficulty = str(row["Difficulty Level"]).strip().lower()
            if difficulty not in DIFFICULTIES:
                raise DataError(
                    f"{table.at(index)}: Difficulty Level is {row['Difficulty Level']!r}, not easy, medium or hard"
                )
            if self.options.difficulty not in ("all", difficulty):
                continue
            if not all(
                str(row[column] or "").strip() for column in ("Question", "Ground Truth", "Hallucinated Answer")
            ):
                self.leave_out(table, index, "no question, true answer or hallucinated answer")
                continue
            pair = self._pair(row, str(index), difficulty, table, index)
            documents += pair if self.options.pairing == "both" else [pair[_draw(self.options.seed, index)]]
        if not documents and self.options.difficulty != "all":
            raise DataError(f"{table.location} has no row of difficulty {self.options.difficulty!r}")
        return documents

    def _pair(self, row: Row, row_id: str, difficulty: str, table: Table, index: int) -> list[Row]:
        shared = {
            "row": row_id,
            "question": str(row["Question"]).strip(),
            "knowledge": "\n\n".join(passages(row["Knowledge"])),
            "difficulty": difficulty,
            "category": normal_category(row["Category of Hallucination"], table, index),
        }
        return [
            {**shared, "answer": str(row["Ground Truth"]).strip(), "shown": "ground_truth", "target": FACTUAL},
            {
                **shared,
                "answer": str(row["Hallucinated Answer"]).strip(),
                "shown": "hallucinated",
                "target": HALLUCINATED,
            },
        ]

    # ---- extraction

    def strict(self, response: str, doc: Row) -> Answer:
        """The last box holds 0, 1 or 2."""
        box = last_box(final_text(response))
        token = None if box is None else unwrap(box)
        return Answer(token if token in self._verdicts else None, response, found_by="box")

    def flexible(self, response: str, doc: Row) -> Answer:
        """The digit in the box; else a bare digit or a clearly stated verdict."""
        reading = self.read(response, doc)
        found_by = reading.cue if reading.cue in ("box", "tag", "key") else "statement"
        return Answer(reading.value if reading.value in self._verdicts else None, response, found_by=found_by)

    def read(self, response: str, doc: Row) -> Reading:
        """What is weighed, boxes among it."""
        return read_verdict(final_text(without_continuation(response)))

    @property
    def _verdicts(self) -> tuple[str, ...]:
        return (FACTUAL, HALLUCINATED, UNSURE) if self.options.allow_unsure else (FACTUAL, HALLUCINATED)

    # ---- score

    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """Means over all examples, and F1 and its kin over those answered 0 or 1."""
        right = answer.value == doc["target"]
        unsure = answer.value == UNSURE
        decided = answer.value in (FACTUAL, HALLUCINATED)
        ratios = ratios_of(int(doc["target"]), int(answer.value)) if decided else dict.fromkeys(RATIOS)
        return {
            "acc": float(right),
            "reward": self.options.unsure_reward if unsure else float(right),
            "answered": float(answer.value is not None),
            "unsure_rate": float(unsure),
            **ratios,
            **{
                f"f1_{level}": ratios["f1"] if doc["difficulty"] == level else None
                for level in DIFFICULTIES
                if self.options.difficulty in ("all", level)
            },
        }


RATIOS = ("f1", "precision", "recall", "accuracy_answered")


def ratios_of(target: int, predicted: int) -> dict[str, Score]:
    """What a decision adds to the numerator and the denominator of each ratio; 1 is the positive class."""
    hit = float(target & predicted)
    pairs = (
        (2 * hit, float(target + predicted)),
        (hit, float(predicted)),
        (hit, float(target)),
        (float(target == predicted), 1.0),
    )
    return dict(zip(RATIOS, pairs, strict=True))


def passages(knowledge: Any) -> list[str]:
    """The passages of ``Knowledge``: a list, or a string that looks like one (Python's or NumPy's way of printing)."""
    if isinstance(knowledge, list | tuple):
        return [str(passage) for passage in knowledge]
    text = str(knowledge or "").strip()
    if not (text.startswith("[") and text.endswith("]")):
        return [text] if text else []
    quoted = re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", text[1:-1], re.DOTALL)
    between = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "", text[1:-1], flags=re.DOTALL)
    if not quoted or between.strip(" ,\n\r\t"):
        return [text]
    try:
        return [str(ast.literal_eval(passage.replace("\n", "\\n").replace("\r", "\\r"))) for passage in quoted]
    except (ValueError, SyntaxError):
        return [text]


_CATEGORIES = {
    "misinterpretation": "misinterpretation_of_question",
    "incomplete": "incomplete_information",
    "mechanism": "mechanism_and_pathway_misattribution",
    "method": "methodological_and_evidence_fabrication",
}


def normal_category(label: Any, table: Table, index: int) -> str:
    """One of four names for the kind of hallucination, whatever its spelling in the data.

    Raises:
        DataError: for a label that is none of them.
    """
    lowered = str(label or "").lower()
    for key, name in _CATEGORIES.items():
        if key in lowered:
            return name
    raise DataError(
        f"{table.at(index)}: unknown Category of Hallucination {label!r}; known: {', '.join(_CATEGORIES.values())}"
    )


def _draw(seed: int, index: int) -> int:
    """Which answer of a row is shown: a fair coin that depends on the seed and the row alone."""
    return hashlib.sha256(f"{seed}:{index}".encode()).digest()[0] & 1
