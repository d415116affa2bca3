"""Summarise a run in a few lines of text or as JSON, as ``medtasks eval`` prints it at the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from medtasks_utils.benchmarks.shortcuts import Reached
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.results import Run
from medtasks_utils.results.samples import mapping
from medtasks_utils.statistics.intervals import UNRELIABLE, UNRELIABLE_MARK, Estimate
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.writing import JsonObject, table

from .topics import Topic, topics_of

_NO_INTERVAL = "(–)"


@dataclass(frozen=True)
class ScoreLine:
    """A headline metric of a task, or of a group of tasks.

    Attributes:
        topic: the task or group.
        n: the number of evaluated examples in the tasks that report the metric, or in all if it has no value.
        scores: by filter, the score with its 95 % interval.
        answered: by filter, the share of examples in which an answer was found.
        without_question: the best score without the question; None if it was not measured on these rows.
        means: values under the first filter, None if unknown: ``tool_calls`` per example, the share of replies ``cut``
            at the token limit, 0 to 1, and ``acc_finished``, the accuracy of the replies that ended by themselves.
    """

    topic: Topic
    metric: Metric
    n: int
    scores: dict[str, Estimate]
    answered: dict[str, Estimate]
    without_question: Reached | None
    means: dict[str, float | None]

    def score(self, name: str) -> str:
        """Format the score under a filter as ``83.3 (64.1–93.3)``, with a mark if the interval is unreliable."""
        if name not in self.scores:
            return "–"
        score = self.scores[name]
        value, low, high = map(self.metric.shown, (score.value, score.low, score.high))
        mark = UNRELIABLE_MARK * score.few
        return f"{value} {_NO_INTERVAL}" if score.interval is None else f"{value} ({low}–{high}){mark}"

    def cells(self) -> list[str]:
        """Return the line's cells in the table, with one share of answered examples if it is equal for all filters."""
        first = next((name for name in self.scores if name != FLEXIBLE), "")
        shares = " / ".join(dict.fromkeys(ANSWERED.shown(share.value) for share in self.answered.values())) or "–"
        reached = self.metric.shown(self.without_question and self.without_question.value)
        return [
            self.topic.name,
            self.metric.name,
            f"{self.n:,}",
            self.score(first),
            self.score(FLEXIBLE),
            shares,
            reached,
        ]

    def note_on_cut(self) -> str:
        """Return a note that says how many replies were cut, how accurate the others are, and what to do."""
        task = next(task for result in self.topic.results.values() for task in result.tasks)
        limit = mapping(task.config.get("generation_kwargs")).get("max_gen_toks")
        reached = f"max_gen_toks={limit:,}" if isinstance(limit, int) else "the token limit"
        cut, finished = (ACC.shown(self.means[name]) for name in ("cut", "acc_finished"))
        return (
            f"{self.topic.name}: {cut} % of the replies were cut at {reached}; acc of the finished replies: "
            f"{finished}. Use a larger --gen_kwargs max_gen_toks=… to let more of them finish"
        )


def lines_of(run: Run) -> list[ScoreLine]:
    """Return a line for each headline metric of each task or group of tasks; means over benchmarks come first."""
    lines = []
    for topic in topics_of([run]):
        names = {key.partition(",")[0] for key in run.results["results"].get(topic.name, ())}
        headline = topic.benchmark.report.headline if topic.benchmark else ()
        # A metric may have no value, for example after failures of a judge; a remark says why.
        metrics = dict.fromkeys([*topic.headline, *(metric for metric in headline if metric in names)])
        lines += [_line(topic, metric) for metric in metrics if metric != "bypass"]  # of --predict_only
    return lines


def _line(topic: Topic, metric: str) -> ScoreLine:
    """Return the line of a metric in the only run of a topic, with its estimate under each filter."""
    names = sorted(topic.filters, key=[*FILTERS, *topic.filters].index)
    (run,) = topic.results

    def estimates(of_metric: str) -> dict[str, Estimate]:
        reported = [name for name in names if of_metric in topic.metrics(name)]
        return {name: topic.values[name, of_metric].estimates[run] for name in reported}

    def first_value(of_metric: str) -> float | None:
        return next((result.value for result in estimates(of_metric).values()), None)

    tasks = topic.results[run].tasks
    reporting = [task for task in tasks if any(name == metric for name, _ in task.metrics)]
    whole = topic.values[names[0], metric]
    return ScoreLine(
        topic,
        whole.metric,
        sum(task.asked for task in reporting or tasks),
        estimates(metric),
        estimates("answered"),
        whole.without_question,
        {name: first_value(name) for name in ("tool_calls", "cut", "acc_finished")},
    )


def score_table(lines: Sequence[ScoreLine]) -> str:
    """Return the lines as a table, with notes on its marks and on cut replies; an empty string without lines."""
    if not lines:
        return ""
    heads = ["", "metric", "n", "strict (95 %)", "flexible (95 %)", "answered", "no question"]
    rows = [heads, *(line.cells() for line in lines)]
    if not any(line.without_question for line in lines):
        rows = [row[:-1] for row in rows]
    estimates = [*chain.from_iterable(line.scores.values() for line in lines)]
    notes = []
    for mark, words, is_shown in ((UNRELIABLE_MARK, UNRELIABLE, True), (_NO_INTERVAL, "no interval", False)):
        reasons = {one.unreliable for one in estimates if (one.interval is not None) is is_shown} - {""}
        notes += [f"{mark} {words}: {' or '.join(sorted(reasons))}"] if reasons else []
    notes += dict.fromkeys(line.note_on_cut() for line in lines if line.means["cut"])
    return "\n".join([table(rows, left=2), *notes])


def score_data(lines: Sequence[ScoreLine]) -> list[JsonObject]:
    """Return the lines as JSON-compatible dicts, with shares from 0 to 1."""
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
