"""Define MedMCQA by the protocol of Medmarks (arXiv:2605.01417), with the choices in the data's order or shuffled."""

from collections.abc import Sequence
from dataclasses import replace

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example, LoadReport, Tasks
from medtasks_utils.benchmarks.medmarks_letters import medmarks_letter, tagged
from medtasks_utils.benchmarks.tables import Table

from .benchmark import MedMCQA


class MedmarksMedMCQA(MedMCQA):
    """``medmarks_medmcqa`` and, with ``order_seed``, ``_1618`` and ``_9331``: a letter or text in answer tags."""

    name = "medmarks_medmcqa"
    title = "MedMCQA (Medmarks)"
    data = replace(MedMCQA.data, folder="medmcqa")
    tasks = Tasks(default="medmarks_medmcqa")
    written = "<answer>%s</answer>"
    packages = ("pylatexenc",)

    def _labelled(self, table: Table, report: LoadReport, indices: Sequence[int] | None = None) -> list[Example]:
        """Convert the rows; the white space around questions and choices is removed."""
        columns = ("question", "opa", "opb", "opc", "opd")
        rows = [
            {**row, **{name: str(row[name] or "").strip() for name in columns if name in row}} for row in table.rows
        ]
        return super()._labelled(replace(table, rows=rows), report, indices)

    def strict(self, text: str, example: Example) -> Answer:
        """Read the first answer tag by Medmarks' rule; without one, the response is unanswered."""
        content = next(iter(tagged(text)), "")
        right = example["answer_letter"]
        letter = medmarks_letter(content, right, example["options"][example["answer_idx"]])
        return Answer(letter, text, found_by="tag")


BENCHMARK = MedmarksMedMCQA
