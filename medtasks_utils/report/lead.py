"""Say in at most two sentences who is best, by how much and how sure.

Not shown is not equal: no sentence says that runs are alike, that a run leads, or that a difference is more than it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
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

    def is_within(self, within: float) -> bool:
        """Return True if the whole interval is within the given number of points of 0."""
        return self.low is not None and self.high is not None and -within <= self.low and self.high <= within

    @property
    def turned(self) -> "Difference":
        """The difference of the other run."""
        return Difference(-self.points, self.high and -self.high, self.low and -self.low)


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
        is_of_right: True if values are shares of right answers.
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
    is_of_right: bool = True
    floor: float | None = None
    highest: tuple[float, float] | None = None
    benchmarks: int = 0


class _Outcome(NamedTuple):
    """The statement on a benchmark: the number of its rule, the runs that it names, and the benchmark."""

    rule: int
    named: tuple[str, ...]
    standing: Standing


def lead(standings: Sequence[Standing], mean: Standing | None = None) -> list[str]:
    """Return at most two sentences about many runs; benchmarks with the same outcome are merged."""
    said: list[str] = []
    if mean and mean.benchmarks >= 3 and mean.best and len(mean.best) == 1:
        (first,) = mean.best
        interval = f", 95 % CI {ends(*mean.highest)}" if mean.highest else ""
        value = f"{one(mean.values[first])} %{interval}"
        said.append(f"{first} is best on average over {mean.benchmarks} benchmarks ({value}).")
        standings = [standing for standing in standings if list(standing.best or ()) != [first]]
    outcomes = sorted(filter(None, map(_outcome, standings)), key=lambda found: (found.rule, found.named))
    merged = [[*group] for _, group in groupby(outcomes, key=lambda found: (found.rule, found.named))]
    merged.sort(key=lambda group: (group[0].rule, -len(group)))
    for group in merged:
        is_first = not any("95 % CI" in sentence for sentence in said)
        say = (_best, _tie, _large_tie, _all_tied, _too_few, _reported, _nothing_in_common)[group[0].rule - 1]
        said.append(say(group[0].named, [found.standing for found in group], is_first))
    return [*said, *floor_sentences(standings)][:MOST]


def _outcome(standing: Standing) -> _Outcome | None:
    """Return which rule applies; None if nothing can be said."""
    ranked = standing.ranked
    if len(standing.values) < 2:
        return None
    if not standing.has_samples:
        return _Outcome(6, tuple(standing.values)[:1], standing)
    if len(ranked) < 2:
        return _Outcome(7, (), standing)
    if standing.best is None:
        return _Outcome(5, (), standing)
    best = tuple(standing.best)
    rule = 1 if len(best) == 1 else 4 if len(best) == len(ranked) else 2 if len(best) <= 3 else 3
    return _Outcome(rule, {1: best, 2: best, 3: tuple(ranked[:1]), 4: ()}[rule], standing)


def _on(standings: Sequence[Standing]) -> str:
    return joined([standing.label for standing in standings])


def _values(run: str, standings: Sequence[Standing]) -> str:
    return joined([f"{one(standing.values[run])} %" for standing in standings])


def _best(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about a run that is the best on some benchmarks."""
    (run,), known = named, [standing.ahead for standing in standings if standing.ahead]
    start = f"{run} is best on {_on(standings)}"
    if not known:
        return f"{start}."
    if len(standings) > 1:
        return f"{start}, {joined([one(difference.points) for difference in known])} points ahead of the next."
    value = f": {_values(run, standings)} right" if is_first and standings[0].is_of_right else ""
    interval = f" ({'95 % CI ' * is_first}{known[0].interval})" if known[0].interval else ""
    return f"{start}{value}, {one(known[0].points)} points ahead of {standings[0].ranked[1]}{interval}."


