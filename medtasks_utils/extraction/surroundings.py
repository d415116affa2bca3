"""What stands around a number, date or age in a text that :func:`..quantities.prepared` gave."""

from __future__ import annotations

import re
from functools import lru_cache

from medtasks_utils.extraction.quantities import BOLD
from medtasks_utils.extraction.weighing import Candidate

_BEFORE = 90  # characters
_NO_ABBREVIATION = (
    r"(?<!approx\.)(?<!aprox\.)(?<!resp\.)(?<!env\.)(?<!vs\.)(?<!ca\.)(?<!bzw\.)(?<![Nn][or]\.)(?<!\.[a-z]\.)"
)
_SENTENCE_END = re.compile(
    r"\n|(?<=[\w)%²][.;!?])\s(?=[A-ZÀ-ÞА-Я\u0600-\u06ff\u0900-\u097f])|[。；！？]"
    rf"|(?:(?<=\d\.)|(?<=[a-z²%)]\.){_NO_ABBREVIATION})\s(?=\d|$)"
)
_CLAUSE_START = re.compile(r"[,;(（،]\s?|\b(?:while|whereas|but|here|this\spatient|so)\b")


def before(candidate: Candidate) -> str:
    """The candidate's sentence up to it, without the marks of bold text."""
    return _sentence_before(candidate.text, candidate.start)


def clause(candidate: Candidate) -> str:
    """The same from the last comma, bracket or "while" on."""
    return _clause_before(before(candidate))


def after(candidate: Candidate) -> str:
    """What follows it in its line."""
    return _line_after(candidate.text, candidate.end)


# Every rule of evidence asks for the same stretches of the same candidate.


@lru_cache(maxsize=8)
def _sentence_before(text: str, start: int) -> str:
    return _SENTENCE_END.split(text[max(0, start - _BEFORE) : start].replace(BOLD, ""))[-1]


@lru_cache(maxsize=8)
def _clause_before(sentence: str) -> str:
    return _CLAUSE_START.split(sentence)[-1]


@lru_cache(maxsize=8)
def _line_after(text: str, end: int) -> str:
    return text[end : end + _BEFORE].replace(BOLD, "").split("\n", 1)[0]
