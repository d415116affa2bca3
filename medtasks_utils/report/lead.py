"""Say in at most two sentences who is best, by how much and how sure.

Not shown is not equal: no sentence says that runs are alike, that a run leads, or that a difference is more than it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from os.path import commonprefix
from typing import NamedTuple

from .drawing import ends, joined, one, signed

MOST = 2
"""The most sentences."""


class Difference(NamedTuple):
    """A difference in points, with the ends of its interval, which are None if there is none."""

    points: float
    low: float | None
    high: float | None

    @property
    def interval(self) -> str:
        """The ends of the interval as in a sentence; empty without one."""
        return "" if self.low is None or self.high is None else ends(self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How the runs of a page stand on a benchmark, or in the mean of several.

    Attributes:
        label: the benchmark.
        questions: the number of questions on which runs are ranked.
        values: by run that has a score, its value in per cent, the best first.
        ranked: the runs that can be compared, the best first.
        best: those that may be the best; None if there are too few questions to tell.
        ahead: how far the first is ahead of the second.
        has_samples: False if no run has samples.
        floor: the score of a classifier that never sees the question; None if it is unknown.
        highest: the ends of the interval of the highest value.
        benchmarks: the number of benchmarks in a mean; 0 for one benchmark.
    """

    label: str
    questions: int
    values: dict[str, float]
    ranked: Sequence[str] = ()
    best: Sequence[str] | None = None
    ahead: Difference | None = None
    has_samples: bool = True
    floor: float | None = None
    highest: tuple[float, float] | None = None
    benchmarks: int = 0


class _Outcome(NamedTuple):
    """What is said of a benchmark: the number of the rule, the runs that it names, and the benchmark."""

    rule: int
    named: tuple[str, ...]
    standing: Standing


def lead(standings: Sequence[Standing], mean: Standing | None = None) -> list[str]:
    """Return at most two sentences about many runs; benchmarks with the same outcome are merged."""
    said: list[str] = []
    if mean and mean.benchmarks >= 3 and mean.best and len(mean.best) == 1:
        (first,) = mean.best
        low, high = mean.highest or (None, None)
        about = f"{one(mean.values[first])} %" + (f", 95 % CI {ends(low, high)}" if low is not None and high is not None else "")
        said.append(f"{first} is best on average over {mean.benchmarks} benchmarks ({about}).")
        standings = [standing for standing in standings if list(standing.best or ()) != [first]]
    outcomes = sorted(filter(None, map(_outcome, standings)), key=lambda found: (found.rule, found.named))
    merged = [[*group] for _, group in groupby(outcomes, key=lambda found: (found.rule, found.named))]
    merged.sort(key=lambda group: (group[0].rule, -len(group)))
    is_first_interval = not said
    for group in merged:
        said.append(_sentence(group[0], [found.standing for found in group], is_first_interval))
        is_first_interval &= "95 % CI" not in said[-1]
    return [*said, *floor_sentences(standings)][:MOST]


def _outcome(standing: Standing) -> _Outcome | None:
    """Return which rule applies; None if nothing can be said."""
    ranked = standing.ranked
    if len(standing.values) < 2:
        return None
    if not standing.has_samples:
        return _Outcome(8, tuple(standing.values)[:1], standing)
    if len(ranked) < 2:
        return _Outcome(9, (), standing)
    if standing.best is None:
        return _Outcome(5, (), standing)
    best = tuple(standing.best)
    rule = 1 if len(best) == 1 else 4 if len(best) == len(ranked) else 2 if len(best) <= 3 else 3
    return _Outcome(rule, best if rule < 3 else best[:1] if rule == 3 else (), standing)


