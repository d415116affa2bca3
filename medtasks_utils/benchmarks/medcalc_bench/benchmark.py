"""Define MedCalc-Bench (Khandekar et al., arXiv:2406.12036): its options, and the reading and scoring of answers.

The module :mod:`.rows` converts the data, and :mod:`.kinds` defines the kinds of answer.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PositiveInt

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import AuditRules, Benchmark
from medtasks_utils.benchmarks.facts import (
    Abstention,
    AuditQuestion,
    Breakdown,
    Data,
    Example,
    Files,
    LoadReport,
    PinnedFile,
    ReportFacts,
    Repository,
    TaskInfo,
    Tasks,
    by_field,
    doubt_of,
)
from medtasks_utils.benchmarks.options import CHOOSES_ROWS, About, ToolOptions
from medtasks_utils.benchmarks.tables import Row, Table, find_split, read_split
from medtasks_utils.errors import UsageError
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.tags import last_tag
from medtasks_utils.extraction.think import final_text, think_tags_pair_up
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.statistics.aggregation import BY_STRATUM
from medtasks_utils.statistics.metrics import ACC, ANSWERED, TOOL_METRICS, Metric
from medtasks_utils.statistics.scores import Score

from .absence import states_not_available
from .kinds import CATEGORIES, KINDS, NOT_AVAILABLE, NUMBER, can_be_right, is_right
from .rows import (
    add_other_labels,
    add_solved_examples,
    example_of,
    in_turn,
)
from .values import read_value

OF_ABSTAINING = (
    Metric("acc_answerable"),
    Metric("acc_unanswerable"),
    Metric("na_rate", higher_is_better=None),
)
"""The metrics that only the corrected rows have.

They are the accuracy on notes that contain all necessary data, the accuracy on notes that lack some, and the share of
responses with the answer ``N/A``.
"""

CORRECTED = "physicians have another value"
_CORRECTED = ("corrected", "medcalc_v1_corrected")  # names of the split with physicians' labels
_BEGINS_WITH_A_NUMBER = re.compile(
    r"(?!.*\bor\b)\W{0,6}(?:about|approx\w{0,8}|around|(?:greater|more|less) than)?\W{0,6}\d", re.IGNORECASE
)


class MedCalcBenchOptions(ToolOptions):
    """Options of MedCalc-Bench, set under ``medcalc_bench`` in ``--metadata`` or with ``--set``."""

    dataset_version: Annotated[
        Literal["verified", "1.2", "corrected"], BeforeValidator(str), About(chooses_rows=True, other_name="version")
    ] = "verified"
    """verified, 1.2, or corrected (v1.0 with corrected labels)"""
    split: Annotated[Literal["test", "train"], CHOOSES_ROWS] = "test"
    """the split to evaluate"""
    one_shot: bool = False
    """show a solved example for the same calculator"""
    answer_format: Literal["xml", "boxed"] = "xml"
    """the requested form of the answer: xml (in <answer></answer>) or boxed (in a box)"""
    use_think: bool = False
    """request reasoning in a think block before the answer"""
    system_prompt: str | None = None
    """system message that replaces the default one; descriptions of tools are still appended"""
    per_calculator: Annotated[PositiveInt | None, CHOOSES_ROWS] = None
    """maximum number of rows per calculator, in a fixed subset"""

    @classmethod
    def of_environment(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the option ``answer_format=boxed`` for an environment that requested a box.

        For any other environment, return no options, since answer tags are the default.
        """
        return {"answer_format": "boxed"} if arguments.get("answer_format") == "boxed" else {}

    def check(self, task: TaskInfo) -> list[str]:
        """Check that the options apply to the task's rows, and return warnings.

        Raises:
            UsageError: for options that do not apply to the task or to the corrected rows, or whose values a protocol
                fixes.
        """
        if task.name == "medcalc_bench_corrected" and not self.is_corrected:
            raise UsageError(f"{task.name} has its own rows: dataset_version does not apply; run medcalc_bench instead")
        if self.is_corrected and (self.revision or self.split != "test"):
            raise UsageError(f"{task.name}: revision and split do not apply to the corrected rows; omit them")
        warnings: list[str] = super().check(task)
        return warnings

    @property
    def is_corrected(self) -> bool:
        """True for the corrected rows, some of whose labels are ``N/A``."""
        return self.dataset_version == "corrected"


