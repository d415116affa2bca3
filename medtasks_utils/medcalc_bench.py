"""MedCalc-Bench (Khandekar et al., arXiv:2406.12036): rows, four kinds of judgement, extraction, score."""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from medtasks_utils.errors import DataError
from medtasks_utils.extraction import numbers
from medtasks_utils.extraction.boxes import last_box, outside_boxes, unwrap
from medtasks_utils.extraction.dates import strict_date, written_date
from medtasks_utils.extraction.durations import strict_weeks_days, written_weeks_days
from medtasks_utils.extraction.tags import last_tag, unclosed_tag
from medtasks_utils.extraction.think import final_text
from medtasks_utils.sources import Row, Table, find_split, read_split
from medtasks_utils.task import Answer, Score
from medtasks_utils.tools.task import ToolOptions, ToolTask

logger = logging.getLogger("lm_eval.medtasks")

Judgement = Literal["date", "weeks_days", "integer", "decimal"]

# How an answer is judged depends on the calculator alone; the column "Output Type" is wrong for some.
JUDGEMENTS: dict[int, Judgement] = {
    **dict.fromkeys((13, 68), "date"),
    69: "weeks_days",
    **dict.fromkeys((4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51), "integer"),
    **dict.fromkeys(
        (2, 3, *range(5, 12), 19, 22, 23, 24, 26, 30, 31, 38, 39, 40, 44, 46, 49, *range(56, 68)), "decimal"
    ),
}
CATEGORIES = ("lab_test", "physical", "date", "dosage", "risk", "severity", "diagnosis")
REPOSITORIES = {"verified": "nsk7153/MedCalc-Bench-Verified", "1.2": "ncbi/MedCalc-Bench-v1.2"}

_COLUMNS = (
    "Row Number",
    "Calculator ID",
    "Calculator Name",
    "Category",
    "Output Type",
    "Patient Note",
    "Question",
    "Ground Truth Answer",
    "Lower Limit",
    "Upper Limit",
    "Ground Truth Explanation",
)


class MedCalcBenchOptions(ToolOptions):
    """Options under ``medcalc_bench``."""

    choose_rows = frozenset({"dataset_version", "per_calculator"})

    dataset_version: Literal["verified", "1.2"] = Field("verified", description="MedCalc-Bench-Verified, or v1.2")
    one_shot: bool = Field(False, description="show the solved example of the same calculator")
    answer_format: Literal["xml", "boxed"] = Field("xml", description="answer in <answer></answer>, or in a box")
    use_think: bool = Field(False, description="ask for reasoning in a think block first")
    system_prompt: str | None = Field(None, description="system message in place of ours")
    per_calculator: int | None = Field(None, ge=1, description="a fixed subset of so many rows per calculator")


class MedCalcBench(ToolTask):
    """``medcalc_bench`` and its variants: a number within limits, a score, a date, or weeks and days."""

    benchmark = "medcalc_bench"
    options_type = MedCalcBenchOptions
    file_patterns: ClassVar = ("data/*", "*.parquet", "*.csv", "*.jsonl", "*.json")
    scoring_packages: ClassVar = ("simpleeval",)

    def adjust_config(self, config: dict[str, Any]) -> None:
        """Say so where a system message in place of ours keeps the tools from the model."""
        super().adjust_config(config)
        given = self.options.system_prompt
        unnamed = [tool.name for tool in self.options.tools if given is not None and tool.name not in given]
        if unnamed:
            logger.warning(
                "%s: system_prompt replaces our system message, which describes the tools, and does not name %s",
                config["task"],
                " and ".join(unnamed),
            )

    # ---- rows

    def load_rows(self) -> list[Row]:
        """Documents of the test split, each with its solved example where ``one_shot`` asks for it."""
        documents = self._documents("test")
        version = self.options.dataset_version
        if self.source.name != "hub" and version != "verified" and self._folder().name != version:
            logger.warning("%s: the rows are those in %s, whichever version it holds", self.config.task, self._folder())
        if self.options.per_calculator is not None:
            documents = stratified(documents, self.options.per_calculator)
        if self.options.one_shot:
            self._add_examples(documents)
        return documents

    def load_fewshot_rows(self) -> list[Row]:
        """Documents of the train split."""
        folder = self._folder()
        if not find_split(folder, "train"):
            raise DataError(
                f"{self.config.task}: few-shot examples are drawn from train, and {folder} has no train split; add it, "
                'leave --num_fewshot out, or show one solved example with \'{"medcalc_bench": {"one_shot": true}}\''
            )
        return self._documents("train")

    def _folder(self) -> Path:
        version = self.options.dataset_version
        return self.folder(REPOSITORIES[version], subfolder=version)

    def _documents(self, split: str) -> list[Row]:
        table = read_split(self._folder(), split)
        table.require_columns(_COLUMNS)
        documents = []
        for index, row in enumerate(table.rows):
            document = _document(row, table, index)
            if not document["note"].strip() or not document["question"].strip():
                self.leave_out(table, index, "no patient note or no question")
            else:
                documents.append(document)
        return documents

    def _add_examples(self, documents: list[Row]) -> None:
        examples = {example["calculator_id"]: example for example in self._documents("one_shot")}
        lacking = sorted({doc["calculator_id"] for doc in documents} - set(examples))
        if lacking:
            raise DataError(
                f"{self.config.task}: the one_shot split in {self._folder()} has no example for calculator "
                f"{', '.join(map(str, lacking))}"
            )
        for doc in documents:
            example = examples[doc["calculator_id"]]
            doc["example_note"] = example["note"]
            doc["example_question"] = example["question"]
            doc["example_explanation"] = example["explanation"]
            doc["example_answer"] = example["shown_truth"]

    # ---- extraction

    def strict(self, response: str, doc: Row) -> Answer:
        """The authors' reading of the text inside the answer tag or box."""
        judgement: Judgement = doc["judgement"]
        content, found_by = self._content(response)
        return _answer(None if content is None else authors_value(content, judgement), judgement, response, found_by)

    def flexible(self, response: str, doc: Row) -> Answer:
        """What the answer says in any usual form, in the tag or box, or in a clearly stated final value without one."""
        judgement: Judgement = doc["judgement"]
        content, found_by = self._content(response)
        if content is None:
            text = outside_boxes(final_text(response))
            content, found_by = unclosed_tag(text) or stated_value(text), "statement"
        value = None
        if content is not None:
            value = plain_value(content, judgement)
            value = authors_value(content, judgement) if value is None else value
        return _answer(value, judgement, response, found_by)

    def has_final_answer(self, text: str) -> bool:
        """Whether the form that was asked for holds a value; one without a digit only speaks of the form."""
        text = final_text(text)
        if self.options.answer_format == "boxed":
            content = last_box(text)
        else:
            tag = last_tag(text)
            content = None if tag is None else tag[0]
        return content is not None and re.search(r"\d", content) is not None

    def _content(self, response: str) -> tuple[str | None, str]:
        """The text inside the last tag or box, the form that was asked for first, and which of the two it is."""
        text = final_text(response)
        tag = last_tag(text) or _tag_despite_malformed_thinking(response)
        box = last_box(text)
        contents = [(None if tag is None else tag[0], "tag"), (None if box is None else unwrap(box), "box")]
        if self.options.answer_format == "boxed":
            contents.reverse()
        return next((content for content in contents if content[0] is not None), (None, "none"))

    # ---- score

    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """``acc``, the same for the example's category, ``answered``."""
        right = float(answer.value is not None and is_right(answer.value, doc))
        return {
            "acc": right,
            **{f"acc_{category}": right if doc["category"] == category else None for category in CATEGORIES},
            "answered": float(answer.value is not None),
        }


def _tag_despite_malformed_thinking(response: str) -> tuple[str, int] | None:
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


def stratified(documents: list[Row], per_calculator: int) -> list[Row]:
    """The same ``per_calculator`` documents of each calculator on every machine, in the order of the data."""
    by_calculator: dict[int, list[int]] = defaultdict(list)
    for index, doc in enumerate(documents):
        by_calculator[doc["calculator_id"]].append(index)
    chosen: list[int] = []
    for indices in by_calculator.values():
        chosen += sorted(indices, key=lambda index: _lot(documents[index]))[:per_calculator]
    return [documents[index] for index in sorted(chosen)]


def _lot(document: Row) -> bytes:
    return hashlib.sha256(f"medcalc_bench:{document['row_number']}".encode()).digest()


def authors_value(content: str, judgement: Judgement) -> Any:
    """The value that the authors' scorer reads; None where it reads none."""
    text = re.sub(r"\s+", " ", content).strip('"')  # not stripped of a leading space, before which no date starts
    if judgement == "date":
        return strict_date(text)
    if judgement == "weeks_days":
        return strict_weeks_days(text)
    return numbers.strict_integer(text) if judgement == "integer" else numbers.strict_decimal(text)


