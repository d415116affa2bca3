"""Recognise answers that declare necessary data missing, such as ``N/A``.

A number with a caveat is not such an answer.
"""

import re

from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.plain import tidied, unformatted
from medtasks_utils.extraction.words import symbols_of

from .no_result import lacks
from .values import read_value

_TOKEN = later(
    r"\W*(?:(?i:n\s?[/.]\s?a\.?|not (?:applicable|available|reported)|(?:unknown|undefined|indeterminate|undetermined)"
    r"(?=\W*$|[.,;:(–—-]))(?!\w)|NA\W*(?:\Z|[(:,;–—-]))"
)
_WITHIN = later(r"(?:^|[\s\"'“*:])(?:n\s?/\s?a|N\.A\.)(?!\w)(?!\s(?:is|if|for|would|points|only|[→(-]))", re.I)
_NUMBER_FIRST = later(r"[^\w]*(?:(?:about|approximately|roughly)\s)?\d", re.I)
_SHORT = 100  # maximum characters of a number with its caveat
_NAMES = later(  # common names that contain digits
    r"\b(?:CHA2DS2[-‑]?VASc|CURB[-‑]?65|FIB[-‑]?4|HCO3|PaO2|PaCO2|FiO2|SpO2|CO2|O2|T4|B12)\b", re.IGNORECASE
)


def states_not_available(text: str) -> bool:
    """Return whether a text, or the content of an answer tag or box, concludes that there is no answer.

    A text does so if it states that data are missing and states no value, or if it states after a value that the answer
    cannot be determined.

    >>> states_not_available("N/A"), states_not_available("The weight is missing. The rate cannot be calculated.")
    (True, True)
    >>> states_not_available("The score is 4, although the ECG is missing.")
    False
    >>> states_not_available("The score is 4, but the rate cannot be calculated.")
    True
    >>> states_not_available("The rate cannot be calculated from this alone, but the score is 4.")
    False
    """
    text = _NAMES.sub("it", unformatted(tidied(text))).strip()
    if _TOKEN.match(text):
        return True
    if _NUMBER_FIRST.match(text) and len(text) < _SHORT:
        return False
    symbols = symbols_of(text)
    reading = read_value(text, "decimal")
    if reading.value is None:
        reading = read_value(text, "date")
    last = max((match.start() for match in _WITHIN.finditer(text)), default=-1)
    if reading.value is None:
        return last >= 0 or lacks(symbols)
    stated = max((stating.start for stating in reading.stating), default=0)
    return last > stated or lacks(symbols, after=stated)
