"""What a check found: in a few lines of words, as the whole table, as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.writing import table

from .answers import BEHAVIOURS
from .check import Checked, Score


@dataclass(frozen=True)
class SelfcheckResult:
    """The result of ``medtasks selfcheck``.

    Attributes:
        checked: the scores, with what they must be.
        runs: the folder with the runs.
        page: the report of the runs.
        every_score: True to print every score, not only those that miss.
    """

    checked: Checked
    runs: Path
    page: Path
    every_score: bool = False

    @property
    def failed(self) -> bool:
        """True if any score misses, or a benchmark has a problem."""
        return bool(self.checked.missed or self.checked.problems)

    def to_data(self) -> dict[str, Any]:
        """Return whether all passed, every score, and the paths of the runs and the report."""
        checked = self.checked
        return {
            "passed": not self.failed,
            "answers": checked.answers,
            "seconds": checked.seconds,
            "problems": checked.problems,
            "scores": [{**asdict(score), "as_expected": score.is_as_expected} for score in checked.scores],
            "runs": str(self.runs),
            "report": str(self.page),
        }

    def to_text(self) -> str:
        """Return what was checked, the accuracy of each kind of answer, the scores that miss, and the report's path."""
        lines = [_table(self.checked.scores) + "\n"] if self.every_score else []
        return "\n".join([*lines, *_summary(self.checked), f"report: {self.page.resolve()} (open it in a browser)"])


def _summary(checked: Checked) -> list[str]:
    scores, missed = checked.scores, checked.missed
    head = f"{len(missed)} of {len(scores)} scores are not" if missed else f"all {len(scores)} scores are"
    lines = [
        f"{head} what they must be: lm_eval asked {checked.answers} questions, and was given answers known beforehand "
        f"({checked.seconds:.1f} s)",
        f"checked: {len({(score.task, score.metric) for score in scores})} metrics of "
        f"{len({score.task for score in scores})} tasks and groups, by both filters",
        f"accuracy ({DEFAULT_FILTER}) if the answer is",
    ]
    width = max(map(len, BEHAVIOURS.values()))
    lines += [f"  {meaning:<{width}}  {_accuracies(scores, behaviour)}" for behaviour, meaning in BEHAVIOURS.items()]
    return [*lines, *([_table(missed)] if missed else []), *checked.problems]


def _accuracies(scores: Sequence[Score], behaviour: str) -> str:
    found = []
    for card in benchmarks().usable():
        of_card = [s for s in scores if s.task in card.checked_tasks and s.behaviour == behaviour]
        value = next((s.value for s in of_card if (s.metric, s.filter_name) == ("acc", DEFAULT_FILTER)), None)
        if isinstance(value, int | float):
            found.append(f"{card.title} {metric_of('acc', card.name).shown(value)}")
    return ", ".join(found)


def _table(scores: Sequence[Score]) -> str:
    rows = [(s.task, s.metric, s.filter_name, s.behaviour, _shown(s.value), _shown(s.expected)) for s in scores]
    return table(rows, ("task", "metric", "filter", "answers", "score", "expected"), left=4)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)
