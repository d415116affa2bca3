"""Say in at most two sentences who is best, by how much and how sure.

Not shown is not equal: no sentence says that runs are alike, that a run leads, or that a difference is more than it is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from .board import Ranking, Score
from .drawing import ends, joined, one, signed
from .pair import PairRow

MOST = 2
"""The most sentences."""
NEAR = 2.0
"""Points of a difference; if its whole interval is within them, two runs are said to be near each other."""


class _Outcome(NamedTuple):
    """The statement on a benchmark: the number of its rule, the runs that it names, and the benchmark."""

    rule: int
    named: tuple[str, ...]
    standing: Ranking


def lead(standings: Sequence[Ranking], mean: Ranking | None = None) -> list[str]:
    """Return at most two sentences about many runs; benchmarks with the same outcome are merged."""
    said: list[str] = []
    if mean and len(standings) >= 3 and mean.best and len(mean.best) == 1:
        (first,) = mean.best
        score = mean.scores[first]
        value = f"{one(score.value)} %, 95 % CI {_ends(score)}"
        said.append(f"{first} is best on average over {len(standings)} benchmarks ({value}).")
        standings = [standing for standing in standings if list(standing.best or ()) != [first]]
    outcomes = sorted(filter(None, map(_outcome, standings)), key=lambda found: (found.rule, found.named))
    merged = [[*group] for _, group in groupby(outcomes, key=lambda found: (found.rule, found.named))]
    merged.sort(key=lambda group: (group[0].rule, -len(group)))
    for group in merged:
        is_first = not any("95 % CI" in sentence for sentence in said)
        said.append(_SAYING[group[0].rule](group[0].named, [found.standing for found in group], is_first))
    return [*said, *floor_sentences(standings)][:MOST]


def _ends(score: Score, before: str = "") -> str:
    """Return the ends of a score's interval, as in a sentence; an empty string without one."""
    return "" if score.low is None or score.high is None else before + ends(score.low, score.high)


def _outcome(standing: Ranking) -> _Outcome | None:
    """Return which rule applies; None if nothing can be said."""
    ranked = standing.ranked
    if len(standing.scores) < 2 or standing.metric.higher_is_better is None:
        return None
    if not ranked:
        return _Outcome(6, tuple(standing.best_first([*standing.scores]))[:1], standing)
    if len(ranked) < 2:
        return _Outcome(7, (), standing)
    if standing.best is None:
        return _Outcome(5, (), standing)
    best = tuple(standing.best)
    rule = 1 if len(best) == 1 else 4 if len(best) == len(ranked) else 2 if len(best) <= 3 else 3
    return _Outcome(rule, {1: best, 2: best, 3: tuple(ranked[:1]), 4: ()}[rule], standing)


def _on(standings: Sequence[Ranking]) -> str:
    return joined([standing.label for standing in standings])


def _values(run: str, standings: Sequence[Ranking]) -> str:
    return joined([f"{one(standing.scores[run].value)} %" for standing in standings])


