"""Define MedCalc-Bench under Medmarks' protocol (arXiv:2605.01417): its own prompts, and a rule without rounding."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import Example, LoadReport, TaskInfo, Tasks
from medtasks_utils.benchmarks.medmarks_letters import tagged
from medtasks_utils.benchmarks.tables import Row, Table, text_of
from medtasks_utils.errors import UsageError
from medtasks_utils.tools.tool import Tool

from .benchmark import MedCalcBench, MedCalcBenchOptions
from .dates import strict_date
from .durations import strict_weeks_days
from .medmarks_tools import CodeInterpreter, MedmarksCalculator, MedmarksDialogue
from .numbers import strict_decimal, strict_integer

_QUOTES = str.maketrans("", "", "'\"")
_EXPRESSION = re.compile(r"str\(.*\)")
_TRUTH = "ground_truth"


class MedmarksMedCalcBenchOptions(MedCalcBenchOptions):
    """Options of MedCalc-Bench under Medmarks' protocol, which fixes the prompt and the number of turns."""

    fixed = ("one_shot", "use_think", "answer_format", "system_prompt", "max_turns")

    def check(self, task: TaskInfo) -> list[str]:
        """Check the options, and return warnings; raise UsageError for values that the protocol does not allow."""
        if self.add_python_tool != self.add_calculator_tool:
            raise UsageError(f"{task.name}: Medmarks gives a model both tools or none; omit both options")
        if self.tools and self.tool_format != "native":
            raise UsageError(f"{task.name}: Medmarks uses native tool calls; omit tool_format")
        return super().check(task)

    @property
    def tools(self) -> list[type[Tool]]:
        """The classes of Medmarks' two tools; empty if the tools are not turned on."""
        return [MedmarksCalculator, CodeInterpreter] if self.add_python_tool else []


class Extracted(str):
    """A value extracted by Medmarks' rule, as text for the sample log; ``is_right`` is the rule's verdict on it."""

    is_right: bool


class MedmarksMedCalcBench(MedCalcBench):
    """``medmarks_medcalc_v1_2`` and ``medmarks_medcalc_tools``: values in answer tags, all rows in the data's order."""

    name = "medmarks_medcalc_bench"
    title = "MedCalc-Bench (Medmarks)"
    data = replace(MedCalcBench.data, folder="medcalc_bench")
    tasks = Tasks(default="medmarks_medcalc_v1_2", checked=())
    options_class = MedmarksMedCalcBenchOptions
    dialogue_class = MedmarksDialogue

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert the rows, including those whose own label would be scored as wrong."""
        return Benchmark.examples(self, table, report)

    def example(self, row: Row) -> Example:
        """Convert a row to an example, with note, question and limits unchanged, even if the limits are swapped."""
        shown = {"note": text_of(row["Patient Note"]), "question": text_of(row["Question"])}
        limits = [text_of(row[name]) for name in ("Lower Limit", "Upper Limit")]
        return {**super().example(row), **shown, "limits": limits}

    def first(self, examples: Sequence[Example], limit: int | None) -> Sequence[int]:
        """Return the indices of the first ``limit`` examples; all without a limit."""
        return range(len(examples))[:limit]

    def has_final_answer(self, text: str) -> bool:
        """Return False: only a reply without calls ends a conversation."""
        return False

    def strict(self, text: str, example: Example) -> Answer:
        """Read the last answer tag by Medmarks' rule; without a tag or a value in it, the response is unanswered."""
        contents = tagged(text)
        value = medmarks_value(contents[-1], example["judgement"]) if contents else None
        if value is None:
            return Answer(None, text)
        extracted = Extracted(self.shown(value, example))
        extracted.is_right = _TRUTH in example and is_right_by_medmarks(value, example)
        return Answer(extracted, text, found_by="tag")

    def is_right(self, value: Any, example: Example) -> bool:
        """Return the verdict of Medmarks' rule on an :class:`Extracted` value, or of our rule on any other value."""
        return value.is_right if isinstance(value, Extracted) else super().is_right(value, example)


BENCHMARK = MedmarksMedCalcBench


def medmarks_value(content: str, kind: str) -> Any:
    """Return the value that Medmarks' rule finds in the content of an answer tag; None if it finds none.

    It is the authors' rule, with a different treatment of white space and quotes.
    """
    if kind == "date":
        return strict_date(content)
    if kind == "weeks_days":
        return strict_weeks_days(content.translate(_QUOTES))
    if kind == "integer":
        return strict_integer(content)
    on_one_line = _EXPRESSION.search(content)
    return strict_decimal(on_one_line[0] if on_one_line else " ".join(content.replace("str(", "(").split()))


def is_right_by_medmarks(value: Any, example: Example) -> bool:
    """Return whether a value equals the label or, for the kind ``decimal``, is within the label's limits."""
    kind, truth = example["judgement"], example[_TRUTH]
    if kind == "decimal":
        lower, upper = map(float, example["limits"])
        return bool(lower <= value <= upper)
    return bool(value == (float(truth) if kind == "integer" else medmarks_value(truth, kind)))
