"""Weigh the candidates of a text by the rows of a table, and choose the one that it states."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .nothing import retracted_until
from .words import Symbols, pattern


class Candidate:
    """A value that a response may state.

    Attributes:
        value: what scoring compares.
        start, end: its place in ``text``.
        text: the text that it stands in, without formatting.
        cue: the name of the heaviest row that speaks for it, or ``box``, ``tag`` or ``key``.
        support: the weight of that cue.
        evidence: the names and weights of further reasons for or against it.
    """

    def __init__(self, value: Any, start: int, end: int, text: str, cue: str, support: float) -> None:
        self.value = value
        self.start = start
        self.end = end
        self.text = text
        self.cue = cue
        self.support = support
        self.evidence: dict[str, float] = {}

    @property
    def weight(self) -> float:
        """The support and the weights of the evidence, added up."""
        return self.support + sum(self.evidence.values())

    def discard(self, reason: str) -> None:
        """Take away the support; the reason is recorded among the evidence."""
        self.support = 0.0
        self.evidence.setdefault(reason, 0.0)


class Reading(NamedTuple):
    """The reading of a text: its value (None if none was found), cue, candidates and certainty (0 to 1)."""

    value: Any
    cue: str
    candidates: tuple[Candidate, ...] = ()
    certainty: float = 0.0


NOTHING = Reading(None, "none")


class Row(NamedTuple):
    """A row of a reading table: a pattern over notions that holds one candidate, with its name and weight.

    A row of positive weight is a cue, of which only the heaviest counts. Rows of negative weight are evidence against
    the candidate, and all of them count.
    """

    name: str
    weight: float
    pattern: str


def rows(table: str) -> tuple[Row, ...]:
    """Return the rows of a table that has a row a line, such as ``70 answer: pattern``.

    A line ``L = …`` defines what ``{L}`` stands for in other lines.
    """
    for name, source in re.findall(r"^(\w) = (.*)$", table, re.MULTILINE):
        table = table.replace(f"{{{name}}}", source)
    return tuple(
        Row(name, float(weight), source)
        for weight, name, source in re.findall(r"^(-?\d+) (.+?): (.*)$", table, re.MULTILINE)
    )


def weighed(table: Sequence[Row], symbols: Symbols) -> list[Candidate]:
    """Return the candidates of a text in their order, weighed by the rows of a table and by retractions."""
    candidates = {
        at: Candidate(mention.value, mention.start, mention.end, symbols.text, "mention", 0.0)
        for at, mention in symbols.mentions.items()
    }
    for row in table:
        for match in pattern(row.pattern).finditer(symbols.symbols):
            candidate = candidates[match.start("at")]
            if row.weight < 0:
                candidate.evidence[row.name] = row.weight
            elif row.weight > candidate.support:
                candidate.cue, candidate.support = row.name, row.weight
    until = retracted_until(symbols)
    if not any(candidate.start > until and candidate.weight >= _ANOTHER for candidate in candidates.values()):
        until = retracted_until(symbols, "wait")  # a hesitation that no other answer follows takes nothing back
    for candidate in candidates.values():
        if candidate.start < until:
            candidate.evidence["taken back"] = -60.0
    return list(candidates.values())


_ANOTHER = 20.0
"""From this weight on, a candidate after a hesitation is another answer."""

OUTRIGHT = 50.0
"""From this weight on, a candidate is stated outright."""

MARGIN = 12.0
"""By how much a candidate with an open cue must outweigh all other values."""

_OPEN_CERTAINTY = 0.89  # the highest certainty of a candidate with an open cue


def choose(candidates: Iterable[Candidate], open_cues: Sequence[str] = ()) -> Reading:
    """Return the reading of the heaviest candidate, the last of those that weigh the same.

    Without a candidate that has support and a positive weight, nothing is read.

    Args:
        candidates: the candidates in the order of the text.
        open_cues: cues too weak to decide between two values of about the same weight.
    """
    candidates = tuple(candidates)
    supported = [candidate for candidate in candidates if candidate.support > 0 and candidate.weight > 0]
    if not supported:
        return Reading(None, "none", candidates)
    best = max(supported, key=lambda candidate: (candidate.weight, candidate.start))
    rival = max((other.weight for other in supported if other.value != best.value), default=0.0)
    margin = best.weight - rival
    highest = 1.0
    if best.cue in open_cues:
        if margin < MARGIN:
            return Reading(None, "none", candidates)
        highest = _OPEN_CERTAINTY
    return Reading(best.value, best.cue, candidates, min(highest, certainty(best.weight, margin)))


def certainty(weight: float, margin: float) -> float:
    """Return how often a reading of this weight and margin is right; calibrated in ``measurements/extraction.md``."""
    return 1 / (1 + math.exp(-(1.43 + 0.0498 * min(weight, 100) + 0.0261 * min(margin, 100))))