def _best(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about a run that is the best on some benchmarks."""
    (run,), known = named, [standing.ahead for standing in standings if standing.ahead]
    start = f"{run} is best on {_on(standings)}"
    if not known:
        return f"{start}."
    if len(standings) > 1:
        return f"{start}, {joined([one(difference.value) for difference in known])} points ahead of the next."
    value = f": {_values(run, standings)} right" if is_first and standings[0].is_of_right else ""
    interval = _ends(known[0], "95 % CI " * is_first)
    ahead = f"{one(known[0].value)} points ahead of {standings[0].ranked[1]}"
    return f"{start}{value}, {ahead}{f' ({interval})' * bool(interval)}."


def _tie(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about two or three runs that may be the best."""
    alike = differing_parts(named) if len(standings) == 1 else None
    if alike:
        value = standings[0].scores[named[0]].value
        return f"The best is {alike[0]} at {joined(alike[1], 'or')}: {value:.0f} % right on {_on(standings)}."
    return f"On {_on(standings)} the best is {joined(named, 'or')}."


def _large_tie(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about four or more runs that may be the best, of more."""
    sizes = joined([str(len(standing.best or ())) for standing in standings])
    of_runs = f"{sizes} of {len(standings[0].ranked)} runs"
    highest = f"{named[0]} has the highest score, {_values(named[0], standings)}"
    return f"On {_on(standings)} the best is one of {of_runs}; {highest}."


def _all_tied(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about runs that cannot be told apart."""
    ranges = []
    for standing in standings:
        values = [standing.scores[run].value for run in standing.ranked]
        ranges.append(f"{one(min(values))} to {one(max(values))} %")
    these = "these" if len(standings) > 1 else f"these {standings[0].questions:,}"
    runs = len(standings[0].ranked)
    return f"On {_on(standings)} {these} questions do not tell the {runs} runs apart ({joined(ranges)})."


def _too_few(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about benchmarks with too few questions."""
    numbers = joined([f"{standing.questions:,}" for standing in standings])
    return f"On {_on(standings)} {numbers} questions are too few to rank the runs."


def _reported(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about runs without samples."""
    highest = f"{named[0]} has the highest reported score on {_on(standings)}, {_values(named[0], standings)}"
    return f"{highest}; without samples no run can be compared."


def _nothing_in_common(named: Sequence[str], standings: Sequence[Ranking], is_first: bool) -> str:
    """Return the sentence about runs with different questions."""
    return f"On {_on(standings)} no two runs answered the same questions."


_SAYING = {1: _best, 2: _tie, 3: _large_tie, 4: _all_tied, 5: _too_few, 6: _reported, 7: _nothing_in_common}


def floor_sentences(standings: Sequence[Ranking]) -> Iterator[str]:
    """Yield a sentence for each benchmark on which no run is above the score without the question."""
    for standing in standings:
        run = next(iter(standing.ranked or standing.best_first([*standing.scores])), None)
        if run is None or not standing.floor or not standing.floor.is_reached:
            continue
        _, low, high, *_ = standing.scores[run]
        floor, is_alone = standing.floor.value, len(standing.scores) == 1
        goal = f"the {one(floor)} % of a classifier that never sees the question."
        if high is not None and high < floor:
            yield f"{run} does not reach {goal}" if is_alone else f"No run reaches {goal}"
        elif low is not None and low <= floor:
            yield f"{run} is not shown to exceed {goal}" if is_alone else f"No run is shown to exceed {goal}"


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


def lead_of_one(run: str, standings: Sequence[Ranking], losses: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return at most two sentences about a single run: its score, and its largest loss of two points or more.

    Args:
        run: the run.
        standings: its benchmarks.
        losses: for the first benchmark by kind (``cut``, ``none``, ``form``), the percentage of its examples that are
            lost (for ``form``, the points), and the score that the run would have with them won.
    """
    if not standings:
        return [f"{run} has no scores."]
    first, *others = standings
    said = [f"{run} has {_has(run, first)}."]
    kind = max(losses, key=lambda kind: losses[kind][0], default="")
    if kind and losses[kind][0] >= 2:
        said.append(_loss(kind, *losses[kind]))
    return [*said, *floor_sentences([first]), *(f"It has {_has(run, other)}." for other in others)][:MOST]


def _loss(kind: str, lost: float, rise: float) -> str:
    """Return the sentence about what a run loses in one way, and the score that it would have."""
    if kind == "form":
        return f"{one(lost)} points are lost to the form: read leniently, it has {one(rise)} %."
    share = f"{lost:.0f} % {'of its replies were cut off' if kind == 'cut' else 'give no answer'}"
    return f"{share}: had all of these been right, it would have {rise:.0f} %."


def _has(run: str, standing: Ranking) -> str:
    """Return a run's score on a benchmark with its interval, as in a sentence."""
    score, unit = standing.scores[run], "% " * (standing.metric.unit == "share")
    interval = _ends(score, "95 % CI ")
    what = "right" if standing.is_of_right else standing.metric.name
    return f"{one(score.value)} {unit}{what} on {standing.label}{f' ({interval})' * bool(interval)}"


# ---- two runs


def lead_of_two(a: str, b: str, rows: Sequence[PairRow]) -> list[str]:
    """Return at most two sentences about two runs: what is shown, what is not, and what is not compared."""
    known = [(row.column.label, row.line) for row in rows if row.line]
    shown = [(label, line.score) for label, line in known if line.is_shown]
    up = [(label, score) for label, score in shown if score.value > 0]
    down = [(label, _turned(score)) for label, score in shown if score.value < 0]
    said = []
    if shown:
        (first, other), better, worse = ((b, a), up, down) if len(up) >= len(down) else ((a, b), down, up)
        rest = f", and worse on {_by(worse)}" if worse else ""
        said.append(f"{first} is better than {other} on {_by(better, '95 % CI ')}{rest}.")
    before = "95 % CI " * (not said)
    near: list[tuple[str, Score]] = []
    unsure: list[tuple[str, Score]] = []
    for label, line in known:
        if not line.is_shown:
            (near if _is_near(line.score) else unsure).append((label, line.score))
    if unsure:
        intervals = [_ends(score, before) for _, score in unsure]
        values = [
            signed(score.value) + f" ({interval})" * bool(interval)
            for (_, score), interval in zip(unsure, intervals, strict=True)
        ]
        said.append(f"On {joined([label for label, _ in unsure])} no difference is shown: {joined(values)}.")
    if near:
        on, intervals = joined([label for label, _ in near]), [_ends(score) for _, score in near]
        said.append(f"On {on} they are within {NEAR:g} points of each other ({before}{joined(intervals)}).")
    said += [_not_compared(a, b, row) for row in rows if row.refused]
    said += [text for row in rows if row.line and (text := _of_decided(a, b, row.column))]
    return said[:MOST] or [f"{a} and {b} have no benchmark in common."]


def _is_near(score: Score) -> bool:
    return score.low is not None and score.high is not None and score.low >= -NEAR and score.high <= NEAR


def _turned(score: Score) -> Score:
    """Return the difference of the other run."""
    return score._replace(value=-score.value, low=score.high and -score.high, high=score.low and -score.low)


def _by(differences: Sequence[tuple[str, Score]], before: str = "") -> str:
    """Return benchmarks with the differences of the run that is better there, as in a sentence."""
    labels = joined([label for label, _ in differences])
    points = joined([one(score.value) for _, score in differences])
    intervals = "; ".join(filter(None, (_ends(score) for _, score in differences)))
    return f"{labels}, by {points} points" + f" ({before}{intervals})" * bool(intervals)


def _not_compared(a: str, b: str, row: PairRow) -> str:
    """Return the sentence about a benchmark on which two runs are not compared."""
    why = row.refused
    if why.startswith("different examples"):
        n_a, n_b, both = row.counts
        why = f"{a} answered {n_a:,} questions, {b} {n_b:,}, {both:,} in common"
    return f"On {row.column.label} they are not compared: {why}."


def _of_decided(a: str, b: str, column: Ranking) -> str:
    """Return the sentence about F1 over different examples; empty unless the decided shares are 5 points apart."""
    of_f1 = column.also.get("f1", {})
    shares = [100 * of_f1[run].n / column.scores[run].n for run in (a, b) if run in of_f1]
    if len(shares) < 2 or abs(shares[0] - shares[1]) <= 5:
        return ""
    return f"F1 is over different examples ({one(shares[0])} and {one(shares[1])} %): accuracy is compared instead."