class MedCalcBenchAudit(AuditRules):
    """The rules for audits of values, whose notation depends on the kind of answer."""

    def question(self, example: Example) -> AuditQuestion:
        """Return the question for the stated value; with physicians' labels, ``N/A`` is also a possible answer."""
        kind = KINDS[example["judgement"]]
        form, pattern = kind.form, kind.pattern
        if example.get("labels") == "physicians":
            form = f"{form}; or {NOT_AVAILABLE} if it says that the note lacks what is needed"
            pattern = f"{pattern}|{NOT_AVAILABLE}"
        return AuditQuestion(form, pattern, example["question"])

    def values_of(self, answer: str, example: Example) -> list[Any]:
        """Return the value of an answer; two for a percentage (0.125 and 12.5 for 12.5%), none if unreadable."""
        if answer.upper() == NOT_AVAILABLE:
            return [NOT_AVAILABLE]
        with suppress(ValueError):
            return [float(answer)]
        value = self.benchmark.value(answer.lower(), example)
        shown = [float(answer[:-1])] if re.fullmatch(f"{NUMBER}%", answer) else []
        return [number for number in (value, *shown) if number is not None]

    def is_same(self, value: Any, other: Any, example: Example | None = None) -> bool:
        """Return whether two values are the same answer.

        Numbers may differ by a relative 1e-6. If ``example`` is given and its answer is a decimal, they may differ by
        5 %, the tolerance of labels. All other values must be equal.
        """
        if not (isinstance(value, float) and isinstance(other, float)):
            return bool(value == other)
        has_tolerance = example is not None and example["judgement"] == "decimal"
        return math.isclose(value, other, rel_tol=0.05 if has_tolerance else 1e-6)


