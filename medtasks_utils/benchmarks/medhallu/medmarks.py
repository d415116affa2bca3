"""Define MedHallu under Medmarks' protocol (arXiv:2605.01417): one difficulty, with all true answers first."""

from dataclasses import replace

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example, Files, LoadReport, Tasks
from medtasks_utils.benchmarks.tables import Table, text_of
from medtasks_utils.statistics.metrics import Metric

from .benchmark import DIFFICULTIES, MedHallu, MedHalluOptions

_BOX = "\\boxed{"
_OF_ANSWERED = ("f1", "precision", "recall", "accuracy_answered")


class MedmarksMedHalluOptions(MedHalluOptions):
    """Options of MedHallu under Medmarks' protocol, which fixes the contents of prompts."""

    fixed = ("subset", "use_knowledge", "allow_unsure", "unsure_reward", "pairing")


class MedmarksMedHallu(MedHallu):
    """The tasks ``medmarks_medhallu_*``, one for each difficulty: the verdict is in a box, or the whole response."""

    name = "medmarks_medhallu"
    title = "MedHallu (Medmarks)"
    data = replace(MedHallu.data, folder="medhallu")
    tasks = Tasks(default="medmarks_medhallu_easy", checked=())
    options_class = MedmarksMedHalluOptions

    def reported(self) -> list[Metric]:
        """Return the metrics without those by difficulty, since a run has only one difficulty."""
        return [metric for metric in super().reported() if not metric.name.endswith(DIFFICULTIES)]

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples: those with the true answers, then those with the hallucinated ones."""
        return sorted(super().load(files, split, report), key=lambda example: str(example["target"]))

    def _pairs(self, table: Table) -> list[list[Example]]:
        """Return the two examples of each row, without stripping questions and answers."""
        pairs = super()._pairs(table)
        for row, pair in zip(table.rows, pairs, strict=True):
            for example, column in zip(pair, ("Ground Truth", "Hallucinated Answer"), strict=True):
                example |= {"question": text_of(row["Question"]), "answer": text_of(row[column])}
        return pairs

    def strict(self, text: str, example: Example) -> Answer:
        """Read the last box or, if there is none or it is not closed, the whole response.

        Medmarks' F1 comes from a separate program, which does not remove white space. A verdict such as
        ``\\boxed{ 1 }`` is therefore left out of F1 and the other ratios.
        """
        content = last_boxed(text)
        verdict = content.strip()
        answer = Answer(verdict if verdict in self.answers else None, text, found_by="box")
        if content not in self.answers:
            answer.scores |= dict.fromkeys(_OF_ANSWERED)
        return answer


BENCHMARK = MedmarksMedHallu


def last_boxed(text: str) -> str:
    r"""Return the content of the last box; the whole text if there is none, or the last one is unclosed.

    >>> last_boxed(r"\boxed{1} or \boxed{{0}}"), last_boxed(r"\boxed{1} or \boxed{0")
    ('{0}', '\\boxed{1} or \\boxed{0')
    """
    start = text.rfind(_BOX)
    depth = 1
    content = text[start + len(_BOX) :] if start >= 0 else ""
    for place, sign in enumerate(content):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return content[:place]
    return text
