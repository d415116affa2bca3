"""What was found, in a few sentences: which run is better and by how much, and is it knowledge or format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from medtasks_utils.report.pairs import Comparer, interval_of, signed
from medtasks_utils.report.units import Unit, interval
from medtasks_utils.results import Run
from medtasks_utils.results.run import Metrics
from medtasks_utils.results.samples import FLEXIBLE, STRICT

_WORTH_SAYING = 1.0  # points below which a loss to format or to missing answers is not mentioned
_NAMED = 4  # runs of which a sentence says how much


@dataclass(frozen=True)
class Finding:
    """A sentence of the first screen, and what it is about."""

    about: str
    text: str


def findings(
    runs: Sequence[Run], units: Sequence[Unit], comparer: Comparer, filter_name: str = STRICT
) -> list[Finding]:
    """Which run is best at what and by how much; what is lost to format; where answers are missing.

    Answers are read under the filter of this name in units that have it, else under their first.
    """
    of_benchmarks = [unit for unit in units if unit.benchmark]
    said = [finding for unit in of_benchmarks if (finding := _leader(unit, comparer, filter_name))]
    return [*said, *_form_losses(runs, of_benchmarks), *_missing_answers(runs, of_benchmarks, filter_name)]


def _leader(unit: Unit, comparer: Comparer, filter_name: str) -> Finding | None:
    if not unit.filters or not unit.headline:
        return None
    filter_name = filter_name if filter_name in unit.filters else unit.filters[0]
    metric = unit.headline[0]
    odd = unit.odd_ones(filter_name, metric)
    apart = "".join(f" {run} is {reason}." for run, reason in odd.items())
    estimates = {run: unit.estimate(run, filter_name, metric) for run in unit.results if run not in odd}
    ranked = sorted(
        (run for run in estimates if estimates[run].value is not None), key=lambda run: -(estimates[run].value or 0)
    )
    if not ranked:
        return None
    about = f"{unit.label}, {metric}, {filter_name}"
    best = estimates[ranked[0]]
    facts = unit.facts(metric)
    if len(ranked) == 1:
        within = interval(best, facts) or "no interval"
        return Finding(about, f"{ranked[0]}: {facts.shown(best.value)} % ({within}).{apart}")
    second = estimates[ranked[1]]
    values = facts.shown(best.value), facts.shown(second.value)
    line = comparer.between(ranked[1], ranked[0], filter_name).whole(unit.name, metric)
    if line is None:
        return Finding(about, f"{ranked[0]} has {values[0]}, {ranked[1]} {values[1]}.{apart}")
    own = line.contrast
    reach = f" ({interval_of(line)})" if interval_of(line) else ""
    difference = f"{signed(own.difference * facts.scale)} points{reach} on the same examples"
    excludes_zero = own.low is not None and own.high is not None and not own.note and not own.low <= 0 <= own.high
    if line.is_significant:
        text = f"{ranked[0]} leads: {values[0]} against {values[1]} of {ranked[1]}. {difference}."
    elif excludes_zero:  # by an interval that is corrected for nothing
        text = (
            f"No clear lead once all comparisons of this page are counted: {ranked[0]} {values[0]}, {ranked[1]} "
            f"{values[1]}. {difference}, by an interval for this pair alone."
        )
    else:
        text = f"No clear lead: {ranked[0]} {values[0]}, {ranked[1]} {values[1]}. {difference}."
    return Finding(about, text + apart)


def _form_losses(runs: Sequence[Run], units: Sequence[Unit]) -> list[Finding]:
    """The largest loss of each run to the form of its answers; one sentence if there is none."""
    losses = _largest(runs, units, _form_loss)
    if not losses:
        return []
    if losses[0][0] < _WORTH_SAYING:
        return [Finding("Format", f"No run loses more than {_WORTH_SAYING:.0f} point to the form of its answers.")]
    text = _said(losses, lambda loss, unit, run: f"{run} loses {loss:.1f} points on {unit.label}")
    return [Finding("Largest losses to the form of answers (strict-match)", text)]


def _missing_answers(runs: Sequence[Run], units: Sequence[Unit], filter_name: str) -> list[Finding]:
    """Where each run leaves most without an answer."""
    shares = _largest(runs, units, lambda metrics: _unanswered(metrics, filter_name))
    if not shares or shares[0][0] < _WORTH_SAYING:
        return []
    text = _said(shares, lambda share, unit, run: f"{run} leaves {share:.1f} % of {unit.label}")
    return [Finding(f"Most without an answer, {filter_name}", text)]


def _form_loss(metrics: Metrics) -> float | None:
    """Points of accuracy that flexible-extract has more than strict-match."""
    flexible, strict = metrics.get(("acc", FLEXIBLE)), metrics.get(("acc", STRICT))
    return None if flexible is None or strict is None else 100 * (flexible.value - strict.value)


def _unanswered(metrics: Metrics, filter_name: str) -> float | None:
    """Percent of examples in which a filter finds no answer."""
    answered = metrics.get(("answered", filter_name))
    return None if answered is None else 100 * (1 - answered.value)


_Size = tuple[float, Unit, str]


def _largest(runs: Sequence[Run], units: Sequence[Unit], measure: Callable[[Metrics], float | None]) -> list[_Size]:
    """Each run's largest value over the units, the largest run first."""
    found: list[_Size] = []
    for run in (run.name for run in runs):
        results = ((unit, unit.results[run]) for unit in units if run in unit.results)
        sizes = [(size, unit, run) for unit, own in results if (size := measure(own.metrics)) is not None]
        if sizes:
            found.append(max(sizes, key=lambda size: size[0]))
    return sorted(found, key=lambda size: -size[0])


def _said(sizes: Sequence[_Size], say: Callable[[float, Unit, str], str]) -> str:
    worth = [size for size in sizes if size[0] >= _WORTH_SAYING]
    parts = [say(*size) for size in worth[:_NAMED]]
    if len(worth) > _NAMED:
        parts.append(f"{len(worth) - _NAMED} other runs less")
    return "; ".join(parts) + "."
