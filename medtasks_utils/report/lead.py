"""Summarise in at most two sentences which run is best, by how much, and how certain that is.

Runs whose difference is not shown need not be equal: no sentence calls them equal, or puts one ahead.
"""

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product

from .board import Ranking, Score
from .drawing import ends, joined, one, signed
from .pair import PairLine, PairRow

LINE = 125
"""Maximum number of characters on one line of a wide window."""
MOST = 2
"""Maximum number of lines; each sentence starts a new one."""
NEAR = 2.0
"""Two runs are close if the whole interval of their difference is within this number of points."""

_SENTENCES = {
    "best": "{first} is best on {on}{ahead}.",
    "tie in one part": "The best is {parts}: {rounded} right on {on}.",
    "tie": "On {on} the best is {names}.",
    "large tie": "On {on} the best is one of {sizes} of {runs} runs; {first} has the highest score, {values}.",
    "all tied": "On {on} {these} questions do not tell the {runs} runs apart ({ranges}).",
    "too few": "On {on} {questions} questions are too few to rank the runs.",
    "no samples": "{first} has the highest reported score on {on}, {values}; without samples no run can be compared.",
    "nothing in common": "On {on} no two runs answered the same questions.",
    "not comparable": "On {on} no two runs can be compared: {reasons}.",
}
"""The template of the sentence for each outcome, in the order of the lead."""


def lead(standings: Sequence[Ranking], mean: Ranking | None = None) -> list[str]:
    """Return at most two sentences about many runs; benchmarks with the same outcome are merged."""
    sentences: list[str] = []
    is_alone = len(standings) == 1
    if mean and len(standings) >= 3 and mean.best and len(mean.best) == 1:
        (first,) = mean.best
        score = mean.scores[first]
        value = f"{one(score.value)} %, 95 % CI {ends(score.low, score.high)}"
        sentences.append(f"{first} is best on average over {len(standings)} benchmarks ({value}).")
        standings = [standing for standing in standings if standing.best != [first]]
    merged: dict[tuple[str, tuple[str, ...]], list[Ranking]] = defaultdict(list)
    for standing in standings:
        if len(standing.scores) > 1 and standing.metric.higher_is_better is not None:
            merged[_outcome(standing)].append(standing)
    order = [*_SENTENCES]
    claims = sorted(merged.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]), item[0][1]))
    for (outcome, named), alike in claims:
        is_first = not any("95 % CI" in sentence for sentence in sentences)
        sentences.append(_sentence(outcome, named, alike, "95 % CI " * is_first, is_alone))
    return of_two_lines([*sentences, *floor_sentences(standings)])


def of_two_lines(sentences: Sequence[str]) -> list[str]:
    """Return the first two sentences; if they are long, as many as fit on two lines, but at least one."""
    lines = accumulate(math.ceil(len(sentence) / LINE) for sentence in sentences)
    return [sentence for sentence, line in zip(sentences, lines, strict=True) if line <= MOST] or [*sentences[:1]]


def _outcome(standing: Ranking) -> tuple[str, tuple[str, ...]]:
    """Return the outcome on a benchmark, a key of :data:`_SENTENCES`, and the runs to name."""
    ranked, best, reasons = standing.ranked, tuple(standing.best or ()), standing.reasons.values()
    outcomes = {
        "no samples": (not ranked, standing.best_first([*standing.scores])[:1]),
        "nothing in common": (len(ranked) < 2 and all("questions" in reason for reason in reasons), ()),
        "not comparable": (len(ranked) < 2, ()),
        "too few": (standing.best is None, ()),
        "best": (len(best) == 1, best),
        "all tied": (len(best) == len(ranked), ()),
        "tie in one part": (len(best) <= 3 and bool(differing_parts(best)), best),
        "tie": (len(best) <= 3, best),
        "large tie": (True, ranked[:1]),
    }
    return next((outcome, tuple(named)) for outcome, (holds, named) in outcomes.items() if holds)


def _sentence(outcome: str, named: Sequence[str], standings: Sequence[Ranking], before: str, is_alone: bool) -> str:
    """Return the sentence about the benchmarks that have the same outcome.

    Args:
        outcome: a key of ``_SENTENCES``.
        named: the runs that the sentence names, best first.
        standings: the rankings of the runs on these benchmarks.
        before: the text before the interval of the lead.
        is_alone: as in :func:`_ahead`.
    """
    of_named = [standing.scores[run].value for standing in standings for run in named[:1]]
    of_ranked = [[standing.scores[run].value for run in standing.ranked] for standing in standings]
    questions = joined([f"{standing.questions:,}" for standing in standings])
    begin, parts = differing_parts(named) or ("", [])
    reasons = dict.fromkeys(reason for standing in standings for reason in standing.reasons.values())
    return _SENTENCES[outcome].format(
        on=joined([standing.label for standing in standings]),
        first=joined(named[:1]),
        names=joined(named, "or"),
        parts=f"{begin} at {joined(parts, 'or')}",
        values=joined([f"{one(value)} %" for value in of_named]),
        rounded=joined([f"{value:.0f} %" for value in of_named]),
        ranges=joined([f"{one(min(values))} to {one(max(values))} %" for values in of_ranked if values]),
        sizes=joined([str(len(standing.best or ())) for standing in standings]),
        runs=len(standings[0].ranked),
        questions=questions,
        reasons=joined([*reasons]),
        these="these" if len(standings) > 1 else f"these {questions}",
        ahead=_ahead(standings, before, is_alone),
    )


