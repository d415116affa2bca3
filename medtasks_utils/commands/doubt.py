"""``medtasks doubt``: list labels that most runs contradict (:mod:`medtasks_utils.audit.doubted_labels`)."""

from collections import Counter
from dataclasses import KW_ONLY
from itertools import chain
from pathlib import Path

from pydantic.dataclasses import dataclass

from medtasks_utils.filters import FilterName
from medtasks_utils.writing import csv_of, write_whole

from .flags import Command, CommandResult, warn


@dataclass
class Doubt(Command):
    about = """
    List examples for expert review: those where most runs agree on an answer other than the label.

    Takes three or more runs with --log_samples, preferably of unrelated models. Writes a CSV of doubtful labels, the
    most doubtful first, with their support and empty columns for a verdict and a comment. Either the label of a listed
    example is wrong, or the models share an error. Labels that seem misaligned by one to three rows are reported with
    figures.
    """

    runs: tuple[Path, ...]
    """result folders or files, with samples"""
    _: KW_ONLY
    output: Path = Path("doubts.csv")
    """the file to write; default: doubts.csv"""
    filter: FilterName | None = None
    """strict-match or flexible-extract; default: strict-match, or flexible-extract for an imported run in which
    strict-match finds hardly any answers"""

    def run(self) -> CommandResult:
        """Find doubtful labels, write them to the CSV file, and return their number and the file's path.

        Parts of tasks whose labels seem misaligned are returned, too.
        """
        from medtasks_utils.audit.doubted_labels import DoubtedItem, doubts
        from medtasks_utils.results import read_runs

        runs = read_runs(self.runs)
        for model, count in Counter(run.model for run in runs).items():
            if count > 1:
                warn(
                    f"{count} runs are of the same model, {model}: their errors are probably correlated, so the "
                    "support column is too high where they agree"
                )
        if self.filter is None:
            tasks = chain.from_iterable(run.tasks.values() for run in runs)
            warn(*dict.fromkeys(chain.from_iterable(task.note_on_filter for task in tasks)))
        doubted, items, shifted = doubts(runs, self.filter)
        write_whole(self.output, csv_of(DoubtedItem._fields, doubted))
        data = {
            "path": str(self.output),
            "items": items,
            "doubts": [doubt._asdict() for doubt in doubted],
            "shifted": {part: shift._asdict() for part, shift in shifted.items()},
        }
        shares = f"{len(doubted):,} of {items:,} examples"
        lines = [f"{shares} where most runs agree on an answer other than the label: {self.output}"]
        lines += [f"{part}: labels seem misaligned: most runs give {shift}" for part, shift in shifted.items()]
        return CommandResult(lines, data)
