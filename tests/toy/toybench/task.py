"""A benchmark of yes and no."""

from __future__ import annotations

from pydantic import Field

from medtasks_utils.extraction.think import final_text
from medtasks_utils.harness.answer import Answer, Score
from medtasks_utils.harness.options import Options
from medtasks_utils.harness.sources import Row, read_split
from medtasks_utils.harness.task import MedTask
from toybench.card import CARD


class ToyOptions(Options):
    """Options under ``toybench``."""

    politely: bool = Field(False, description="say please")


class ToyBench(MedTask):
    """``toybench``."""

    card = CARD
    options_type = ToyOptions

    def load_rows(self) -> list[Row]:
        """All rows."""
        return read_split(self.folder(), "test").rows

    def strict(self, response: str, doc: Row) -> Answer:
        """The whole response is yes or no."""
        text = final_text(response).strip().lower()
        return Answer(text if text in ("yes", "no") else None, response)

    def flexible(self, response: str, doc: Row) -> Answer:
        """The response begins with yes or no."""
        first = final_text(response).strip().lower()[:3].rstrip(" .,")
        return Answer(first if first in ("yes", "no") else None, response)

    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """Right, answered, and how long the response is."""
        return {
            "acc": float(answer.value == doc["answer"]),
            "answered": float(answer.value is not None),
            "letters": float(len(answer.response)),
        }
