"""MedCalc-Bench (Khandekar et al., arXiv:2406.12036): rows, extraction, score; its kinds of answer are in ``kinds``."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from medtasks_utils.benchmarks.base import (
    DOUBTFUL,
    Answer,
    Benchmark,
    Breakdown,
    Example,
    Files,
    LoadReport,
    PinnedFile,
    Repository,
    Scores,
    TaskInfo,
    by_field,
)
from medtasks_utils.benchmarks.known_answers import KnownAnswers
from medtasks_utils.benchmarks.medcalc_bench.calculators import CATEGORIES, calculator_of
from medtasks_utils.benchmarks.medcalc_bench.kinds import (
    BY_CALCULATOR,
    KINDS,
    NOT_AVAILABLE,
    PHYSICIANS,
    Kind,
    Truth,
    is_right,
    number,
)
from medtasks_utils.benchmarks.tables import Row, Table, find_split, read_split
from medtasks_utils.benchmarks.tool_options import ToolOptions
from medtasks_utils.errors import DataError, OptionError, logger
from medtasks_utils.extraction.absence import says_not_available, states_not_available
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.extraction.think import final_text, think_tags_pair_up
from medtasks_utils.extraction.values import read_value
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.statistics.metrics import ACC, ANSWERED, OF_TOOLS, Metric, Score

COLUMNS = (
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
CORRECTED_COLUMNS = (
    "Unique ID",
    "Calculator Name",
    "Question",
    "Patient Note",
    "Ground Truth Answer",
    "Lower Limit",
    "Upper Limit",
)
CORRECTED_SPLITS = ("corrected", "medcalc_v1_corrected")
"""Names of the file with the labels that physicians corrected (Ye et al., arXiv:2512.19691)."""

OF_ABSTAINING = (Metric("acc_answerable"), Metric("acc_unanswerable"), Metric("na_rate", higher_is_better=None))
"""Where the note may lack what is needed: accuracy where it does not and where it does; how often that is said."""

_ONE_SHOT = 'leave --num_fewshot out, or show one solved example with \'{"medcalc_bench": {"one_shot": true}}\''
_BEGINS_WITH_A_NUMBER = re.compile(r"\W{0,6}(?:about|approx\w{0,8}|around)?\W{0,6}\d", re.IGNORECASE)


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

    @property
    def is_corrected(self) -> bool:
        """Whether the labels are those that physicians corrected, ``N/A`` among them."""
        return self.dataset_version == "corrected"


class MedCalcBench(Benchmark):
    """``medcalc_bench`` and its variants: a number within limits, a score, a date, or weeks and days."""

    name = "medcalc_bench"
    title = "MedCalc-Bench"
    options = MedCalcBenchOptions
    default_task = "medcalc_bench"
    checked_tasks = ("medcalc_bench", "medcalc_bench_corrected")
    repositories = {
        "verified": Repository("nsk7153/MedCalc-Bench-Verified", "591157b3343b4dda247294f9d929da4c75026fa8"),
        "1.2": Repository("ncbi/MedCalc-Bench-v1.2", "acb17912657c084f5bf08b8fd029812f84630497"),
        "corrected": Repository(
            "junzeye/validate-medcalc-labels",
            "b6f0416858f0b1cbb6dcb2ff93214275d0276c49",
            files=(
                PinnedFile(
                    "data/medcalc_v1_corrected.csv",
                    "f6db9ab8b7bba365f7a0c30127aea0284446fe0269e8f72a7f34e8c52506ce97",
                    "corrected.csv",
                ),
                PinnedFile(
                    "data/phase1/original_test_labels.csv",
                    "6a21796ea1c8cecaf6e7e907e209444284bf9ecd61f2969a710451f8a476120c",
                    "original.csv",
                ),
            ),
        ),
    }
    file_patterns = ("data/*", "*.parquet", "*.csv", "*.jsonl", "*.json")
    metrics = (
        ACC,
        Metric("by_calculator", "by_stratum"),
        ANSWERED,
        *OF_ABSTAINING,
        *OF_TOOLS,
        *(Metric(f"acc_{category}") for category in CATEGORIES),
    )
    compared = ("acc",)
    breakdowns = (Breakdown("category", by_field("category")), Breakdown("calculator", by_field("calculator_name")))
    cluster = "note"
    stratum = "calculator_name"
    example_fields = ("calculator_id", "calculator_name", "category", "note", "question")
    prompt_fields = ("example_note", "example_question", "example_explanation", "example_answer")
    unsigned_fields = ("other_label",)
    packages = ("simpleeval",)

    def check(self, task: TaskInfo, options: MedCalcBenchOptions) -> list[str]:
        """Refuse what cannot apply to the rows."""
        if task.name == "medcalc_bench_corrected" and not options.is_corrected:
            raise OptionError(
                f"{task.name} has rows of its own, so dataset_version cannot be {options.dataset_version!r} for it; "
                "run medcalc_bench or medcalc_bench_v1_2"
            )
        given = [name for name, default in (("revision", None), ("split", "test")) if getattr(options, name) != default]
        if options.is_corrected and given:
            raise OptionError(
                f"{task.name}: {' and '.join(given)} cannot apply to the corrected rows, one file that is pinned by "
                "its checksum; leave it out"
            )
        return []

    def metrics_of(self, task: TaskInfo, options: MedCalcBenchOptions) -> list[Metric]:
        """Those of ``N/A`` only where that may be right, those of tools only with tools."""
        left_out = {*(() if options.is_corrected else OF_ABSTAINING), *(() if options.tools else OF_TOOLS)}
        return [metric for metric in self.metrics if metric not in left_out]

    def known_answers(self) -> KnownAnswers:
        """Values in answer tags."""
        from medtasks_utils.benchmarks.medcalc_bench.known_answers import MedCalcBenchAnswers

        return MedCalcBenchAnswers()

    # ---- rows

    def repository(self, options: MedCalcBenchOptions) -> Repository:
        """The one of ``dataset_version``."""
        return self.repositories[options.dataset_version]

    def load(
        self, files: Files, options: MedCalcBenchOptions, task: TaskInfo, split: str, report: LoadReport
    ) -> list[Example]:
        """Examples of the split; those to evaluate on with what ``one_shot`` and ``per_calculator`` ask for."""
        folder = _inside(files.folder(self.repository(options)), options.dataset_version)
        if split != options.split:
            return self._fewshot(folder, options, task, split, report)
        splits = CORRECTED_SPLITS if options.is_corrected else (split,)
        examples = self.examples(read_split(folder, *splits), options, report)
        self._add_other_labels(examples, files, options, folder)
        if files.name != "hub" and options.dataset_version == "1.2" and folder.name != "1.2":
            logger.warning("%s: the rows are those in %s, whichever version it holds", task.name, folder)
        if options.per_calculator is not None:
            examples = stratified(examples, options.per_calculator)
        if options.one_shot:
            self._add_solved_examples(examples, files, options, task, folder)
        return examples

    def _fewshot(
        self, folder: Path, options: MedCalcBenchOptions, task: TaskInfo, split: str, report: LoadReport
    ) -> list[Example]:
        if options.is_corrected:
            raise DataError(f"{task.name}: there are no corrected rows to draw few-shot examples from; {_ONE_SHOT}")
        if not find_split(folder, split):
            raise DataError(
                f"{task.name}: few-shot examples are drawn from {split}, and {folder} has no {split} split; add it, or "
                f"{_ONE_SHOT}"
            )
        return self.examples(read_split(folder, split), options, report)

    def examples(self, table: Table, options: MedCalcBenchOptions, report: LoadReport) -> list[Example]:
        """Rows as examples, by the columns of the corrected file where the options ask for that."""
        table.require_columns(CORRECTED_COLUMNS if options.is_corrected else COLUMNS)
        examples = []
        for index, row in enumerate(table.rows):
            place = table.at(index)
            example = _corrected_example(row, place) if options.is_corrected else _example(row, place)
            if example["note"] and example["question"]:
                examples.append(example)
            else:
                report.leave_out(place, "no patient note or no question")
        return examples

    def _add_other_labels(
        self, examples: list[Example], files: Files, options: MedCalcBenchOptions, folder: Path
    ) -> None:
        """The labels beside the rows' own under ``other_label``, where they are at hand: nothing is downloaded."""
        if files.name == "hub" and not options.is_corrected:
            cached = files.cached(self.repositories["corrected"])
            folders = [] if cached is None else [cached]
        else:
            folders = [folder, files.folder(self.repository(options))]
        splits = ("original", "test") if options.is_corrected else CORRECTED_SPLITS
        place = next((each for each in folders if find_split(each, *splits)), None)
        if place is None:
            return
        try:
            table = read_split(place, *splits)
            others = [_labelled(row, table.at(index)) for index, row in enumerate(table.rows)]
        except (DataError, KeyError) as error:
            logger.warning("the other labels are left out: %s", error)
            return
        by_key = {_key(other): other for other in others}
        for example in examples:
            other = by_key.get(_key(example))
            example["other_label"] = None if other is None else _other_label(example, other, options.is_corrected)

    def _add_solved_examples(
        self, examples: list[Example], files: Files, options: MedCalcBenchOptions, task: TaskInfo, folder: Path
    ) -> None:
        """Those of the one_shot split; Verified's where the rows have none of their own."""
        if not find_split(folder, "one_shot"):
            folder = _inside(files.folder(self.repositories["verified"]), "verified")
        table = read_split(folder, "one_shot")
        table.require_columns(COLUMNS)
        every = [_example(row, table.at(index)) for index, row in enumerate(table.rows)]
        solved = {each["calculator_id"]: each for each in every}
        lacking = sorted({example["calculator_id"] for example in examples} - set(solved))
        if lacking:
            raise DataError(
                f"{task.name}: the one_shot split in {folder} has no example for calculator "
                f"{', '.join(map(str, lacking))}"
            )
        for example in examples:
            shown = solved[example["calculator_id"]]
            example["example_note"] = shown["note"]
            example["example_question"] = shown["question"]
            example["example_explanation"] = shown["explanation"]
            example["example_answer"] = shown["shown_truth"]
            if example["judgement"] == "days":  # the solved one asks for weeks and days, which here are given in days
                example["example_question"] = example["question"]
                example["example_answer"] = f"{KINDS['days'].strict(shown['shown_truth']):.0f}"

    # ---- reading

    def strict(self, text: str, example: Example, options: MedCalcBenchOptions) -> Answer:
        """The authors' reading of the text inside the form that was asked for, the answer tag or the box."""
        form = "box" if options.answer_format == "boxed" else "tag"
        content, found_by = next(each for each in _contents(text) if each[1] == form)
        value = None if content is None else _kind(example).strict(content)
        abstains = content is not None and _may_abstain(example, options) and says_not_available(content)
        return _answer(value, example, options, text, found_by, found_by if abstains else None)

    def flexible(self, text: str, example: Example, options: MedCalcBenchOptions) -> Answer:
        """What the answer says in any usual form, in the tag or box, or in a clearly stated value without one."""
        reading = self.read(text, example, options)
        found_by = reading.cue if reading.cue in ("box", "tag", "key", "none") else "statement"
        own = without_continuation(text)
        abstains = None
        if _may_abstain(example, options):
            content, place = self._content(own, options)
            said = content is not None and says_not_available(content)
            if said or states_not_available(final_text(own) if content is None else content):
                abstains = place if said or content is not None else "statement"
        value = reading.value
        if value is None and abstains is None:  # such as the two ends of a range, of which the authors take the last
            content, found_by = self._content(own, options)
            value = _kind(example).strict(content) if content and _BEGINS_WITH_A_NUMBER.match(content) else None
        certainty = 0.5 if reading.value is None else reading.certainty
        return _answer(value, example, options, text, found_by, abstains, certainty)

    def content(self, text: str, example: Example, options: MedCalcBenchOptions) -> Answer:
        """What the authors' scorer reads inside a tag."""
        says_so = says_not_available(text)
        return _answer(_kind(example).strict(text), example, options, text, "filter", "filter" if says_so else None)

    def read(self, text: str, example: Example, options: MedCalcBenchOptions) -> Reading:
        """What is weighed: tags, boxes and keys, and the text around them; also a tag in malformed reasoning."""
        text = without_continuation(text)
        tag = None if think_tags_pair_up(text) else answer_tag(text)
        weighed = final_text(text) if tag is None else f"<answer>{tag}</answer>"
        return _kind(example).flexible(partial(read_value, weighed))

    def _content(self, text: str, options: MedCalcBenchOptions) -> tuple[str | None, str]:
        """The text inside the last tag or box, the form that was asked for first, and which of the two it is."""
        contents = _contents(text)
        if options.answer_format == "boxed":
            contents.reverse()
        return next((content for content in contents if content[0] is not None), (None, "none"))

    def has_final_answer(self, text: str, options: MedCalcBenchOptions) -> bool:
        """Whether a reply gives a value in the form that was asked for; one without a digit only speaks of the form."""
        text = final_text(text)
        if options.answer_format == "boxed":
            content = last_box(text)
        else:
            tag = last_tag(text)
            content = None if tag is None else tag[0]
        if content is None:
            return False
        return re.search(r"\d", content) is not None or (options.is_corrected and says_not_available(content))

    # ---- scores

    def score(self, answer: Answer, example: Example, options: MedCalcBenchOptions) -> Scores:
        """``acc``, the same as ``by_calculator`` and for the category, ``answered``; of ``N/A`` where there is any."""
        right = float(answer.value is not None and is_right(answer.value, example))
        is_answerable = example["ground_truth"] != NOT_AVAILABLE
        values: dict[str, Score] = {
            "acc": right,
            "by_calculator": right,
            **{f"acc_{category}": right if example["category"] == category else None for category in CATEGORIES},
            "answered": float(answer.value is not None),
        }
        if options.is_corrected:
            values["acc_answerable"] = right if is_answerable else None
            values["acc_unanswerable"] = None if is_answerable else right
            values["na_rate"] = float(answer.value == NOT_AVAILABLE)
        return self.scores(values, example)


