"""``medtasks doubt``: labels that runs agree against (:mod:`medtasks_utils.audit.doubt`)."""

import csv
import io
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from medtasks_utils.filters import DEFAULT_FILTER, FilterName
from medtasks_utils.writing import CommandResult, defused, write_whole

from .flags import Command, Printout


@dataclass
class Doubt(Command):
    """List the items that most runs answer alike and against the label, for a person who knows the field.

    Takes three or more runs with --log_samples, best of models that have little in common. Writes a CSV, the most
    doubted item first, with what supports it and empty columns for a verdict and a comment. An item in it has a wrong
    label, or is one that the models get wrong alike.

    Attributes:
        runs: result folders or files, with samples
        output: default: doubts.csv
        filter: strict-match or flexible-extract; default: strict-match
    """

    runs: tuple[Path, ...]
    _: KW_ONLY
    output: Path = Path("doubts.csv")
    filter: FilterName = DEFAULT_FILTER

    def run(self) -> CommandResult:
        """Find the items and write the file."""
        from medtasks_utils.audit.doubt import Doubt as Item
        from medtasks_utils.audit.doubt import doubts
        from medtasks_utils.results import read_runs

        found, items = doubts(read_runs(self.runs), self.filter)
        table = io.StringIO(newline="")
        csv.writer(table).writerows([Item._fields, *(map(defused, doubt) for doubt in found)])
        write_whole(self.output, table.getvalue(), make_folder=True)
        data = {"path": str(self.output), "items": items, "doubts": [doubt._asdict() for doubt in found]}
        text = f"{len(found):,} of {items:,} items are answered alike and against the label: {self.output}"
        return Printout(text, data)