def _ahead(standings: Sequence[Ranking], before: str, is_alone: bool) -> str:
    """Return a clause on a single best run's lead, empty if unknown; for one benchmark, with the next run.

    With ``is_alone``, the best run's share of right answers precedes the lead.
    """
    known = [(standing, standing.ahead) for standing in standings if standing.ahead]
    if not known:
        return ""
    if len(standings) > 1:
        return f", {joined([one(score.value) for _, score in known])} points ahead of the next"
    ((standing, score),) = known
    first, second = standing.ranked[:2]
    right = f": {one(standing.scores[first].value)} % right" if is_alone and standing.is_of_right else ""
    return f"{right}, {one(score.value)} points ahead of {second}{_interval(score, before)}"


def _interval(score: Score, before: str) -> str:
    """Format the interval of a score in parentheses, after the text ``before``; empty if there is no interval."""
    return "" if score.low is None else f" ({before}{ends(score.low, score.high)})"


def floor_sentences(standings: Sequence[Ranking]) -> Iterator[str]:
    """Yield a sentence for each benchmark on which no run is shown to exceed the score without the question."""
    for standing in standings:
        run = next(iter(standing.ranked or standing.best_first([*standing.scores])), None)
        if run is None or not standing.floor or not standing.floor.is_reached:
            continue
        score, floor = standing.scores[run], standing.floor.value
        who = run if len(standing.scores) == 1 else "No run"
        goal = f"the {one(floor)} % of a classifier that never sees the question."
        if score.high is not None and score.high < floor:
            yield f"{who} {'does not reach' if who == run else 'reaches'} {goal}"
        elif score.low is not None and score.low <= floor:
            yield f"{who} is {'not ' * (who == run)}shown to exceed {goal}"


# ---- names


def common_beginning(names: Sequence[str]) -> str:
    """Return the longest common prefix of names that ends at a separator."""
    return re.sub(r"[^-_/· ]*$", "", os.path.commonprefix(names))  # noqa: RUF071 (of names, not of paths)


def differing_parts(names: Sequence[str]) -> tuple[str, list[str]] | None:
    """Split names into their common beginning and the one part that differs.

    None if the beginning is shorter than four characters, or the differing parts are not distinct or one is empty.

    >>> differing_parts(["gemma3-12b_q8_0", "gemma3-12b_q5_k_m", "gemma3-12b_q6_k"])
    ('gemma3-12b', ['q8_0', 'q5_k_m', 'q6_k'])
    """
    begin = common_beginning(names).rstrip("-_/· ")
    parts = [name[len(begin) :].lstrip("-_/· ") for name in names]
    return (begin, parts) if len(begin) >= 4 and all(parts) and len(set(parts)) == len(parts) else None