BENCHMARK = MedCalcBench()


def answer_tag(text: str) -> str | None:
    """Content of the answer tag that counts: the last that is closed, after the reasoning; None without one.

    Where think tags do not pair up it is the last one wherever it stands, as the defining environment's parser has it.
    """
    tag = last_tag(final_text(text) if think_tags_pair_up(text) else text)
    return None if tag is None else tag[0]


def _contents(text: str) -> list[tuple[str | None, str]]:
    """The text inside the last tag and the last box, None where there is none."""
    box = last_box(final_text(text))
    return [(answer_tag(text), "tag"), (None if box is None else unwrap(box), "box")]


def stratified(examples: list[Example], per_calculator: int) -> list[Example]:
    """The same ``per_calculator`` examples of each calculator on every machine, in the order of the data."""

    def rank(index: int) -> bytes:
        return hashlib.sha256(f"medcalc_bench:{examples[index]['row_number']}".encode()).digest()

    by_calculator: dict[int, list[int]] = defaultdict(list)
    for index, example in enumerate(examples):
        by_calculator[example["calculator_id"]].append(index)
    chosen = [index for indices in by_calculator.values() for index in sorted(indices, key=rank)[:per_calculator]]
    return [examples[index] for index in sorted(chosen)]


def _may_abstain(example: Example, options: MedCalcBenchOptions) -> bool:
    """Whether ``N/A`` may be right by one of the example's labels."""
    return options.is_corrected or example.get("other_label") is not None


