"""What was found, in a few sentences: how the others do against the baseline, and is it knowledge or format."""

import math
from collections.abc import Callable, Sequence

from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.results.run import Metrics

from .pairs import Pairs, signed
from .tables import interval
from .units import Unit

_WORTH_SAYING = 1.0  # points below which a loss to format or to missing answers is not mentioned
_NAMED = 4  # runs of which a sentence says how much

Finding = tuple[str, str]
"""What a sentence of the first screen is about, and the sentence."""


def findings(units: Sequence[Unit], pairs: Pairs, baseline: str, filter_name: str = STRICT) -> list[Finding]:
    """The baseline against the best of the others by unit; what is lost to format; where answers are missing.

    Answers are read under the filter of this name in units that have it, else under their first.
    """
    said: list[Finding] = []
    of_benchmarks = [unit for unit in units if unit.benchmark]
    for unit in of_benchmarks:
        said += _against(unit, pairs, baseline, filter_name) if baseline in unit.results else []
    own = (pair for (a, b, name), pair in pairs.items() if name == filter_name and baseline in (a, b))
    refused = sum(len(pair.refused) for pair in own)
    if refused:
        text = f"{refused} results of other runs are not comparable with {baseline}'s; the section Comparison says why."
        said.append(("Not comparable", text))
    said += _worst(
        "Largest losses to the form of answers (strict-match)",
        of_benchmarks,
        lambda metrics: _share(metrics, "acc", FLEXIBLE) - _share(metrics, "acc", STRICT),
        "loses {:.1f} points on {}",
    )
    return said + _worst(
        f"Most without an answer, {filter_name}",
        of_benchmarks,
        lambda metrics: 1 - _share(metrics, "answered", filter_name),
        "leaves {:.1f} % of {}",
    )


def _against(unit: Unit, pairs: Pairs, baseline: str, filter_name: str) -> list[Finding]:
    """The baseline in a unit, and the best of the runs that are compared with it there."""
    if not unit.headline:
        return []
    filter_name = filter_name if filter_name in unit.filters else unit.filters[0]
    metric = unit.headline[0]
    facts = unit.facts(metric)
    about = f"{unit.label}, {metric}, {filter_name}"
    found = [
        (b, difference.contrast, difference) if a == baseline else (a, difference.contrast.mirrored(), difference)
        for (a, b, name), pair in pairs.items()
        if name == filter_name and baseline in (a, b)
        for difference in pair.differences
        if (difference.task, difference.metric.name, difference.breakdown) == (unit.name, metric, None)
    ]
    if not found:
        alone = unit.estimate(baseline, filter_name, metric)
        value = facts.shown(alone.value) + " %" * (facts.unit == "share")
        text = f"{baseline}: {value} ({interval(alone, facts.shown) or 'no interval'})."
        return [] if alone.value is None else [(about, text)]
    other, own, difference = max(found, key=lambda each: each[1].b)
    leader, second = other, baseline
    if own.difference < 0:
        leader, second, own = baseline, other, own.mirrored()
    reach = interval(own, lambda value: signed(value * facts.scale))
    points = f"{signed(own.difference * facts.scale)} points{f' ({reach})' if reach else ''} on the same examples"
    more, less = facts.shown(own.b), facts.shown(own.a)
    said = f"{leader} {more}, {second} {less}. {points}"
    text = f"No clear lead: {said}."
    if difference.is_significant:
        text = f"{leader} leads: {more} against {less} of {second}. {points}."
    elif own.low is not None and own.low > 0:  # by an interval that is corrected for nothing
        text = (
            f"No clear lead once all comparisons of this page are counted: {said}, by an interval for this pair alone."
        )
    return [(about, text)]


def _share(metrics: Metrics, name: str, filter_name: str) -> float:
    """A share as it was reported; NaN where it was not."""
    return metrics[name, filter_name].value if (name, filter_name) in metrics else math.nan


def _worst(about: str, units: Sequence[Unit], measure: Callable[[Metrics], float], words: str) -> list[Finding]:
    """A sentence on each run's largest value over the units, of those that are worth saying; none where none is."""
    found: dict[str, tuple[float, str]] = {}
    for unit in units:
        for run, result in unit.results.items():
            size = 100 * measure(result.metrics)
            if size >= _WORTH_SAYING and size > found.get(run, (0.0,))[0]:
                found[run] = size, unit.label
    worst = sorted(found.items(), key=lambda item: -item[1][0])
    parts = [f"{run} {words.format(*size)}" for run, size in worst[:_NAMED]]
    if len(worst) > _NAMED:
        parts.append(f"{len(worst) - _NAMED} other runs less")
    return [(about, f"{'; '.join(parts)}.")] if parts else []
