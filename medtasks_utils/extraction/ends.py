"""The two ends of a long text, and whether it has an end."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

_HEAD, _TAIL = 2_000, 10_000  # characters


def both_ends(text: str) -> str:
    """The beginning and the end of a text, where answers are stated; a text of 12,000 characters comes back whole."""
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"


class CutOff(Enum):
    """Where a text breaks off."""

    IN_A_CALCULATION = "calculation"
    IN_WORDS = "words"


_OPEN_CALCULATION = re.compile(r"(?:[=+÷^√(\[{≈→−*/:,–-]|(?<![\u3040-\u9fff])×)\s*$")
_LEFT_OPEN = re.compile(
    r"\n[\s\d.,()+×÷*/^√−-]*\d\s[+×÷*/^−-]\s[\d(][\s\d.,()+×÷*/^√−-]*$"
    r"|(?:^|\n)(?!.*[=≈→]).*(?:\d\s?[×*÷]\s?[\d.]+|\d\.\d+\s/\s\d+|\d\s/\s\d+\.\d+|\d\s\+\s\d+)\)?$"
)
_OPEN_LIST = re.compile(r"(?:\b[^\W\d]\w{0,20}\s[+-]?\d{1,3},\s){2,8}[^\W\d][^\d\n.;:,]{0,30}$")
_OPEN_WORDS = re.compile(
    r"(?<![\w/])(?:the|an?|of|to|and|or|with|for|in|by|that|through|on|at|about|from|is|are|was|were|get|gets|than|as"
    r"|be|which|into|then|thus|therefore|hence|will|would|has|have|because|but|if|when|while|between|its|their|we|gives"
    r"|yields|der|die|das|und|mit|von|(?<!trifft\s)(?<!nicht\s)zu|ist|eine?n?|den|dem|für|auf|le|la|les|du|des?|et|à"
    r"|une?|est|pour|par|que|el|los|del|y|es|por|para|con|o|um|uma|é|com|il|di|è|per|che|и|в|на|с|по|для|что|от)\s*$"
)


@lru_cache(maxsize=8)
def cut_off(text: str) -> CutOff | None:
    """Whether a text breaks off before its end: in a calculation or list, or in the middle of a sentence.

    >>> cut_off("3855.6 × 0.85 ="), cut_off("The pulse adds two, and the"), cut_off("It is 9.7 mg/dL")
    (<CutOff.IN_A_CALCULATION: 'calculation'>, <CutOff.IN_WORDS: 'words'>, None)
    """
    last = text.rstrip()[-120:].rstrip("*_$\x01 \n")
    if _OPEN_CALCULATION.search(last) or _LEFT_OPEN.search(last) or _OPEN_LIST.search(last):
        return CutOff.IN_A_CALCULATION
    return CutOff.IN_WORDS if _OPEN_WORDS.search(last) and len(text.split()) > 3 else None
