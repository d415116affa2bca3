"""The words by which responses state, deny and take back an answer: tables by language, and patterns made of them.

A further language is a further line in each table; no reading knows one of its own.
"""

from __future__ import annotations

import re

from medtasks_utils.extraction.cues.choices import (
    ANSWER,
    CARDINALS,
    CHOOSE,
    CHOSEN_BEFORE,
    CORRECT,
    FILLER,
    LINK,
    NOT_BEFORE,
    OR,
    ORDERED,
    ORDINALS,
    REMAINS,
    SPOKEN,
    THEREFORE,
    UNLIKE_IT,
    WRONG_AFTER,
)
from medtasks_utils.extraction.cues.judgements import (
    FACTUAL,
    HALLUCINATED,
    JUDGED,
    NO,
    NO_AFTER,
    RIGHT,
    TO_SAY,
    UNSURE,
    WRONG,
)
from medtasks_utils.extraction.cues.quantities import (
    ABOUT,
    AND,
    CHECKED,
    COMPARED,
    DAYS,
    DERIVED,
    EARLIER,
    EQUALS,
    GIVEN,
    INPUT,
    LINKED,
    MONTHS,
    NORMAL,
    QUANTITY,
    RESULT,
    RISK,
    SUMMED,
    THAT_IS,
    TOTAL,
    WEEKS,
)
from medtasks_utils.extraction.cues.stance import BUT, RETRACTED, TENTATIVE

__all__ = [
    "ABOUT",
    "AND",
    "ANSWER",
    "BUT",
    "CARDINALS",
    "CHECKED",
    "CHOOSE",
    "CHOSEN_BEFORE",
    "COMPARED",
    "CORRECT",
    "DAYS",
    "DERIVED",
    "EARLIER",
    "EQUALS",
    "FACTUAL",
    "FILLER",
    "GIVEN",
    "HALLUCINATED",
    "INPUT",
    "JUDGED",
    "LINK",
    "LINKED",
    "MONTHS",
    "NO",
    "NORMAL",
    "NOT_BEFORE",
    "NO_AFTER",
    "OR",
    "ORDERED",
    "ORDINALS",
    "QUANTITY",
    "REMAINS",
    "RESULT",
    "RETRACTED",
    "RIGHT",
    "RISK",
    "SPOKEN",
    "SUMMED",
    "TENTATIVE",
    "THAT_IS",
    "THEREFORE",
    "TOTAL",
    "TO_SAY",
    "UNLIKE_IT",
    "UNSURE",
    "WEEKS",
    "WRONG",
    "WRONG_AFTER",
    "Cues",
    "any_word",
    "compiled",
    "either",
]

Cues = dict[str, str]


def either(cues: Cues) -> str:
    """One group of all languages' cues; a case-insensitive one, so that the letters around it keep their case."""
    return f"(?i:{'|'.join(cues.values())})"


def compiled(cues: Cues) -> re.Pattern[str]:
    """The same, compiled."""
    return re.compile(either(cues))


def any_word(cues: Cues) -> str:
    """One group of all languages' cues as whole words; scripts without spaces need none around them."""
    spaced = [cue for language, cue in cues.items() if language not in ("zh", "ja", "ko", "any")]
    joined = [cue for language, cue in cues.items() if language in ("zh", "ja", "ko", "any")]
    words = rf"(?<![^\W\d_])(?:{'|'.join(spaced)})(?![^\W\d_])"
    return f"(?i:{'|'.join([words, *joined])})"
