"""Define the result of a self-check, and format it as text and JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.writing import JsonObject, table

from .known_answers import BEHAVIOURS

_TOLERANCE = 1e-9


Reported = float | Literal["N/A"]
"""A score that the harness reports; ``N/A`` if the metric applies to no example."""


class CheckedScore(NamedTuple):
    """A score of a task or group under a filter, for a behaviour of the server.

    Attributes:
        value: the score that the harness reports.
        expected: the correct value; None if the score should be undefined.
    """

    task: str
    metric: str
    filter_name: str
    behaviour: str
    value: Reported
    expected: float | None

    @property
    def is_as_expected(self) -> bool:
        """True if the score has the expected value."""
        if self.value == "N/A" or self.expected is None:
            return (self.value, self.expected) == ("N/A", None)
        return abs(self.value - self.expected) <= _TOLERANCE

    def both(self, shown: Callable[[float | None], str]) -> str:
        """Return the reported and the expected value as ``45.8 = 45.8``; with ``!=`` if they differ."""
        reported = shown(None if self.value == "N/A" else self.value)
        return f"{reported} {'=' if self.is_as_expected else '!='} {shown(self.expected)}"


@dataclass
class SelfcheckResult:
    """The result of ``medtasks selfcheck``.

    Attributes:
        problems: problems of benchmarks, one line each.
        answers: the number of responses that were served.
        seconds: the duration of the check.
        runs: the folder with the runs.
    """

    scores: list[CheckedScore]
    problems: list[str]
    answers: int
    seconds: float
    runs: Path

    @property
    def page(self) -> Path:
        """The file with the report on the runs."""
        return self.runs.with_name("report.html")

    @property
    def missed(self) -> list[CheckedScore]:
        """The scores that differ from their expected values."""
        return [score for score in self.scores if not score.is_as_expected]

    @property
    def failed(self) -> bool:
        """True if any score is wrong, or a benchmark has a problem."""
        return bool(self.missed or self.problems)

    def to_data(self) -> JsonObject:
        """Return a JSON-compatible dict: whether it passed, problems, every score, and the paths of runs and report."""
        return {
            "passed": not self.failed,
            "problems": self.problems,
            "scores": [{**score._asdict(), "as_expected": score.is_as_expected} for score in self.scores],
            "runs": str(self.runs),
            "report": str(self.page),
        }

    def to_text(self, every_score: bool = False) -> str:
        """Return the verdict, the accuracy by behaviour, wrong or all scores, problems and the report's path."""
        missed, count = self.missed, len(self.scores)
        tasks = {score.task for score in self.scores}
        metrics = {(score.task, score.metric) for score in self.scores}
        verdict = f"{len(missed)} of {count} scores are not" if missed else f"all {count} scores are"
        lines = [
            f"{verdict} as expected: lm_eval sent {self.answers:,} prompts to a server with known answers "
            f"({self.seconds:.1f} s)",
            f"checked: {len(metrics)} metrics of {len(tasks)} tasks and groups, under both filters",
            f"accuracy in % ({DEFAULT_FILTER}), reported = expected, for each kind of answer:",
            table(_accuracies(self.scores)),
        ]
        shown = self.scores if every_score else missed
        if shown:
            head = ("task", "metric", "filter", "answers", "score", "expected")
            lines.append(table([head, *shown], left=range(4)))
        return "\n".join([*lines, *self.problems, f"report: {self.page.resolve()} (open it in a browser)"])


def _accuracies(scores: Sequence[CheckedScore]) -> Iterator[list[str]]:
    """Yield a header, and a row for each benchmark with its reported and expected accuracy for each behaviour."""
    yield ["", *BEHAVIOURS]
    whole = {score[:4]: score for score in scores}
    for benchmark in benchmarks().usable():
        keys = [(benchmark.tasks.whole, "acc", DEFAULT_FILTER, behaviour) for behaviour in BEHAVIOURS]
        shown = metric_of("acc", benchmark.name).shown
        cells = [whole[key].both(shown) if key in whole else "" for key in keys]
        if any(cells):
            yield [benchmark.title, *cells]
