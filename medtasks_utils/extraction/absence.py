"""Whether an answer says that the note lacks what is needed: ``N/A`` and its kin; a number with a caveat is none."""

import re

from . import nothing
from .patterns import later
from .plain import both_ends, tidied, unformatted
from .values import content_value, read_value
from .words import symbols_of

_TOKEN = later(
    r"\W*(?:(?i:n\s?[/.]\s?a\.?|not (?:applicable|available|reported)|(?:unknown|undefined|indeterminate|undetermined)"
    r"(?=\W*$|[.,;:(–—-]))(?!\w)|NA\W*(?:\Z|[(:,;–—-]))"
)
_SAID = later(r"(?:^|[\s\"'“*:])(?:n\s?/\s?a|N\.A\.)(?!\w)(?!\s(?:is|if|for|would|points|only|[→(-]))", re.I)
_STARTS = later(r"[^\w]*(?:(?:about|approximately|roughly)\s)?\d", re.I)
_SHORT = 100  # characters of a number with its caveat
_NAMES = later(r"\b(?:CHA2DS2[-‑]?VASc|CURB[-‑]?65|FIB[-‑]?4|HCO3|PaO2|PaCO2|FiO2|SpO2|CO2|O2|T4|B12)\b", re.IGNORECASE)


def says_not_available(content: str) -> bool:
    """Whether the text inside an answer tag or box says that there is no answer.

    >>> says_not_available("N/A"), says_not_available("cannot be determined"), says_not_available("24.5 (weight n/a)")
    (True, True, False)
    """
    text = _plain(content)
    if _TOKEN.match(text):
        return True
    if _STARTS.match(text):
        return False
    return (nothing.lacks(symbols_of(text, ())) or _SAID.search(text) is not None) and content_value(
        text, "decimal"
    ).value is None


def states_not_available(text: str) -> bool:
    """Whether a text ends in saying so: nothing but a lack is stated, or after a number that it cannot be had.

    >>> states_not_available("The weight is missing. The rate cannot be calculated.")
    True
    >>> states_not_available("The score is 4, although the ECG is missing.")
    False
    """
    text = _plain(text)
    if _TOKEN.match(text):
        return True
    if _STARTS.match(text) and len(text) < _SHORT:
        return False
    symbols = symbols_of(text, ())
    reading = read_value(text, "decimal")
    if reading.value is None:
        reading = read_value(text, "date")
    said = max((match.start() for match in _SAID.finditer(text)), default=-1)
    if reading.value is None:
        return said >= 0 or nothing.lacks(symbols)
    at = max((one.start for one in reading.candidates if one.value == reading.value), default=0)
    return said > at or nothing.lacks(symbols, after=at)


def _plain(text: str) -> str:
    return _NAMES.sub("it", unformatted(tidied(both_ends(text)))).strip()