def grid_of(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Arrange names by two parts, such as model and quantisation.

    The result is empty if the names fill under 60 % of the grid, or the grid has only one row or column.

    >>> grid_of(["a_x", "a_y", "b_x", "c_y"])
    {'a': {'x': 'a_x', 'y': 'a_y'}, 'b': {'x': 'b_x'}, 'c': {'y': 'c_y'}}
    """
    for sign, split in product("·/ _-", (str.partition, str.rpartition)):
        grid: dict[str, dict[str, str]] = defaultdict(dict)
        for name in names:
            row, _, column = split(name, sign)
            grid[row.strip()][column.strip()] = name
        columns = {column for cells in grid.values() for column in cells}
        if len(grid) > 1 < len(columns) and len(names) >= 0.6 * len(grid) * len(columns):
            return dict(grid)
    return {}


# ---- one run


def lead_of_one(run: str, standings: Sequence[Ranking], losses: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return at most two sentences about a single run: its score, and its largest loss of two points or more.

    If there is room, a failure to exceed the score without the question and other benchmarks follow.

    Args:
        run: the run.
        standings: its benchmarks.
        losses: for the first benchmark, by kind (``cut``, ``none``, ``form``): the percentage of examples lost (for
            ``form``, points), and the run's score had these been right.
    """
    if not standings:
        return [f"{run} has no scores."]
    first, *others = standings
    sentences = [f"{run} has {_has(run, first)}."]
    kind = max(losses, key=lambda kind: losses[kind][0], default="")
    if kind and losses[kind][0] >= 2:
        sentences.append(_LOSSES[kind].format(*losses[kind]))
    sentences += floor_sentences([first])
    return of_two_lines([*sentences, *(f"It has {_has(run, other)}." for other in others)])


_LOSSES = {
    "cut": (
        "{:.0f} % of its replies were cut off without an answer: had all of these been right, it would have {:.0f} %."
    ),
    "none": "{:.0f} % give no answer: had all of these been right, it would have {:.0f} %.",
    "form": "{:.1f} points are lost to the form: read leniently, it has {:.1f} %.",
}


def _has(run: str, standing: Ranking) -> str:
    """Return a clause with a run's score on a benchmark and its interval."""
    score, unit = standing.scores[run], "% " * (standing.metric.unit == "share")
    what = "right" if standing.is_of_right else standing.metric.name
    return f"{one(score.value)} {unit}{what} on {standing.label}{_interval(score, '95 % CI ')}"


# ---- two runs


def lead_of_two(a: str, b: str, rows: Sequence[PairRow]) -> list[str]:
    """Return at most two sentences about two runs: first shown differences, then others, then missing comparisons."""
    groups: dict[str, list[tuple[str, Score]]] = defaultdict(list)
    for row in rows:
        if row.line:
            standing = _standing(row.line)
            score = turned(row.line.score) if standing == "worse" else row.line.score
            groups[standing].append((row.column.label, score))
    sentences = []
    if better := max(groups["better"], groups["worse"], key=len):
        first, other = (b, a) if better is groups["better"] else (a, b)
        worse = groups["worse"] if better is groups["better"] else groups["better"]
        rest = f", and worse on {_by(worse)}" if worse else ""
        sentences.append(f"{first} is better than {other} on {_by(better, '95 % CI ')}{rest}.")
    before = "95 % CI " * (not sentences)
    if unsure := groups["unsure"]:
        values = joined([signed(score.value) + _interval(score, before) for _, score in unsure])
        sentences.append(f"On {_labels(unsure)} no difference is shown: {values}.")
    if near := groups["near"]:
        intervals = joined([ends(score.low, score.high) for _, score in near])
        sentences.append(f"On {_labels(near)} they are within {NEAR:g} points of each other ({before}{intervals}).")
    sentences += [_not_compared(a, b, row) for row in rows if row.incompatible]
    sentences += [text for row in rows if row.line and (text := _of_decided(a, b, row.column))]
    return of_two_lines(sentences) or [f"{a} and {b} have no benchmark in common."]


def _standing(line: PairLine) -> str:
    """Return the verdict on B: ``better`` or ``worse`` than A, ``near`` it (:data:`NEAR`), or ``unsure``."""
    _, low, high, *_ = line.score
    if line.is_shown:
        return "better" if line.score.value > 0 else "worse"
    return "near" if low is not None and high is not None and low >= -NEAR and high <= NEAR else "unsure"


def turned(score: Score) -> Score:
    """Return a difference, and its interval, with A and B swapped."""
    return score._replace(value=-score.value, low=score.high and -score.high, high=score.low and -score.low)


def _labels(differences: Sequence[tuple[str, Score]]) -> str:
    return joined([label for label, _ in differences])


def _by(differences: Sequence[tuple[str, Score]], before: str = "") -> str:
    """Return a clause that lists benchmarks with the differences in favour of the better run."""
    points = joined([one(score.value) for _, score in differences])
    intervals = "; ".join(ends(score.low, score.high) for _, score in differences if score.low is not None)
    return f"{_labels(differences)}, by {points} points" + f" ({before}{intervals})" * bool(intervals)


def _not_compared(a: str, b: str, row: PairRow) -> str:
    """Return a sentence on why two runs are not compared on a benchmark."""
    why = row.incompatible
    if row.asks_other:
        of_a, of_b, of_both = row.counts
        why = f"{a} answered {of_a:,} questions, {b} {of_b:,}, {of_both:,} in common"
    return f"On {row.column.label} they are not compared: {why}."


def _of_decided(a: str, b: str, column: Ranking) -> str:
    """Return a sentence if the shares of examples that F1 covers in two runs are over 5 points apart; else empty."""
    of_f1 = column.also.get("f1", {})
    shares = [100 * of_f1[run].n / column.scores[run].n for run in (a, b) if run in of_f1]
    if len(shares) < 2 or abs(shares[0] - shares[1]) <= 5:
        return ""
    return f"F1 is over different examples ({one(shares[0])} and {one(shares[1])} %): accuracy is compared instead."
