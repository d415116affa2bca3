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
    EXCLUDE,
    FILLER,
    LINK,
    NOT_BEFORE,
    ONLY,
    OR,
    ORDERED,
    ORDINALS,
    REMAINS,
    SHOWN,
    SPOKEN,
    THEREFORE,
    UNLIKE_IT,
    WRONG_AFTER,
)
from medtasks_utils.extraction.cues.judgements import (
    COMMON,
    FACTUAL,
    HALLUCINATED,
    IF,
    JUDGED,
    MISTAKE,
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
    THAT_IS,
    TOTAL,
    WEEKS,
)
from medtasks_utils.extraction.cues.stance import ASIDE, BUT, COUNTERFACTUAL, RETRACTED, TENTATIVE, TOPIC

__all__ = [
    "ABOUT",
    "AND",
    "ANSWER",
    "ASIDE",
    "BUT",
    "CARDINALS",
    "CHECKED",
    "CHOOSE",
    "CHOSEN_BEFORE",
    "COMPARED",
    "CORRECT",
    "COMMON",
    "COUNTERFACTUAL",
    "DAYS",
    "DERIVED",
    "EARLIER",
    "EQUALS",
    "EXCLUDE",
    "FACTUAL",
    "FILLER",
    "GIVEN",
    "HALLUCINATED",
    "IF",
    "INPUT",
    "JUDGED",
    "LINK",
    "LINKED",
    "MISTAKE",
    "MONTHS",
    "NO",
    "NORMAL",
    "NOT_BEFORE",
    "NO_AFTER",
    "ONLY",
    "OR",
    "ORDERED",
    "ORDINALS",
    "QUANTITY",
    "REMAINS",
    "RESULT",
    "RETRACTED",
    "RIGHT",
    "RISK",
    "SHOWN",
    "SPOKEN",
    "TENTATIVE",
    "THAT_IS",
    "THEREFORE",
    "TOPIC",
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