def _kind(example: Row) -> Kind:
    return KINDS[example["judgement"]]


def _answer(
    value: Any,
    example: Example,
    options: MedCalcBenchOptions,
    text: str,
    found_by: str,
    abstains: str | None,
    certainty: float = 1.0,
) -> Answer:
    """The answer, ``N/A`` where a label may be and the response says so (``abstains`` is how), and its other score."""
    if options.is_corrected and abstains is not None:
        answer = Answer(NOT_AVAILABLE, text, found_by=abstains)
    else:
        answer = Answer(value, text, None if value is None else _kind(example).shown(value), found_by, certainty)
    if "other_label" in example:
        other = example["other_label"]
        answer.details |= {"other_label": None, "badges": None, "notes": None}
        if other is not None:
            said = answer.value if abstains is None else NOT_AVAILABLE
            answer.details["other_label"] = {
                **{name: other[name] for name in ("by", "label", "differs")},
                "right": is_right(said, other),
            }
            if other["differs"]:
                answer.details |= {"badges": DOUBTFUL, "notes": other["note"]}
    return answer


# ---- rows as examples


def _example(row: Row, place: str, kinds: Mapping[int, Kind] = BY_CALCULATOR, may_lack_answer: bool = False) -> Example:
    """A row with all of ``COLUMNS`` as an example; ``may_lack_answer`` where ``N/A`` is a truth.

    Raises:
        DataError: for an unknown calculator or category, or a truth or limit that cannot be read.
    """
    cells = {column: "" if row[column] is None else str(row[column]).strip() for column in COLUMNS}
    calculator = number(cells["Calculator ID"], "Calculator ID", place)
    if calculator not in kinds:
        raise DataError(
            f"{place}: unknown Calculator ID {cells['Calculator ID']}; how answers are judged is known for "
            f"{', '.join(map(str, sorted(kinds)))}"
        )
    kind = kinds[int(calculator)]
    truth = cells["Ground Truth Answer"]
    shown = Truth(truth) if may_lack_answer and truth == NOT_AVAILABLE else kind.truth(cells, place)
    return {
        "row_number": cells["Row Number"],
        "calculator_id": int(calculator),
        "calculator_name": cells["Calculator Name"],
        "category": _category(cells["Category"], place),
        "output_type": cells["Output Type"],
        "judgement": kind.name,
        "note": cells["Patient Note"],
        "question": cells["Question"],
        "ground_truth": truth,
        "shown_truth": shown.shown,
        "lower_limit": shown.lower,
        "upper_limit": shown.upper,
        "explanation": cells["Ground Truth Explanation"],
        "example_note": "",
        "example_question": "",
        "example_explanation": "",
        "example_answer": "",
    }


