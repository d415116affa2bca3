"""The engine of every reading: candidates, the rows of a table that speak for or against each, and the choice."""

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
        start, end: where it stands in ``text``.
        text: the text that it was found in, without formatting.
        cue: the row that speaks for it most: ``box``, ``tag``, ``key``, ``answer``, ….
        support: the weight of that row.
        evidence: what else is known of it: names and weights.
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
        """The support of its cue and the weights of the evidence, summed up."""
        return self.support + sum(self.evidence.values())

    def discard(self, reason: str) -> None:
        """Let nothing speak for this candidate; the reason is shown among the evidence."""
        self.support = 0.0
        self.evidence.setdefault(reason, 0.0)


class Reading(NamedTuple):
    """What was read: the value, the cue it was found by, the candidates, and how certain it is (0 to 1)."""

    value: Any
    cue: str
    candidates: tuple[Candidate, ...] = ()
    certainty: float = 0.0

    @property
    def is_outright(self) -> bool:
        """Whether the value is stated outright."""
        return any(one.value == self.value and one.weight >= OUTRIGHT for one in self.candidates if self.value)


NOTHING = Reading(None, "none")


class Row(NamedTuple):
    """A row of a table: its name, its weight, and a pattern over notions that holds one candidate.

    A positive weight is a cue, of which the heaviest counts; a negative one is evidence, and all of it counts.
    """

    name: str
    weight: float
    pattern: str


def rows(table: str) -> tuple[Row, ...]:
    """A table, a row a line: ``70 answer: pattern``; ``L = …`` says what ``{L}`` stands for in the rows after it."""
    for name, source in re.findall(r"^(\w) = (.*)$", table, re.MULTILINE):
        table = table.replace(f"{{{name}}}", source)
    return tuple(
        Row(name, float(weight), source)
        for weight, name, source in re.findall(r"^(-?\d+) (.+?): (.*)$", table, re.MULTILINE)
    )


def weighed(table: Sequence[Row], symbols: Symbols) -> list[Candidate]:
    """The candidates of a text in their order, each with the rows that hold of it."""
    candidates = {
        at: Candidate(one.value, one.start, one.end, symbols.text, "mention", 0.0) for at, one in symbols.found.items()
    }
    for row in table:
        for match in pattern(row.pattern).finditer(symbols.symbols):
            one = candidates[match.start("at")]
            if row.weight < 0:
                one.evidence[row.name] = row.weight
            elif row.weight > one.support:
                one.cue, one.support = row.name, row.weight
    until = retracted_until(symbols)
    if not any(one.start > until and one.weight >= _ANOTHER for one in candidates.values()):
        until = retracted_until(symbols, "wait")  # a hesitation that ends in no other answer takes nothing back
    for one in candidates.values():
        if one.start < until:
            one.evidence["taken back"] = -60.0
    return list(candidates.values())


_ANOTHER = 20.0
"""From this weight on, what follows a hesitation is another answer."""


OUTRIGHT = 50.0
"""From this weight on, a candidate is stated outright: the table has nothing to say against it but a retraction."""


_OPEN_CERTAINTY = 0.89  # what a weak cue is at most


MARGIN = 12.0
"""What a weak cue has to weigh more than the next value's."""


def choose(candidates: Iterable[Candidate], open_cues: Sequence[str] = ()) -> Reading:
    """The heaviest candidate, the last of those that weigh the same; none without a positive weight.

    Args:
        candidates: in the order of the text.
        open_cues: cues too weak to decide between two values that weigh about the same.
    """
    every = tuple(candidates)
    supported = sorted(
        (one for one in every if one.support > 0 and one.weight > 0), key=lambda one: (-one.weight, -one.start)
    )
    if not supported:
        return Reading(None, "none", every)
    best = supported[0]
    rival = next((other.weight for other in supported if other.value != best.value), 0.0)
    if best.cue in open_cues and best.weight - rival < MARGIN:
        return Reading(None, "none", every)
    certain = certainty(best.weight, best.weight - rival)
    return Reading(best.value, best.cue, every, min(certain, _OPEN_CERTAINTY) if best.cue in open_cues else certain)


def certainty(weight: float, margin: float) -> float:
    """How often a reading of this weight and margin is right; calibrated in ``measurements/extraction.md``."""
    return 1 / (1 + math.exp(-(1.43 + 0.0498 * min(weight, 100) + 0.0261 * min(margin, 100))))
