"""Summarise a run in a few lines of text or as JSON, as ``medtasks eval`` prints it at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, groupby

from medtasks_utils.benchmarks import label_of
from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.results import Run
from medtasks_utils.statistics.intervals import UNRELIABLE, UNRELIABLE_MARK, Estimate
from medtasks_utils.statistics.metrics import ANSWERED, Metric
from medtasks_utils.writing import JsonObject, table

from .text import words
from .topics import Topic, topics_of

_UNKNOWN = Estimate(0, None)


@dataclass(frozen=True)
class ScoreLine:
    """A headline metric of a task, or of a group of tasks.

    Attributes:
        topic: the task or group.
        label: the benchmark's official name, or the name of a variant, a group or any other task.
        n: the number of evaluated examples in the tasks that report the metric, or in all tasks if it has no value.
        scores: by filter, the score with its 95 % interval.
        answered: by filter, the share of examples in which an answer was found.
        without_question: the best score without the question; None if it was not measured.
        means: values under the first filter, None if unknown: ``tool_calls`` per example, the share of replies ``cut``
            at the token limit, 0 to 1, and ``acc_finished``, the accuracy of the finished replies.
    """

    topic: Topic
    label: str
    metric: Metric
    n: int
    scores: dict[str, Estimate]
    answered: dict[str, Estimate]
    without_question: Reached | None
    means: dict[str, float | None]

    @property
    def estimate(self) -> Estimate:
        """The score under ``strict-match`` or, in a task without it, the first filter.

        If there is no score, the estimate has no value.
        """
        return next(iter(self.scores.values()), _UNKNOWN)

    @property
    def lenient(self) -> Estimate:
        """The score by the lenient filter, which accepts answers in any form.

        If there is no such score, the estimate has no value.
        """
        return self.scores.get(FLEXIBLE, _UNKNOWN)

    @property
    def is_usual(self) -> bool:
        """True if the score is the share of right answers."""
        return self.metric.name.endswith("acc")

    def shown(self) -> str:
        """Return the score as shown below the main score's row, such as ``F1 86.2 (80.4–90.5) of the 267 …``."""
        name = "F1" if self.metric.name == "f1" else self.metric.name
        ends = self.estimate.ends(self.metric)
        is_of_decided = self.metric.aggregation.over_decided and self.topic.sampled
        of = f" of the {self.estimate.n:,} that it decided" if is_of_decided else ""
        return f"{name} {self.metric.shown(self.estimate.value)}{f' ({ends})' if ends else ''}{of}"

    @property
    def says_something(self) -> bool:
        """True if the score is worth a line.

        A ratio over no examples is not, and neither is a value of 0 where higher is not better, such as for failed
        tool calls.
        """
        is_empty = self.metric.aggregation.over_decided and not self.estimate.n
        return not is_empty and (self.estimate.value != 0 or bool(self.metric.higher_is_better))

    def cells(self) -> list[str]:
        """Return the cells of a topic's main score, under :data:`_HEAD`; an unknown value is a dash."""
        available = sum(task.available for result in self.topic.results.values() for task in result.tasks)
        answered = self.answered.get(FLEXIBLE, next(iter(self.answered.values()), _UNKNOWN)).value
        return [
            self.label if self.metric.name == "acc" else f"{self.label}, {self.metric.name}",
            f"{self.n:,} of {available:,}" if self.n < available else f"{self.n:,}",
            self.metric.shown(self.estimate.value),
            self.estimate.ends(self.metric) or "–",
            self.metric.shown(self.lenient.value),
            ANSWERED.shown(None if answered is None else 1 - answered),
            ANSWERED.shown(self.means["cut"]),
        ]


_HEAD = ("", "questions", "%", "95 % CI", "lenient", "no answer", "cut off")
_ALWAYS = 4  # number of columns that are shown even if they say nothing
_LOST = 2.0  # points lost to the form that cause a caution