def _tie(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about two or three runs that may be the best."""
    alike = differing_parts(named) if len(standings) == 1 else None
    if alike:
        value = standings[0].values[named[0]]
        return f"The best is {alike[0]} at {joined(alike[1], 'or')}: {value:.0f} % right on {_on(standings)}."
    return f"On {_on(standings)} the best is {joined(named, 'or')}."


def _large_tie(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about four or more runs that may be the best, of more."""
    sizes = joined([str(len(standing.best or ())) for standing in standings])
    of_runs = f"{sizes} of {len(standings[0].ranked)} runs"
    highest = f"{named[0]} has the highest score, {_values(named[0], standings)}"
    return f"On {_on(standings)} the best is one of {of_runs}; {highest}."


def _all_tied(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about runs that cannot be told apart."""
    ranges = []
    for standing in standings:
        values = [standing.values[run] for run in standing.ranked]
        ranges.append(f"{one(min(values))} to {one(max(values))} %")
    these = "these" if len(standings) > 1 else f"these {standings[0].questions:,}"
    runs = len(standings[0].ranked)
    return f"On {_on(standings)} {these} questions do not tell the {runs} runs apart ({joined(ranges)})."


def _too_few(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about benchmarks with too few questions."""
    numbers = joined([f"{standing.questions:,}" for standing in standings])
    return f"On {_on(standings)} {numbers} questions are too few to rank the runs."


def _reported(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about runs without samples."""
    highest = f"{named[0]} has the highest reported score on {_on(standings)}, {_values(named[0], standings)}"
    return f"{highest}; without samples no run can be compared."


def _nothing_in_common(named: Sequence[str], standings: Sequence[Standing], is_first: bool) -> str:
    """Return the sentence about runs with different questions."""
    return f"On {_on(standings)} no two runs answered the same questions."


def floor_sentences(standings: Sequence[Standing]) -> Iterator[str]:
    """Yield a sentence for each benchmark on which no run is above the score without the question."""
    for standing in standings:
        if standing.floor is None or not standing.highest or not standing.values:
            continue
        low, high = standing.highest
        goal = f"the {one(standing.floor)} % of a classifier that never sees the question."
        (run, *others) = standing.values
        if high < standing.floor:
            yield f"No run reaches {goal}" if others else f"{run} does not reach {goal}"
        elif low <= standing.floor:
            yield f"{'No run' if others else run} is {'not ' * (not others)}shown to exceed {goal}"


def common_beginning(names: Sequence[str]) -> str:
    """Return what all names begin with, up to a sign between their parts."""
    first, last = min(names), max(names)
    length = next((place for place, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), len(first))
    return re.sub(r"[^-_/· ]*$", "", first[:length])


def differing_parts(names: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return what names begin with, and the part in which alone they differ; None if they differ otherwise.

    >>> differing_parts(["gemma3-12b_q8_0", "gemma3-12b_q5_k_m", "gemma3-12b_q6_k"])
    ('gemma3-12b', ['q8_0', 'q5_k_m', 'q6_k'])
    """
    begin = common_beginning(names).rstrip("-_/· ")
    parts = [name[len(begin) :].lstrip("-_/· ") for name in names]
    return (begin, parts) if len(begin) >= 4 and all(parts) and len(set(parts)) == len(parts) else None


# ---- one run


@dataclass(frozen=True, kw_only=True)
class Result:
    """A single run's result on a benchmark, in per cent; losses are in points, and the score ``rise`` is with them won.

    Attributes:
        lost: by kind (``cut``, ``none``, ``form``), the percentage of its examples.
        rise: by kind, the value that the run would have.
        what: what the value is of.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    lost: dict[str, float]
    rise: dict[str, float]
    floor: float | None = None
    what: str = "% right"


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
    return f"{one(result.value)} {result.what} on {result.label}{interval}"


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
    shown = [(found.label, found.difference) for found in compared if found.is_shown and found.difference]
    up = [(label, difference) for label, difference in shown if difference.points > 0]
    down = [(label, difference.turned) for label, difference in shown if difference.points < 0]
    said = []
    if shown:
        (one_, other), better, worse = ((b, a), up, down) if len(up) >= len(down) else ((a, b), down, up)
        rest = f", and worse on {_by(worse)}" if worse else ""
        said.append(f"{one_} is better than {other} on {_by(better, '95 % CI ')}{rest}.")
    open_ = [(found.label, found.difference) for found in compared if found.difference and not found.is_shown]
    near = [each for each in open_ if each[1].is_within(within)]
    first = "95 % CI " * (not said)
    if unsure := [each for each in open_ if each not in near]:
        values = [signed(difference.points) + _in_brackets(difference, first) for _, difference in unsure]
        said.append(f"On {joined([label for label, _ in unsure])} no difference is shown: {joined(values)}.")
    if near:
        intervals = joined([difference.interval for _, difference in near])
        on = joined([label for label, _ in near])
        said.append(f"On {on} they are within {within:g} points of each other ({first}{intervals}).")
    said += [_not_compared(a, b, found) for found in compared if found.refused]
    return said[:MOST] or [f"{a} and {b} have no benchmark in common."]


def _in_brackets(difference: Difference, first: str) -> str:
    return f" ({first}{difference.interval})" if difference.interval else ""


def _by(differences: Sequence[tuple[str, Difference]], first: str = "") -> str:
    """Return benchmarks with the differences of the run that is better there, as in a sentence."""
    labels = joined([label for label, _ in differences])
    points = joined([one(difference.points) for _, difference in differences])
    intervals = "; ".join(filter(None, (difference.interval for _, difference in differences)))
    return f"{labels}, by {points} points" + (f" ({first}{intervals})" if intervals else "")


def _not_compared(a: str, b: str, found: Compared) -> str:
    """Return the sentence about a benchmark on which two runs are not compared."""
    if found.counts:
        n_a, n_b, both = found.counts
        return (
            f"On {found.label} they are not compared: {a} answered {n_a:,} questions, {b} {n_b:,}, {both:,} in common."
        )
    return f"On {found.label} they are not compared: {found.refused}."
