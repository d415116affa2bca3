"""What stands around a number, date or age in a text that :func:`..quantities.prepared` gave."""

from __future__ import annotations

import re

from medtasks_utils.extraction.quantities import BOLD
from medtasks_utils.extraction.weighing import Candidate

_BEFORE = 90  # characters
_NO_ABBREVIATION = r"(?<!approx\.)(?<!aprox\.)(?<!resp\.)(?<!env\.)(?<!vs\.)(?<!ca\.)(?<!\.[a-z]\.)"
_SENTENCE_END = re.compile(
    r"\n|(?<=[\w)%²][.;!?])\s(?=[A-ZÀ-ÞА-Я\u0600-\u06ff\u0900-\u097f])|[。；！？]"
    rf"|(?:(?<=\d\.)|(?<=[a-z²%)]\.){_NO_ABBREVIATION})\s(?=\d|$)"
)


def before(candidate: Candidate) -> str:
    """The candidate's sentence up to it, without the marks of bold text."""
    stretch = candidate.text[max(0, candidate.start - _BEFORE) : candidate.start].replace(BOLD, "")
    return _SENTENCE_END.split(stretch)[-1]


def clause(candidate: Candidate) -> str:
    """The same from the last comma, bracket or "while" on."""
    return re.split(r"[,;(（،]\s?|\b(?:while|whereas|but|here|this\spatient|so)\b", before(candidate))[-1]


def after(candidate: Candidate) -> str:
    """What follows it in its line."""
    return candidate.text[candidate.end : candidate.end + _BEFORE].replace(BOLD, "").split("\n", 1)[0]