def lines_of(run: Run) -> list[ScoreLine]:
    """Return a line for each headline metric of each task or group of tasks; means over benchmarks come first."""
    lines, topics = [], topics_of([run])
    for topic in topics:
        label = label_of(topic.name, topic.benchmark_name, [other.name for other in topics])
        names = {key.partition(",")[0] for key in run.results["results"].get(topic.name, ())}
        headline = topic.benchmark.report.headline if topic.benchmark else ()
        # A metric may have no value, for example after failures of a judge; a remark says why.
        metrics = dict.fromkeys([*topic.headline, *(metric for metric in headline if metric in names)])
        lines += [line_of(topic, label, metric) for metric in metrics if metric != "bypass"]  # of --predict_only
    return lines


def line_of(topic: Topic, label: str, metric: str) -> ScoreLine:
    """Return the line of a metric in the only run of a topic, with its estimate under each filter."""
    names = sorted(topic.filters, key=[*FILTERS, *topic.filters].index)
    (run,) = topic.results

    def estimates(of_metric: str) -> dict[str, Estimate]:
        reported = [name for name in names if of_metric in topic.metrics(name)]
        return {name: topic.in_runs(name, of_metric).estimates[run] for name in reported}

    def first_value(of_metric: str) -> float | None:
        return next((result.value for result in estimates(of_metric).values()), None)

    tasks = topic.results[run].tasks
    reporting = [task for task in tasks if any(name == metric for name, _ in task.metrics)]
    whole = topic.in_runs(names[0], metric)
    return ScoreLine(
        topic,
        label + " (mean)" * topic.is_overall,
        whole.metric,
        sum(task.asked for task in reporting or tasks),
        estimates(metric),
        estimates("answered"),
        whole.without_question,
        {name: first_value(name) for name in ("tool_calls", "cut", "acc_finished")},
    )


def score_table(lines: Sequence[ScoreLine]) -> str:
    """Return a row for each topic, with its other scores below it; uninformative columns are left out."""
    rows: list[Sequence[str]] = [_HEAD]
    for _, (main, *others) in groupby(lines, lambda line: line.topic):
        rows += [main.cells(), *(("", line.shown()) for line in others if line.says_something)]
    whole = [row for row in rows[1:] if len(row) == len(_HEAD)]
    says = [place < _ALWAYS or any(row[place] not in ("–", "0.0") for row in whole) for place in range(len(_HEAD))]
    return table([*compress(row, says)] for row in rows)


def cautions(lines: Sequence[ScoreLine]) -> Iterator[str]:
    """Yield reasons to distrust scores.

    They are unreliable or missing intervals, classifiers that score more without seeing the question, and points lost
    to the form of the answers.
    """
    main = [line for line in lines if line.says_something and line.estimate.value is not None]
    for has_interval, note in ((True, f"{UNRELIABLE_MARK} {UNRELIABLE}"), (False, "No interval")):
        reasons = {
            line.estimate.unreliable for line in main if (line.estimate.interval is not None) is has_interval
        } - {""}
        if reasons:
            yield f"{note}: {' or '.join(sorted(reasons))}."
    for _, (line, *_) in groupby(main, lambda line: line.topic):
        reached, high = line.without_question, line.estimate.high
        if reached and high is not None and high < reached.value:
            classifier = words(reached.reader) + ", on these questions" * (", on " not in reached.reader)
            value = line.metric.shown(reached.value)
            yield f"{line.label}: {value} % is reached without seeing the question (classifier: {classifier})."
        lost = line.metric.scale * ((line.lenient.value or 0.0) - (line.estimate.value or 0.0))
        if line.is_usual and lost >= _LOST and not line.topic.is_overall:
            yield f"{line.label}: {lost:.1f} points are lost to the form of the answers."


def score_data(lines: Sequence[ScoreLine]) -> list[JsonObject]:
    """Return the lines as JSON-compatible dicts; values of metrics that are shares are from 0 to 1."""
    return [
        {
            "name": line.topic.name,
            "benchmark": line.topic.benchmark_name,
            "metric": line.metric.name,
            "n": line.n,
            "filters": {
                name: {
                    **{key: getattr(score, key) for key in ("value", "stderr", "low", "high", "few")},
                    "answered": line.answered[name].value if name in line.answered else None,
                }
                for name, score in line.scores.items()
            },
            "without_question": line.without_question and line.without_question._asdict(),
            **line.means,
        }
        for line in lines
    ]