def _sentence(outcome: _Outcome, standings: Sequence[Standing], is_first_interval: bool) -> str:
    """Return the sentence about benchmarks with the same outcome."""
    labels, first = joined([standing.label for standing in standings]), standings[0]
    them = "these" if len(standings) > 1 else f"these {first.questions:,}"
    if outcome.rule == 1:
        return _best(outcome.named[0], standings, labels, is_first_interval)
    if outcome.rule == 2:
        alike = differing_parts(outcome.named)
        if alike and len(standings) == 1:
            value = first.values[outcome.named[0]]
            return f"The best is {alike[0]} at {joined(alike[1], 'or')}: {value:.0f} % right on {labels}."
        return f"On {labels} the best is {joined(outcome.named, 'or')}."
    if outcome.rule == 3:
        top = outcome.named[0]
        best, values = (joined(list(map(str, of))) for of in ([len(s.best or ()) for s in standings], [f"{one(s.values[top])} %" for s in standings]))
        return f"On {labels} the best is one of {best} of {len(first.ranked)} runs; {top} has the highest score, {values}."
    if outcome.rule == 4:
        shown = joined([f"{one(min(s.values[run] for run in s.ranked))} to {one(max(s.values[run] for run in s.ranked))} %" for s in standings])
        return f"On {labels} {them} questions do not tell the {len(first.ranked)} runs apart ({shown})."
    if outcome.rule == 5:
        return f"On {labels} {'these' if len(standings) > 1 else f'{first.questions:,}'} questions are too few to rank the runs."
    if outcome.rule == 8:
        top = outcome.named[0]
        values = joined([f"{one(standing.values[top])} %" for standing in standings])
        return f"{top} has the highest reported score on {labels}, {values}; without samples no run can be compared."
    return f"On {labels} no two runs answered the same questions."


def _best(run: str, standings: Sequence[Standing], labels: str, is_first_interval: bool) -> str:
    """Return the sentence about a run that is the best on some benchmarks."""
    known = [standing.ahead for standing in standings if standing.ahead]
    if not known:
        return f"{run} is best on {labels}."
    if len(standings) > 1:
        points = joined([one(difference.points) for difference in known])
        return f"{run} is best on {labels}, {points} points ahead of the next."
    value = f": {one(standings[0].values[run])} % right" if is_first_interval and not standings[0].benchmarks else ""
    about = f" ({'95 % CI ' * is_first_interval}{known[0].interval})" if known[0].interval else ""
    return f"{run} is best on {labels}{value}, {one(known[0].points)} points ahead of {standings[0].ranked[1]}{about}."


def floor_sentences(standings: Sequence[Standing]) -> Iterator[str]:
    """Yield a sentence for each benchmark on which no run is above the score without the question."""
    for standing in standings:
        if standing.floor is not None and standing.highest and standing.values:
            low, high = standing.highest
            run = "No run" if len(standing.values) > 1 else f"{next(iter(standing.values))} does not"
            reach = "reaches" if len(standing.values) > 1 else "reach"
            if high < standing.floor:
                yield f"{run} {reach} the {one(standing.floor)} % of a classifier that never sees the question."
            elif low <= standing.floor:
                shown = "No run is" if len(standing.values) > 1 else f"{next(iter(standing.values))} is not"
                yield f"{shown} shown to exceed the {one(standing.floor)} % of a classifier that never sees the question."


