"""The result of a check as text and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.writing import counted, table

from .check import CheckedScore, CheckResults
from .known_answers import BEHAVIOURS


@dataclass(frozen=True)
class SelfcheckResult:
    """The result of ``medtasks selfcheck``.

    Attributes:
        results: the scores, with what they must be.
        runs: the folder with the runs.
        page: the file with the report on the runs.
        every_score: True to print every score, not only those that miss.
    """

    results: CheckResults
    runs: Path
    page: Path
    every_score: bool = False

    @property
    def failed(self) -> bool:
        """True if any score misses, or a benchmark has a problem."""
        return bool(self.results.missed or self.results.problems)

    def to_data(self) -> dict[str, Any]:
        """Return whether all passed, every score, and the paths of the runs and the report."""
        results = self.results
        return {
            "passed": not self.failed,
            "answers": results.answers,
            "seconds": results.seconds,
            "problems": results.problems,
            "scores": [{**asdict(score), "as_expected": score.is_as_expected} for score in results.scores],
            "runs": str(self.runs),
            "report": str(self.page),
        }

    def to_text(self) -> str:
        """Return what was checked, the accuracy of each kind of answer, the scores that miss, and the report's path."""
        lines = [_table(self.results.scores) + "\n"] if self.every_score else []
        return "\n".join([*lines, *_summary(self.results), f"report: {self.page.resolve()} (open it in a browser)"])


def _summary(results: CheckResults) -> list[str]:
    """Return lines on what was checked, the accuracy of each behaviour, the scores that miss, and problems."""
    scores, missed = results.scores, results.missed
    verdict = f"{len(missed)} of {len(scores)} scores are not" if missed else f"all {len(scores)} scores are"
    metrics = {(score.task, score.metric) for score in scores}
    tasks = {score.task for score in scores}
    lines = [
        f"{verdict} as expected: lm_eval asked {counted(results.answers, 'question')} of a server with known answers "
        f"({results.seconds:.1f} s)",
        f"checked: {counted(len(metrics), 'metric')} of {len(tasks)} tasks and groups, under both filters",
        f"accuracy ({DEFAULT_FILTER}) if answers are",
    ]
    width = max(map(len, BEHAVIOURS.values()))
    for behaviour, description in BEHAVIOURS.items():
        lines.append(f"  {description:<{width}}  {_accuracies(scores, behaviour)}")
    if missed:
        lines.append(_table(missed))
    return [*lines, *results.problems]


def _accuracies(scores: Sequence[CheckedScore], behaviour: str) -> str:
    """Return the accuracy that each benchmark reports for a behaviour, in words."""
    accuracies = []
    for benchmark in benchmarks().usable():
        for score in scores:
            is_accuracy = (score.metric, score.filter_name, score.behaviour) == ("acc", DEFAULT_FILTER, behaviour)
            if is_accuracy and score.task in benchmark.checked_tasks and isinstance(score.value, int | float):
                accuracies.append(f"{benchmark.title} {metric_of('acc', benchmark.name).shown(score.value)}")
                break
    return ", ".join(accuracies)


def _table(scores: Sequence[CheckedScore]) -> str:
    rows = []
    for score in scores:
        values = _shown(score.value), _shown(score.expected)
        rows.append((score.task, score.metric, score.filter_name, score.behaviour, *values))
    return table(rows, ("task", "metric", "filter", "answers", "score", "expected"), left=4)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)