def _corrected_example(row: Row, place: str) -> Example:
    """A row of the corrected file, which names calculators without their numbers and categories."""
    name = str(row["Calculator Name"] or "").strip()
    calculator = calculator_of(name)
    if calculator is None:
        raise DataError(f"{place}: unknown Calculator Name {name!r}; none of MedCalc-Bench's 55 is called so")
    whole = {
        **row,
        "Row Number": row["Unique ID"],
        "Calculator ID": calculator.id,
        "Category": calculator.category,
        "Output Type": "",
        "Ground Truth Explanation": "",
    }
    return {**_example(whole, place, {**BY_CALCULATOR, 69: KINDS["days"]}, may_lack_answer=True), "labels": PHYSICIANS}


def _category(label: str, place: str) -> str:
    name = label.lower().replace(" ", "_")
    name = "lab_test" if name == "lab" else name
    if name not in CATEGORIES:
        raise DataError(f"{place}: unknown Category {label!r}; known: {', '.join(CATEGORIES)}")
    return name


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder


# ---- the other label


def _labelled(row: Row, place: str) -> Example:
    """A row of a file that is read for its labels alone."""
    is_theirs = "Calculator ID" not in row
    return _corrected_example(row, place) if is_theirs else _example({"Row Number": row.get("Unique ID"), **row}, place)


def _key(example: Example) -> tuple[int, str, str]:
    """What makes an example, whatever its label."""
    return example["calculator_id"], " ".join(example["note"].split()), " ".join(example["question"].split())


def _other_label(example: Example, other: Example, is_corrected: bool) -> dict[str, Any]:
    """What an example knows of its other label, and whether the physicians' is wrong by the benchmark's."""
    theirs, own = (example, other) if is_corrected else (other, example)
    truth = theirs["ground_truth"]
    differs = not is_right(truth if truth == NOT_AVAILABLE else _kind(theirs).strict(truth), own)
    return {
        "by": "benchmark" if is_corrected else PHYSICIANS,
        "label": other["shown_truth"],
        "differs": differs,
        "note": f"physicians say {theirs['shown_truth']}, the benchmark says {own['shown_truth']}",
        **{name: other[name] for name in ("judgement", "ground_truth", "lower_limit", "upper_limit")},
    }
