"""The findings, in a few sentences: who leads where, and is it knowledge or format."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from medtasks_utils.compare import MetricDifference, corrected
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results.run import Metrics
from medtasks_utils.statistics.intervals import Estimate
from medtasks_utils.writing import counted

from .pairs import Pairs, signed
from .report_tables import interval
from .topics import Topic

_SMALLEST_LOSS = 1.0  # points; smaller losses to format or missing answers are not mentioned
_MOST_NAMED = 4  # runs that a sentence names

Finding = tuple[str, str]
"""The heading of a sentence on the first screen, and the sentence."""


class _Headline(NamedTuple):
    """The first metric of a topic under one filter, with the estimates of all runs that have it."""

    topic: Topic
    metric: str
    filter: str
    estimates: dict[str, Estimate]


def findings(topics: Sequence[Topic], pairs: Pairs, filter_name: str = STRICT) -> list[Finding]:
    """Return who leads in each topic, what is not comparable, what is lost to format, and where answers are missing.

    Answers are read under the filter of this name in the topics that have it, else under their first. The p-values of
    the verdicts are corrected among these headlines alone: they do not depend on what else the page compares.
    """
    of_benchmarks = [topic for topic in topics if topic.benchmark_name]
    headlines = [_headline(topic, filter_name) for topic in of_benchmarks if topic.headline]
    differences = _differences(headlines, pairs)
    sentences = [_verdict(headline, differences) for headline in headlines if headline.estimates]
    incomparable = sum(len(h.topic.incomparable_runs(h.filter, h.metric)) for h in headlines)
    if incomparable:
        text = f"{counted(incomparable, 'result')} not comparable with those of other runs; Comparison says why."
        sentences.append(("Not comparable", text))
    sentences += _largest_losses(
        "Largest losses to the form of answers (strict-match)",
        of_benchmarks,
        lambda metrics: _share(metrics, "acc", FLEXIBLE) - _share(metrics, "acc", STRICT),
        "loses {:.1f} points on {}",
    )
    return sentences + _largest_losses(
        f"Most without an answer, {filter_name}",
        of_benchmarks,
        lambda metrics: 1 - _share(metrics, "answered", filter_name),
        "leaves {:.1f} % of {} unanswered",
    )


def _headline(topic: Topic, filter_name: str) -> _Headline:
    filter_name = filter_name if filter_name in topic.filters else topic.filters[0]
    metric = topic.headline[0]
    estimates = {run: topic.estimate(run, filter_name, metric) for run in topic.results}
    known = {run: result for run, result in estimates.items() if result.value is not None}
    return _Headline(topic, metric, filter_name, known)


def _differences(headlines: Sequence[_Headline], pairs: Pairs) -> dict[tuple[str, str, str], MetricDifference]:
    """Return the differences of these metrics by topic and two runs, corrected as one family of tests."""
    keys, differences = [], []
    for headline in headlines:
        for (a, b, filter_name), pair in pairs.items():
            for difference in pair.differences if filter_name == headline.filter else ():
                if (difference.task, difference.metric.name, difference.breakdown) == (
                    headline.topic.name,
                    headline.metric,
                    None,
                ):
                    keys.append((headline.topic.name, a, b))
                    differences.append(difference)
    return dict(zip(keys, corrected(differences), strict=True))


def _verdict(headline: _Headline, differences: dict[tuple[str, str, str], MetricDifference]) -> Finding:
    """Return whether the best of the comparable runs leads the second best, and which better run is incomparable."""
    topic, metric = headline.topic, headline.topic.metric(headline.metric)
    heading = f"{topic.label}, {headline.metric}, {headline.filter}"
    values = {run: result.value or 0.0 for run, result in headline.estimates.items()}
    incomparable = topic.incomparable_runs(headline.filter, headline.metric)
    sign = -1 if metric.higher_is_better is False else 1
    ranked = sorted((run for run in values if run not in incomparable), key=lambda run: -sign * values[run])
    leader, *others = ranked
    if not others:
        value = metric.shown(values[leader]) + " %" * (metric.unit == "share")
        text = f"{leader}: {value} ({interval(headline.estimates[leader], metric.shown) or 'no interval'})."
    else:
        text = _lead(headline, leader, others[0], differences)
    better = [run for run in values if run in incomparable and sign * (values[run] - values[leader]) > 0]
    rivals = [f"{run} has {metric.shown(values[run])}, but is {incomparable[run]}." for run in better]
    return heading, " ".join([text, *rivals])


def _lead(
    headline: _Headline, leader: str, second: str, differences: dict[tuple[str, str, str], MetricDifference]
) -> str:
    """Return how far the first run is ahead of the second, and whether that is significant."""
    name, metric = headline.topic.name, headline.topic.metric(headline.metric)
    shown = [metric.shown(headline.estimates[run].value) for run in (leader, second)]
    difference = differences.get((name, second, leader)) or differences.get((name, leader, second))
    if difference is None:
        return f"{leader} {shown[0]}, {second} {shown[1]}; not compared on the same examples."
    result = difference.contrast if (name, second, leader) in differences else difference.contrast.mirrored()
    ends = interval(result, lambda value: signed(value * metric.scale))
    points = f"{signed(result.difference * metric.scale)} points{f' ({ends})' if ends else ''} on the same examples"
    more, less = metric.shown(result.b), metric.shown(result.a)
    if difference.is_significant:
        return f"{leader} leads: {more} against {less} of {second}. {points}."
    verdict = "Too few examples to tell" if result.few and result.difference else "No clear lead"
    return f"{verdict}: {leader} {more}, {second} {less}. {points}."


def _share(metrics: Metrics, name: str, filter_name: str) -> float:
    """Return a share as it was reported; NaN if it was not."""
    return metrics[name, filter_name].value if (name, filter_name) in metrics else math.nan


def _largest_losses(
    heading: str, topics: Sequence[Topic], loss: Callable[[Metrics], float], template: str
) -> list[Finding]:
    """Return a sentence with the largest loss of each run over the topics; nothing if all losses are small.

    Args:
        heading: what is lost.
        topics: where to look.
        loss: returns the share that is lost, from a run's metrics; NaN if unknown.
        template: says what a run loses, with places for percent and topic.
    """
    largest: dict[str, tuple[float, str]] = {}
    for topic in topics:
        for run, result in topic.results.items():
            percent = 100 * loss(result.metrics)
            if percent >= _SMALLEST_LOSS and percent > largest.get(run, (0.0,))[0]:
                largest[run] = percent, topic.label
    ordered = sorted(largest.items(), key=lambda item: -item[1][0])
    parts = [f"{run} {template.format(*percent_and_topic)}" for run, percent_and_topic in ordered[:_MOST_NAMED]]
    if len(ordered) > _MOST_NAMED:
        parts.append(f"{counted(len(ordered) - _MOST_NAMED, 'other run')} less")
    return [(heading, f"{'; '.join(parts)}.")] if parts else []