def differing_parts(names: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return what names begin with, and the part in which alone they differ; None if they differ otherwise.

    >>> differing_parts(["gemma3-12b_q8_0", "gemma3-12b_q5_k_m", "gemma3-12b_q6_k"])
    ('gemma3-12b', ['q8_0', 'q5_k_m', 'q6_k'])
    """
    begin = re.split(r"[-_/· ]+(?=[^-_/· ]*$)", commonprefix(names))[0] if len(names) > 1 else ""
    parts = [name[len(begin) :].lstrip("-_/· ") for name in names]
    return (begin, parts) if len(begin) >= 4 and all(parts) and len(set(parts)) == len(parts) else None


# ---- one run


@dataclass(frozen=True, kw_only=True)
class Result:
    """A single run's result on a benchmark, in per cent; losses are in points, and the score ``rise`` is with them won.

    Attributes:
        lost: by kind (``cut``, ``none``, ``form``), the percentage of its examples.
        rise: by kind, the value that the run would have.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    lost: dict[str, float]
    rise: dict[str, float]
    floor: float | None = None


def lead_of_one(run: str, results: Sequence[Result]) -> list[str]:
    """Return at most two sentences about a single run: its score, and its largest loss of two points or more."""
    if not results:
        return [f"{run} has no scores."]
    first, *others = results
    said = [f"{run} has {_right(first)}."]
    kind = max(first.lost, key=first.lost.__getitem__, default="")
    if kind and first.lost[kind] >= 2:
        said.append(_loss(kind, first.lost[kind], first.rise[kind]))
    ends_of = (first.low, first.high) if first.low is not None and first.high is not None else None
    standing = Standing(label=first.label, questions=0, values={run: first.value}, floor=first.floor, highest=ends_of)
    said += floor_sentences([standing])
    return [*said, *(f"It has {_right(other)}." for other in others)][:MOST]


def _loss(kind: str, lost: float, rise: float) -> str:
    """Return the sentence about what a run loses in one way, and the score that it would have."""
    if kind == "form":
        return f"{one(lost)} points are lost to the form: read leniently, it has {one(rise)} %."
    share = f"{lost:.0f} % {'of its replies were cut off' if kind == 'cut' else 'give no answer'}"
    return f"{share}: had all of these been right, it would have {rise:.0f} %."


def _right(result: Result) -> str:
    known = result.low is not None and result.high is not None
    interval = f" (95 % CI {ends(result.low or 0.0, result.high or 0.0)})" if known else ""
    return f"{one(result.value)} % right on {result.label}{interval}"


# ---- two runs


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A benchmark in two runs: the difference B − A in points, or the reason why they are not compared.

    Attributes:
        is_shown: True if the corrected p-value is below 5 %.
        refused: the reason why they are not compared; empty if they are.
        counts: for other questions, the numbers of A's, of B's and of those in common.
    """

    label: str
    difference: Difference | None = None
    is_shown: bool = False
    refused: str = ""
    counts: tuple[int, int, int] | None = None


def lead_of_two(a: str, b: str, compared: Sequence[Compared], within: float = 2.0) -> list[str]:
    """Return at most two sentences about two runs: what is shown, what is not, and what is not compared."""
    shown = [one for one in compared if one.is_shown and one.difference]
    up, down = ([one for one in shown if (one.difference.points > 0) is is_up] for is_up in (True, False))  # type: ignore[union-attr]
    better, worse, names = (up, down, (b, a)) if len(up) >= len(down) and up else (down, up, (a, b))
    said = []
    if better:
        sign = 1 if better is up else -1
        said.append(f"{names[0]} is better than {names[1]} on {_by(better, sign, '95 % CI ')}" + (f", and worse on {_by(worse, -sign)}" if worse else "") + ".")
    for one_ in compared:
        difference, first = one_.difference, "" if said else "95 % CI "
        if one_.is_shown or (difference is None and not one_.refused):
            continue
        if difference is None:
            said.append(_not_compared(a, b, one_))
        elif difference.low is not None and difference.high is not None and -within <= difference.low and difference.high <= within:
            said.append(f"On {one_.label} they are within {within:g} points of each other ({first}{difference.interval}).")
        else:
            about = f" ({first}{difference.interval})" if difference.interval else ""
            said.append(f"On {one_.label} no difference is shown: {signed(difference.points)}{about}.")
    return said[:MOST] or [f"{a} and {b} have no benchmark in common."]


def _by(compared: Iterable[Compared], sign: int, first: str = "") -> str:
    """Return benchmarks with their differences, times the sign, as in a sentence."""
    known = [(found.label, found.difference) for found in compared if found.difference]
    labels = joined([label for label, _ in known])
    turned = [(d if sign > 0 else Difference(-d.points, d.high and -d.high, d.low and -d.low)) for _, d in known]
    points, intervals = joined([one(d.points) for d in turned]), "; ".join(d.interval for d in turned)
    return f"{labels}, by {points} points ({first}{intervals})"


def _not_compared(a: str, b: str, found: Compared) -> str:
    """Return the sentence about a benchmark on which two runs are not compared."""
    if found.counts:
        n_a, n_b, both = found.counts
        return f"On {found.label} they are not compared: {a} answered {n_a:,} questions, {b} {n_b:,}, {both:,} in common."
    return f"On {found.label} they are not compared: {found.refused}."
