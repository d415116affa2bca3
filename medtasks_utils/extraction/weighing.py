"""Candidates for an answer, the evidence for and against each, and the choice between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from medtasks_utils.extraction import cues

_Match = TypeVar("_Match")
_RETRACTED = cues.compiled(cues.RETRACTED)

REACH = 80  # characters around a candidate that evidence is looked for in
_ENDED = re.compile(r"(?s).*(?:[\n;。！？]|[!?](?!['\")]{0,2},)|\.(?= ))")  # "…?", he said" goes on


@dataclass(frozen=True)
class Candidate:
    """A value that a response may state.

    Attributes:
        value: what scoring compares.
        start, end: where it stands in ``text``.
        text: the text that it was found in, without formatting.
        cue: the kind of statement: ``box``, ``tag``, ``key``, ``answer``, ``choose``, ….
        support: the weight of that cue.
        evidence: what speaks for or against it besides: a rule's name and weight.
        asked: the question, where it is at hand.
    """

    value: Any
    start: int
    end: int
    text: str
    cue: str
    support: float
    evidence: tuple[tuple[str, float], ...] = field(default=())
    asked: str = ""

    @property
    def weight(self) -> float:
        """The support of its cue and the weights of the evidence, summed up."""
        return self.support + sum(weight for _, weight in self.evidence)

    @property
    def before(self) -> str:
        """What stands before it in its sentence, up to 80 characters."""
        start = max(0, self.start - REACH)
        stretch = self.text[start : self.start]
        ended = _ENDED.match(stretch)
        return stretch[ended.end() :] if ended else stretch

    @property
    def after(self) -> str:
        """What follows it in its line, up to 80 characters."""
        return self.text[self.end : self.end + REACH].split("\n", 1)[0]


class Found(NamedTuple):
    """A number, date or age in a text: its value, where it stands, and whether it is a number written as a word."""

    value: Any
    start: int
    end: int
    is_word: bool = False


Rule = Callable[[Candidate], bool]


@dataclass(frozen=True)
class Reading:
    """What was read: the value, the cue it was found by, and the candidates it was chosen from."""

    value: Any
    cue: str
    candidates: tuple[Candidate, ...] = ()


NOTHING = Reading(None, "none")


@lru_cache(maxsize=8)
def taken_back_until(text: str) -> int:
    """Where the last words stand that take back what was stated before them; -1 for none.

    >>> taken_back_until("It is A. Wait, it is B."), taken_back_until("It is A.")
    (9, -1)
    """
    return max((match.start() for match in _RETRACTED.finditer(text)), default=-1)


_MARGIN = 0.6
_MANY, _FIRST = 200, 50


def bounded(matches: Iterable[_Match]) -> list[_Match]:
    """The first 50 and the last 150 of many matches: no honest text states more."""
    every = list(matches)
    return every if len(every) <= _MANY else [*every[:_FIRST], *every[_FIRST - _MANY :]]


def weigh(candidate: Candidate, rules: Sequence[tuple[Rule, float]]) -> Candidate:
    """The candidate with the evidence of every rule that holds of it."""
    found = tuple((rule.__name__, weight) for rule, weight in rules if rule(candidate))
    return replace(candidate, evidence=candidate.evidence + found)


def choose(candidates: Iterable[Candidate], mentions: Sequence[str] = ()) -> Reading:
    """The best supported candidate, the last of those that are supported alike; none if none has support.

    A statement supersedes the ones before it, a mere mention does not: of cues named in ``mentions``, two values with
    about the same weight leave it open.
    """
    every = tuple(candidates)
    supported = sorted((one for one in every if one.weight > 0), key=lambda one: (-one.weight, -one.start))
    if not supported:
        return Reading(None, "none", every)
    best = supported[0]
    rivals = {str(other.value) for other in supported if other.weight > best.weight - _MARGIN}
    if best.cue in mentions and len(rivals) > 1:
        return Reading(None, "none", every)
    return Reading(best.value, best.cue, every)
