"""A benchmark of yes and no."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from medtasks_utils.benchmarks.base import (
    Answer,
    Benchmark,
    Breakdown,
    Example,
    Files,
    LoadReport,
    Repository,
    Scores,
    TaskInfo,
    by_field,
)
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.benchmarks.tables import Table, read_split
from medtasks_utils.extraction.think import final_text
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric


class ToyOptions(Options):
    """Options under ``toybench``."""

    politely: bool = Field(False, description="say please")


class ToyBench(Benchmark):
    """``toybench``."""

    name = "toybench"
    title = "ToyBench"
    options = ToyOptions
    truth = "answer"
    written = "%s"
    default_task = "toybench"
    checked_tasks = ("toybench",)
    repositories = {"hub": Repository("nobody/toybench", "0123456")}  # noqa: RUF012
    metrics = (ACC, ANSWERED, Metric("letters", unit="count", higher_is_better=None))
    breakdowns = (Breakdown("colour", by_field("colour")),)
    answers = {"yes": "yes", "no": "no"}  # noqa: RUF012
    sample = Path(__file__).parent / "sample"
    tasks = Path(__file__).parent / "tasks"

    def load(self, files: Files, options: ToyOptions, task: TaskInfo, split: str, report: LoadReport) -> list[Example]:
        """All rows."""
        return self.examples(read_split(files.folder(self.repository(options)), split), options, report)

    def examples(self, table: Table, options: ToyOptions, report: LoadReport) -> list[Example]:
        """As they are."""
        return [dict(row) for row in table.rows]

    def strict(self, text: str, example: Example, options: ToyOptions) -> Answer:
        """The whole response is yes or no."""
        return Answer(self.value(final_text(text), example, options), text)

    def flexible(self, text: str, example: Example, options: ToyOptions) -> Answer:
        """The response begins with yes or no."""
        first = final_text(text).strip().lower()[:3].rstrip(" .,")
        return Answer(first if first in ("yes", "no") else None, text)

    def value(self, content: str, example: Example, options: ToyOptions) -> str | None:
        """Yes or no."""
        word = content.strip().lower()
        return word if word in ("yes", "no") else None

    def score(self, answer: Answer, example: Example, options: ToyOptions) -> Scores:
        """Right, answered, and how long the response is."""
        return self.scores(answer, example, answer.value == example["answer"], letters=float(len(answer.response)))


BENCHMARK = ToyBench()