class MedCalcBench(Benchmark[MedCalcBenchOptions]):
    """``medcalc_bench`` and its variants. Answers are numbers, scores, dates, gestational ages or ``N/A``."""

    name = "medcalc_bench"
    title = "MedCalc-Bench"
    data = Data(
        repositories={
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
                ),
            ),
        },
        truth="shown_truth",
        shown=("note", "question"),
        names={"note": ("patient_note",)},
        content=("calculator_id", "note", "question", "shown_truth"),
        only_in_prompt=("example_note", "example_question", "example_explanation", "example_answer"),
        unsigned=("other_label",),
        cluster="note",
        stratum="calculator_name",
        shortcuts=Path(__file__).with_name("shortcuts.json"),
    )
    tasks = Tasks(default="medcalc_bench", checked=("medcalc_bench", "medcalc_bench_corrected"))
    metrics = (
        ACC,
        Metric("acc_by_calculator", BY_STRATUM),
        ANSWERED,
        *OF_ABSTAINING,
        *TOOL_METRICS,
        *(Metric(f"acc_{category}") for category in CATEGORIES),
    )
    report = ReportFacts(
        breakdowns=(
            Breakdown("category", by_field("category")),
            Breakdown("calculator", by_field("calculator_name")),
            Breakdown("label", lambda example: doubt_of(example) if example.get("other_label") else None),
        ),
        abstention=Abstention(NOT_AVAILABLE, rate_metric="na_rate"),
        marks={"tool_errors": "a tool call failed"},
        range_of_right=("lower_limit", "upper_limit"),
        solution="explanation",
    )
    written = "<answer>%s</answer>"
    blanks = {kind: {"judgement": kind} for kind in ("decimal", "integer", "date", "weeks_days")}
    packages = ("simpleeval",)
    audit_class = MedCalcBenchAudit

    def reported(self) -> list[Metric]:
        """Return all metrics; those on ``N/A`` only for the corrected rows, and those on tools only with tools."""
        options = self.options
        left_out = (() if options.is_corrected else OF_ABSTAINING) + (() if options.tools else TOOL_METRICS)
        return [metric for metric in self.metrics if metric not in left_out]

    # ---- rows

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of the split.

        ``one_shot`` and ``per_calculator`` apply only to the evaluated split. Unless its rows are the corrected
        ones, its examples also get the physicians' labels if the file of these labels needs no download.
        """
        options = self.options
        folder = _inside(files.folder(self.repository), options.dataset_version)
        names = _CORRECTED if options.is_corrected and split == options.split else (split,)
        examples = self.examples(read_split(folder, *names), report)
        if split != options.split:
            return examples
        if options.per_calculator is not None:
            examples = [examples[place] for place in sorted(in_turn(examples, options.per_calculator))]
        if options.one_shot:
            # Every version uses Verified's solved examples, since v1.2 and the corrected rows have none.
            verified = _inside(files.folder(self.data.repositories["verified"]), "verified")
            add_solved_examples(examples, read_split(verified, "one_shot"))
        place = files.cached(self.data.repositories["corrected"])  # physicians' labels are optional, not downloaded
        if place and find_split(place, *_CORRECTED) and not options.is_corrected:
            add_other_labels(examples, read_split(place, *_CORRECTED))
        return examples

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert rows; also leave out and count those whose own label would be scored as wrong."""
        examples = super().examples(table, report)
        usable = list(filter(can_be_right, examples))
        report.left_out += Counter({"a label that would itself be scored as wrong": len(examples) - len(usable)})
        return usable

    def example(self, row: Row) -> Example:
        """Convert a row to an example; raise the errors of :func:`.rows.example_of` for an unusable row."""
        return example_of(self.options.is_corrected, row)

    def first(self, examples: Sequence[Example], limit: int | None) -> Sequence[int]:
        """Return the ascending indices of ``limit`` examples, spread evenly over the calculators; all without a limit.

        The rows are sorted by calculator, so the first examples would cover only a few calculators.
        """
        return sorted(in_turn(examples)[:limit])

    def known_issues(self, examples: Sequence[Example]) -> list[list[str]]:
        """Return the issues of each example.

        Besides the usual ones, an issue is a value by physicians that the example's label would score as wrong.
        """
        issues = super().known_issues(examples)
        for example, of_example in zip(examples, issues, strict=True):
            other = example.get("other_label")
            if other and other["differs"]:
                of_example.append(CORRECTED)
        return issues

    # ---- reading

    def value(self, content: str, example: Example) -> Any:
        """Return the value that the authors' scorer finds in the content of a tag or box; None if it finds none.

        For corrected rows, ``N/A`` is also a value.
        """
        if self.options.is_corrected and states_not_available(content):
            return NOT_AVAILABLE
        return KINDS[example["judgement"]].strict(content)

    def shown(self, value: Any, example: Example) -> str:
        """Format a value as samples show it, in the form of its kind of answer."""
        return str(value) if value in (None, NOT_AVAILABLE) else KINDS[example["judgement"]].shown(value)

    def strict(self, text: str, example: Example) -> Answer:
        """Read the answer by the authors' rule in the requested form: the last answer tag or the last box.

        A response without the requested form is unanswered, even if it contains the other form.
        """
        form, content = self._contents(text)[0]
        return self.answer(content or "", example, text, form)

    def flexible(self, text: str, example: Example) -> Answer:
        """Read an answer of any usual form, in a tag, a box or a clear statement; for corrected rows, also ``N/A``.

        If a tag or box begins with a number, but states no single value, as a range or ">60" does not, the authors'
        rule reads it, with a certainty of 0.5.
        """
        reading = self.read(text, example)
        value, found_by, certainty = reading.value, self.found_by(reading), reading.certainty
        own_text = without_continuation(text)
        filled = (pair for pair in self._contents(own_text) if pair[1] is not None)
        form, content = next(filled, ("statement", None))
        is_unread = value is None and content and self.read(f"<answer>{content}</answer>", example).value is None
        if is_unread and content and _BEGINS_WITH_A_NUMBER.match(content):
            # This is, for example, a range, of which the authors' rule reads the upper end.
            value, found_by, certainty = self.value(content, example), form, 0.5
        if self.options.is_corrected and states_not_available(final_text(own_text) if content is None else content):
            value, found_by, certainty = NOT_AVAILABLE, form, 1.0
        return Answer(value, text, self.shown(value, example), found_by, certainty, reading.words)

    def read(self, text: str, example: Example) -> Reading:
        """Return the reading of tags, boxes, keys and text: the best candidate and its certainty.

        If think tags do not pair up, and there is an answer tag, only the content of the last answer tag is read.
        """
        text = without_continuation(text)
        tag = None if think_tags_pair_up(text) else last_tag(text)
        weighed = final_text(text) if tag is None else f"<answer>{tag}</answer>"
        kind, question = example["judgement"], example.get("question", "")
        if kind != "days":
            return read_value(weighed, kind, question)
        age = read_value(weighed, "weeks_days")
        if age.value is None:
            return read_value(weighed, "decimal")
        return age._replace(value=7 * age.value[0] + age.value[1])

    def has_final_answer(self, text: str) -> bool:
        """Return whether the requested tag or box in a reply contains a digit or, for corrected rows, ``N/A``."""
        content = self._contents(final_text(text))[0][1] or ""
        return re.search(r"\d", content) is not None or (self.options.is_corrected and states_not_available(content))

    def _contents(self, text: str) -> list[tuple[str, str | None]]:
        """Return the forms ``tag`` and ``box``, the requested one first, each with its last content in a text.

        The content of a form that does not occur is None. Both are read after the reasoning. If think tags do not pair
        up, the last closed answer tag of the whole text is used, as in the environment that the benchmark follows.
        """
        final = final_text(text)
        tag, box = last_tag(final if think_tags_pair_up(text) else text), last_box(final)
        contents = [("tag", tag), ("box", None if box is None else unwrap(box))]
        return contents[::-1] if self.options.answer_format == "boxed" else contents

    # ---- scores

    def is_right(self, value: Any, example: Example) -> bool:
        """Return whether a value is right by the rule of its kind of answer, or is ``N/A`` like the label."""
        return is_right(value, example)

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score ``acc``, also by calculator and category, ``answered`` and, for corrected rows, metrics of ``N/A``."""
        scores = super().scores(answer, example)
        right = scores["acc_by_calculator"] = scores["acc"]
        scores |= {f"acc_{name}": right if example["category"] == name else None for name in CATEGORIES}
        if self.options.is_corrected:
            is_answerable = example["ground_truth"] != NOT_AVAILABLE
            scores["acc_answerable"] = right if is_answerable else None
            scores["acc_unanswerable"] = None if is_answerable else right
            scores["na_rate"] = float(answer.value == NOT_AVAILABLE)
        return scores


BENCHMARK = MedCalcBench


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder
