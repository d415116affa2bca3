"""MedCalc-Bench (Khandekar et al., arXiv:2406.12036): rows, four kinds of judgement, extraction, score."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from medtasks_utils.benchmarks.card import Repository
from medtasks_utils.benchmarks.medcalc_bench import corrected
from medtasks_utils.benchmarks.medcalc_bench.card import CARD, CATEGORIES, NOT_AVAILABLE, OF_ABSTAINING
from medtasks_utils.benchmarks.medcalc_bench.days import reading_in_days, strict_days
from medtasks_utils.benchmarks.medcalc_bench.labels import (
    Labels,
    benchmark_labels,
    details_of,
    key_of,
    physicians_labels,
)
from medtasks_utils.benchmarks.medcalc_bench.reading import (
    answer_tag,
    authors_value,
    is_right,
)
from medtasks_utils.benchmarks.medcalc_bench.rows import (
    COLUMNS,
    Judgement,
    as_document,
    stratified,
)
from medtasks_utils.errors import DataError, OptionError
from medtasks_utils.extraction.absence import says_not_available, states_not_available
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.extraction.think import final_text, think_tags_pair_up
from medtasks_utils.extraction.values import Kind, read_value
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.harness import pinned
from medtasks_utils.harness.answer import Answer, Score
from medtasks_utils.harness.sources import Row, find_split, read_split
from medtasks_utils.harness.tool_task import ToolOptions, ToolTask
from medtasks_utils.metrics import Metric

logger = logging.getLogger("lm_eval.medtasks")

_ONE_SHOT = 'leave --num_fewshot out, or show one solved example with \'{"medcalc_bench": {"one_shot": true}}\''


class MedCalcBenchOptions(ToolOptions):
    """Options under ``medcalc_bench``."""

    choose_rows = frozenset({"dataset_version", "split", "per_calculator"})
    aliases: ClassVar = {"version": "dataset_version"}

    dataset_version: Literal["verified", "1.2", "corrected"] = Field(
        "verified", description="MedCalc-Bench-Verified, v1.2, or v1.0 with labels that physicians corrected"
    )
    split: Literal["test", "train"] = Field("test", description="the rows to evaluate on")
    one_shot: bool = Field(False, description="show the solved example of the same calculator")
    answer_format: Literal["xml", "boxed"] = Field("xml", description="answer in <answer></answer>, or in a box")
    use_think: bool = Field(False, description="ask for reasoning in a think block first")
    system_prompt: str | None = Field(None, description="system message in place of ours; tools are still described")
    per_calculator: int | None = Field(None, ge=1, description="a fixed subset of so many rows per calculator")


class MedCalcBench(ToolTask):
    """``medcalc_bench`` and its variants: a number within limits, a score, a date, or weeks and days."""

    card = CARD
    options_type = MedCalcBenchOptions
    scoring_packages: ClassVar = ("simpleeval",)
    _other_labels: Labels | None = None

    def adjust_config(self, config: dict[str, Any]) -> None:
        """Refuse what cannot apply to the rows."""
        super().adjust_config(config)
        task, is_of_corrected = config["task"], config["task"] == "medcalc_bench_corrected"
        if is_of_corrected and not self._is_corrected:
            raise OptionError(
                f"{task} has rows of its own, so dataset_version cannot be {self.options.dataset_version!r} for it; "
                "run medcalc_bench or medcalc_bench_v1_2"
            )
        given = [
            name for name, default in (("revision", None), ("split", "test")) if getattr(self.options, name) != default
        ]
        if self._is_corrected and given:
            raise OptionError(
                f"{task}: {' and '.join(given)} cannot apply to the corrected rows, one file that is pinned by its "
                "checksum; leave it out"
            )

    @property
    def _is_corrected(self) -> bool:
        return bool(self.options.dataset_version == "corrected")

    def metrics(self) -> Sequence[Metric]:
        """Those of ``N/A`` only where that may be right."""
        return [metric for metric in super().metrics() if self._is_corrected or metric not in OF_ABSTAINING]

    # ---- rows

    def load_rows(self) -> list[Row]:
        """Documents of the split, each with its solved example where ``one_shot`` asks for it."""
        documents = self._documents(
            self._folder(), *(corrected.SPLITS if self._is_corrected else (self.options.split,))
        )
        self._other_labels = self._find_other_labels()
        version = self.options.dataset_version
        if self.source.name != "hub" and version == "1.2" and self._folder().name != version:
            logger.warning("%s: the rows are those in %s, whichever version it holds", self.config.task, self._folder())
        if self.options.per_calculator is not None:
            documents = stratified(documents, self.options.per_calculator)
        if self.options.one_shot:
            self._add_examples(documents)
        return documents

    def load_fewshot_rows(self) -> list[Row]:
        """Documents of the train split."""
        folder = self._folder()
        if self._is_corrected:
            raise DataError(
                f"{self.config.task}: there are no corrected rows to draw few-shot examples from; {_ONE_SHOT}"
            )
        if not find_split(folder, "train"):
            raise DataError(
                f"{self.config.task}: few-shot examples are drawn from train, and {folder} has no train split; add it, "
                f"or {_ONE_SHOT}"
            )
        return self._documents(folder, "train")

    @classmethod
    def repository_of(cls, options: MedCalcBenchOptions) -> Repository:
        """The one of ``dataset_version``."""
        return CARD.repositories[options.dataset_version]

    def _folder(self) -> Path:
        return self.folder(subfolder=self.options.dataset_version)

    def _examples_folder(self) -> Path:
        """The folder with the solved examples: those of Verified where the rows have none of their own."""
        own = self._folder()
        if find_split(own, "one_shot"):
            return own
        root = self.source.folder(CARD, CARD.repositories["verified"])
        return root / "verified" if (root / "verified").is_dir() else root

    def _documents(self, folder: Path, *splits: str) -> list[Row]:
        table = read_split(folder, *splits)
        is_corrected = splits == corrected.SPLITS
        table.require_columns(corrected.COLUMNS if is_corrected else COLUMNS)
        read = corrected.corrected_document if is_corrected else as_document
        documents = []
        for index, row in enumerate(table.rows):
            document = read(row, table, index)
            if not document["note"].strip() or not document["question"].strip():
                self.leave_out(table, index, "no patient note or no question")
            else:
                documents.append(document)
        return documents

    def _find_other_labels(self) -> Labels | None:
        """The labels beside the rows' own, where they are at hand: nothing is downloaded for them."""
        find = benchmark_labels if self._is_corrected else physicians_labels
        if self.source.name != "hub" or self._is_corrected:
            return find(self._folder()) or find(self.folder())
        repository = CARD.repositories["corrected"]
        return find(pinned.cached_folder(repository)) if pinned.is_cached(repository) else None

    def _add_examples(self, documents: list[Row]) -> None:
        folder = self._examples_folder()
        examples = {example["calculator_id"]: example for example in self._documents(folder, "one_shot")}
        lacking = sorted({doc["calculator_id"] for doc in documents} - set(examples))
        if lacking:
            raise DataError(
                f"{self.config.task}: the one_shot split in {folder} has no example for calculator "
                f"{', '.join(map(str, lacking))}"
            )
        for doc in documents:
            example = examples[doc["calculator_id"]]
            doc["example_note"] = example["note"]
            doc["example_question"] = example["question"]
            doc["example_explanation"] = example["explanation"]
            doc["example_answer"] = example["shown_truth"]
            if doc["judgement"] == "days":  # the example asks for weeks and days, which here are answered in days
                doc["example_question"] = doc["question"]
                doc["example_answer"] = f"{strict_days(example['shown_truth']):.0f}"

    # ---- extraction

    def extract(self, filter_name: str, response: str, doc: Row) -> Answer:
        """The answer, which may be ``N/A`` where a label may be, and how it does by the other label."""
        answer = super().extract(filter_name, response, doc)
        other = self._other_labels.get(key_of(doc)) if self._other_labels is not None else None
        found_by = self._abstains(filter_name, response) if self._is_corrected or other is not None else None
        if self._is_corrected and found_by is not None:
            answer = Answer(NOT_AVAILABLE, response, found_by=found_by)
        if self._other_labels is not None:
            value = answer.value if found_by is None else NOT_AVAILABLE
            answer.details |= details_of(doc, other, value)
        return answer

    def _abstains(self, filter_name: str, response: str) -> str | None:
        """How a response says that the note lacks what is needed; None if it does not."""
        if filter_name != "strict-match":
            response = without_continuation(response)
        content, found_by = self._content(response)
        if content is not None and says_not_available(content):
            return found_by
        if filter_name == "strict-match":
            return None
        text = final_text(response) if content is None else content
        return ("statement" if content is None else found_by) if states_not_available(text) else None

    def strict(self, response: str, doc: Row) -> Answer:
        """The authors' reading of the text inside the answer tag or box."""
        judgement: Judgement = doc["judgement"]
        content, found_by = self._content(response)
        return _answer(None if content is None else authors_value(content, judgement), judgement, response, found_by)

    def flexible(self, response: str, doc: Row) -> Answer:
        """What the answer says in any usual form, in the tag or box, or in a clearly stated value without one."""
        reading = self.read(response, doc)
        found_by = reading.cue if reading.cue in ("box", "tag", "key", "none") else "statement"
        return _answer(reading.value, doc["judgement"], response, found_by)

    def read(self, response: str, doc: Row) -> Reading:
        """What is weighed: tags, boxes and keys, and the text around them; also a tag in malformed reasoning."""
        response = without_continuation(response)
        tag = None if think_tags_pair_up(response) else answer_tag(response)
        text = final_text(response) if tag is None else f"<answer>{tag}</answer>"
        asked = "\n".join(doc[field] for field in ("question", "calculator_name") if field in doc)
        return self._reading(partial(read_value, text, asked=asked), doc)

    def _reading(self, read: Callable[[Kind], Reading], doc: Row) -> Reading:
        return reading_in_days(read) if doc["judgement"] == "days" else read(doc["judgement"])

    def has_final_answer(self, text: str) -> bool:
        """Whether the form that was asked for holds a value; one without a digit only speaks of the form."""
        text = final_text(text)
        if self.options.answer_format == "boxed":
            content = last_box(text)
        else:
            tag = last_tag(text)
            content = None if tag is None else tag[0]
        if content is None:
            return False
        return re.search(r"\d", content) is not None or (self._is_corrected and says_not_available(content))

    def _content(self, response: str) -> tuple[str | None, str]:
        """The text inside the last tag or box, the form that was asked for first, and which of the two it is."""
        box = last_box(final_text(response))
        contents = [(answer_tag(response), "tag"), (None if box is None else unwrap(box), "box")]
        if self.options.answer_format == "boxed":
            contents.reverse()
        return next((content for content in contents if content[0] is not None), (None, "none"))

    # ---- score

    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """``acc``, the same as ``by_calculator`` and for the category, ``answered``; of ``N/A`` where there is any."""
        right = float(answer.value is not None and is_right(answer.value, doc))
        return {
            "acc": right,
            "by_calculator": right,
            **{f"acc_{category}": right if doc["category"] == category else None for category in CATEGORIES},
            "answered": float(answer.value is not None),
            **(self._of_abstaining(doc, answer, right) if self._is_corrected else {}),
        }

    def _of_abstaining(self, doc: Row, answer: Answer, right: float) -> dict[str, Score]:
        is_answerable = doc["ground_truth"] != NOT_AVAILABLE
        return {
            "acc_answerable": right if is_answerable else None,
            "acc_unanswerable": None if is_answerable else right,
            "na_rate": float(answer.value == NOT_AVAILABLE),
        }


def _answer(value: Any, judgement: Judgement, response: str, found_by: str) -> Answer:
    shown = None
    if value is not None and judgement == "date":
        shown = f"{value.month}/{value.day}/{value.year}"
    elif value is not None and judgement == "weeks_days":
        shown = f"({value[0]} weeks, {value[1]} days)"
    return Answer(value, response, shown, found_by)
