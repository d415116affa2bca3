"""Weigh the candidates in a text by the rows of a reading table, and choose the one that the text states."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .nothing import retracted_until
from .words import Symbols


@dataclass(eq=False)
class Candidate:
    """A value that a response may state as its answer.

    Attributes:
        value: the value that scoring compares.
        start, end: the candidate's position in ``text``.
        text: the text that contains the candidate, without formatting.
        cue: the name of the matching row with the highest weight, or ``box``, ``tag`` or ``key``.
        support: the weight of that cue.
        evidence: names and weights of other reasons for or against the candidate.
    """

    value: Any
    start: int
    end: int
    text: str
    cue: str
    support: float
    evidence: dict[str, float] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """The sum of the support and the weights of the evidence."""
        return self.support + sum(self.evidence.values())

    def discard(self, reason: str) -> None:
        """Set the support to 0, and record the reason in the evidence."""
        self.support = 0.0
        self.evidence.setdefault(reason, 0.0)


class Reading(NamedTuple):
    """The answer read in a text: its value (None if none was found), cue, candidates and certainty (0 to 1)."""

    value: Any
    cue: str
    candidates: tuple[Candidate, ...] = ()
    certainty: float = 0.0

    @property
    def stating(self) -> list[Candidate]:
        """The candidates that have the reading's value."""
        return [candidate for candidate in self.candidates if candidate.value == self.value]

    @property
    def words(self) -> str:
        """The words that state the value, and the words before them on the line; empty if there are none."""
        stating = [candidate for candidate in self.stating if candidate.support > 0]
        if not stating:
            return ""
        best = max(stating, key=lambda candidate: (candidate.weight, candidate.start))
        before = best.text[max(0, best.start - _WORDS_BEFORE) : best.start].rpartition("\n")[2]
        return before + best.text[best.start : best.end][:_WORDS_BEFORE]


_WORDS_BEFORE = 48  # maximum characters of the preceding words, and of those that state the value

NOTHING = Reading(None, "none")


class Row(NamedTuple):
    """A row of a reading table.

    A row with a positive weight is a cue; of the matching cues, only the one with the highest weight counts. Rows with
    a negative weight are evidence against the candidate; all matching ones count.

    Attributes:
        name: the name of the cue or evidence.
        weight: the weight, positive for a cue and negative for evidence.
        pattern: a pattern of words around one candidate.
        value: the answer that the row leads to in the example, as text; ``none`` for no answer.
        example: a short text that needs the row.
    """

    name: str
    weight: float
    pattern: str
    value: str
    example: str


_ROW = re.compile(r"^(-?\d+) (.+?): (.*)\n +(.+?): (.*)$", re.MULTILINE)
_PART = re.compile(r"^([a-z ]+?) = (.*)$", re.MULTILINE)
_CANDIDATE = re.compile("<[^<>]+>")


def rows(table: str) -> tuple[Row, ...]:
    r"""Parse a reading table, whose language ``docs/reading.md`` describes.

    Raises:
        ValueError: for a line that is not a row, example or part of a pattern, a part that is not defined, and a row
            that does not have exactly one candidate.

    >>> [row] = rows("70 answer: answer {is} <cand>\n    C: The answer is C.\nis = [is colon]+")
    >>> row.name, row.weight, row.pattern, row.value, row.example
    ('answer', 70.0, 'answer ([is colon]+) <cand>', 'C', 'The answer is C.')
    """
    rest = _PART.sub("", _ROW.sub("", table)).strip()
    if rest:
        raise ValueError(f"neither a row with its example nor a part of a pattern: {rest}")
    parts = dict(_PART.findall(table))

    def filled(pattern: str) -> str:
        return re.sub(r"\{([a-z ]+)\}", lambda part: f"({filled(parts[part[1]])})", pattern)

    parsed = []
    for weight, name, pattern, value, example in _ROW.findall(table):
        try:
            row = Row(name, float(weight), filled(pattern), value, example.replace(r"\n", "\n"))
        except KeyError as error:
            raise ValueError(f"the row {name}: the part {error} is not defined") from None
        number = len(_CANDIDATE.findall(row.pattern))
        if number != 1:
            raise ValueError(f"the row {name} has {number} candidates in <>, not one: {pattern}")
        parsed.append(row)
    return tuple(parsed)


def weighed(table: Sequence[Row], symbols: Symbols) -> list[Candidate]:
    """Return the candidates of a text in order, weighed by the rows of a table and by retractions."""
    candidates = {
        at: Candidate(mention.value, mention.start, mention.end, symbols.text, "mention", 0.0)
        for at, mention in symbols.mentions.items()
    }
    for row in table:
        for match in symbols.matches(row.pattern):
            candidate = candidates[match.start("at")]
            if row.weight < 0:
                candidate.evidence[row.name] = row.weight
            elif row.weight > candidate.support:
                candidate.cue, candidate.support = row.name, row.weight
    until = retracted_until(symbols)
    if not any(candidate.start > until and candidate.weight >= _ANOTHER for candidate in candidates.values()):
        until = retracted_until(symbols, "wait")  # a hesitation retracts only if an answer follows it
    for candidate in candidates.values():
        if candidate.start < until:
            candidate.evidence["taken back"] = -60.0
    return list(candidates.values())


_ANOTHER = 20.0
"""Minimum weight for a candidate after a hesitation to count as a different answer."""

OUTRIGHT = 50.0
"""Minimum weight of a candidate that is stated outright."""

MARGIN = 12.0
"""Minimum margin in weight over all other values for a clear choice; a value with an open cue requires it."""

CERTAINTIES = (
    (100, 0.714, 0.998),
    (70, 0.882, 0.997),
    (52, 0.965, 0.994),
    (30, 0.700, 0.951),
    (0, 0.667, 0.945),
)
"""Minimum weights, each with two certainties: with and without a competing value within :data:`MARGIN`. ``--fit`` of
``measurements/extraction.py`` prints these rows."""


def choose(candidates: Iterable[Candidate], open_cues: Sequence[str] = ()) -> Reading:
    """Return the reading with the highest-weighted candidate, the last one on a tie.

    If no candidate has support and a positive weight, the reading has no value. This is also so if the best candidate's
    cue is one of ``open_cues``, and its lead over all other values is below :data:`MARGIN`.
    """
    candidates = tuple(candidates)
    nothing = NOTHING._replace(candidates=candidates)
    supported = [candidate for candidate in candidates if candidate.support > 0 and candidate.weight > 0]
    if not supported:
        return nothing
    best = max(supported, key=lambda candidate: (candidate.weight, candidate.start))
    rival = max((other.weight for other in supported if other.value != best.value), default=0.0)
    margin = best.weight - rival
    if best.cue in open_cues and margin < MARGIN:
        return nothing
    return Reading(best.value, best.cue, candidates, certainty(best.weight, margin))


def certainty(weight: float, margin: float) -> float:
    """Return the estimated probability that a reading with this weight and margin is correct.

    ``margin`` is the lead in weight over the best different value. A reading of a text without an answer counts as
    wrong.

    >>> certainty(20, 0), certainty(20, 20), certainty(55, 0), certainty(100, 100)
    (0.667, 0.945, 0.965, 0.998)
    """
    contested, clear = next(row[1:] for row in CERTAINTIES if weight >= row[0])
    return contested if margin < MARGIN else clear
