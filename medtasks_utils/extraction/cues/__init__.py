"""The words by which responses state, deny and take back an answer: tables by language, and patterns made of them.

A further language is a further line in each table (replies of one word stand by script); no reading knows one of its
own.
"""

from __future__ import annotations

import re

from medtasks_utils.extraction.cues.choices import *  # noqa: F403
from medtasks_utils.extraction.cues.dates import *  # noqa: F403
from medtasks_utils.extraction.cues.judgements import *  # noqa: F403
from medtasks_utils.extraction.cues.places import *  # noqa: F403
from medtasks_utils.extraction.cues.quantities import *  # noqa: F403
from medtasks_utils.extraction.cues.stance import *  # noqa: F403


def either(cues: dict[str, str]) -> str:
    """One group of all languages' cues; a case-insensitive one, so that the letters around it keep their case."""
    return f"(?i:{'|'.join(cues.values())})"


def compiled(cues: dict[str, str]) -> re.Pattern[str]:
    """The same, compiled."""
    return re.compile(either(cues))


def any_word(cues: dict[str, str]) -> str:
    """One group of all languages' cues as whole words; scripts without spaces need none around them."""
    spaced = [
        f"[وف]?ب?(?:ال)?(?:{cue})" if language == "ar" else cue
        for language, cue in cues.items()
        if language not in ("zh", "ja", "ko", "any")
    ]
    joined = [cue for language, cue in cues.items() if language in ("zh", "ja", "ko", "any")]
    words = rf"(?<![^\W\d_])(?:{'|'.join(spaced)})(?![^\W\d_])"
    return f"(?i:{'|'.join([words, *joined])})"