def plain_value(content: str, judgement: Judgement) -> Any:
    """The value that a reader would take from a short statement; None where it states none."""
    if judgement == "date":
        return written_date(content)
    if judgement == "weeks_days":
        return written_weeks_days(content)
    return numbers.plain_number(content, score=judgement == "integer")


_STATEMENT = re.compile(
    r"\b(?:final\s+)?(?:answer|value|result)\b[^\n:=]{0,60}?(?:\bis\b|:|=)([^\n]{1,200})", re.IGNORECASE
)
_SAID = re.compile(r".*(?:\b(?:is|was|equals|approximately)\b|[:=≈])(.*\d.*)", re.IGNORECASE)
_BOLD_VALUE = re.compile(r"\*\*\s?[≈~=]?\s?([+-]?\d{1,15}(?!\d|\.\s|\))[^*\n]{0,60})\*\*")
_MAX_LAST_LINE = 120  # characters
_MAX_SENTENCE = 600


def stated_value(text: str) -> str | None:
    """The part of an untagged response that states its final value, or None.

    That is what follows the last "answer is" or its like, else what the last line says after "is" or "=", else the last
    value in bold, else the last line if it is short.
    """
    statements = _STATEMENT.findall(text)
    if statements:
        return str(statements[-1])
    last_line = text.strip().rsplit("\n", 1)[-1]
    said = _SAID.fullmatch(last_line[-_MAX_SENTENCE:])
    if said:
        return said[1]
    bold = _BOLD_VALUE.findall(text)
    if bold:
        return str(bold[-1])
    return last_line if len(last_line) <= _MAX_LAST_LINE and re.search(r"\d", last_line) else None


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
    readings = (value, value / 100) if isinstance(value, numbers.Percentage) else (value,)
    return any(doc["lower_limit"] <= reading <= doc["upper_limit"] for reading in readings)


def _answer(value: Any, judgement: Judgement, response: str, found_by: str) -> Answer:
    shown = None
    if value is not None and judgement == "date":
        shown = f"{value.month}/{value.day}/{value.year}"
    elif value is not None and judgement == "weeks_days":
        shown = f"({value[0]} weeks, {value[1]} days)"
    return Answer(value, response, shown, found_by)


def _document(row: Row, table: Table, index: int) -> Row:
    cells = {column: "" if row[column] is None else str(row[column]).strip() for column in _COLUMNS}
    calculator = _number(cells["Calculator ID"], "Calculator ID", table, index)
    if calculator not in JUDGEMENTS:
        raise DataError(
            f"{table.at(index)}: unknown Calculator ID {cells['Calculator ID']}; how answers are judged is known for "
            f"{', '.join(map(str, sorted(JUDGEMENTS)))}"
        )
    judgement = JUDGEMENTS[int(calculator)]
    truth = cells["Ground Truth Answer"]
    lower = upper = None
    shown = truth
    if judgement == "date":
        if strict_date(truth) is None:
            raise DataError(f"{table.at(index)}: Ground Truth Answer is {truth!r}, not a date M/D/YYYY")
    elif judgement == "weeks_days":
        age = strict_weeks_days(truth)
        if age is None:
            raise DataError(f"{table.at(index)}: Ground Truth Answer is {truth!r}, not weeks and days")
        shown = f"({age[0]} weeks, {age[1]} days)"
    else:
        _number(truth, "Ground Truth Answer", table, index)
        limits = (_number(cells[f"{side} Limit"], f"{side} Limit", table, index) for side in ("Lower", "Upper"))
        lower, upper = sorted(limits)  # the data gives them the wrong way round for some negative truths
    return {
        "row_number": cells["Row Number"],
        "calculator_id": int(calculator),
        "calculator_name": cells["Calculator Name"],
        "category": _category(cells["Category"], table, index),
        "output_type": cells["Output Type"],
        "judgement": judgement,
        "note": cells["Patient Note"],
        "question": cells["Question"],
        "ground_truth": truth,
        "shown_truth": shown,
        "lower_limit": lower,
        "upper_limit": upper,
        "explanation": cells["Ground Truth Explanation"],
        "example_note": "",
        "example_question": "",
        "example_explanation": "",
        "example_answer": "",
    }


def _number(cell: str, column: str, table: Table, index: int) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise DataError(f"{table.at(index)}: {column} is {cell!r}, not a number")
    return number


def _category(label: str, table: Table, index: int) -> str:
    name = label.lower().replace(" ", "_")
    name = "lab_test" if name == "lab" else name
    if name not in CATEGORIES:
        raise DataError(f"{table.at(index)}: unknown Category {label!r}; known: {', '.join(CATEGORIES)}")
    return name
