"""Define MedMCQA under Medmarks' protocol (arXiv:2605.01417), with the choices in the data's order or shuffled."""

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.benchmarks.facts import Example, LoadReport, Tasks
from medtasks_utils.benchmarks.medmarks_letters import letter_in_tag
from medtasks_utils.benchmarks.tables import Row, Table, text_of
from medtasks_utils.statistics.metrics import ACC, ANSWERED
from medtasks_utils.statistics.scores import Score

from .benchmark import MedMCQA, MedMCQAOptions

_SHOWN = ("question", "opa", "opb", "opc", "opd")


class MedmarksMedMCQAOptions(MedMCQAOptions):
    """Options of MedMCQA under Medmarks' protocol, in which all generations of an example show one order of choices."""

    fixed = ("vary_order",)


class MedmarksMedMCQA(MedMCQA):
    """MedMCQA under Medmarks' protocol: the answer is a letter, or a choice's text, in an answer tag.

    The tasks ``medmarks_medmcqa_1618`` and ``medmarks_medmcqa_9331`` shuffle the choices, with the ``order_seed`` that
    their name states.
    """

    name = "medmarks_medmcqa"
    title = "MedMCQA (Medmarks)"
    data = replace(MedMCQA.data, folder="medmcqa")
    tasks = Tasks(default="medmarks_medmcqa", checked=())
    written = "<answer>%s</answer>"
    packages = ("pylatexenc",)
    options_class = MedmarksMedMCQAOptions
    metrics = (ACC, ANSWERED)

    def _labelled(self, table: Table, report: LoadReport, indices: Sequence[int] | None = None) -> list[Example]:
        """Convert the rows, without white space around questions and choices."""
        rows = list(map(_stripped, table.rows))
        return super()._labelled(replace(table, rows=rows), report, indices)

    def strict(self, text: str, example: Example) -> Answer:
        """Read the first answer tag by Medmarks' rule; without one, the response is unanswered."""
        return letter_in_tag(text, example, 0)

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score only ``acc`` and ``answered``, since the prompt requests neither a box nor a think block."""
        return ChoiceBenchmark.scores(self, answer, example)


BENCHMARK = MedmarksMedMCQA


def _stripped(row: Row) -> Row:
    """Return a row without white space around its question and choices."""
    return {name: text_of(cell).strip() if name in _SHOWN else cell for name, cell in row.items()}
