"""Read gestational ages, by the rule of MedCalc-Bench's authors and in common notations."""

import re
from collections.abc import Iterator

from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.words import Mention, any_of

from .numbers import python_literal
from .quantities import in_words

WeeksDays = tuple[int, int]

# Two numbers with optional quotes, comma and unit words between them. If there is no second number, backtracking splits
# the first one ("29 weeks" is read as 2 and 9). This is kept, since published results were computed with it.
_STRICT = later(r"""(\d+)\s{0,50}(?:weeks?)?["']?,?\s{0,50}["']?(\d+)""")
_SIGNS = str.maketrans(dict.fromkeys("{}^~$`_*", " "))
_BRACKETS = str.maketrans({"[": "(", "]": ")", "'": None, '"': None})


def strict_weeks_days(text: str) -> WeeksDays | None:
    """Return the (weeks, days) that the authors' scorer finds; None if it finds none.

    White space in ``text`` must already be collapsed.
    """
    match = _STRICT.search(text) and _STRICT.search(text.translate(_BRACKETS))
    if not match:
        return None
    weeks, days = python_literal(match[1]), python_literal(match[2])
    return (int(weeks), int(days)) if weeks is not None and days is not None else None


# A written age. Its weeks and days are the groups w1 and d1 to w6 and d6, or a single group, weeks or days, if only one
# of the two is given.
_FORMS = (
    r"(?<![\d.])(?P<w1>\d{1,3})[\s-]{0,14}(?:completed\s)?(?:%(week)s)(?![A-Za-z])[\s,;&+'\"-]{0,20}(?:(?:%(and)s)\s{0,3}){0,2}"
    r"['\"]?(?P<d1>\d{1,3})[\s-]{0,14}(?:%(day)s)(?![A-Za-z])"
    r"|(?<![\d.])(?P<w2>\d{1,3})[wW](?P<d2>\d{1,2})[dD]?\b|(?<![\d.+])(?P<w3>\d{1,2})\s{0,3}\+\s?(?P<d3>[0-6])(?!\d|\.\d|\s?[+=])"
    r"|(?<![\d.])(?P<w4>\d{1,3})\s(?:weeks?\s)?(?:and\s)?(?P<d4>\d)/7(?!\d)"
    r"|[(\[]\s?['\"]?(?P<w5>\d{1,3})['\"]?\s?,\s?['\"]?(?P<d5>\d{1,2})['\"]?\s?[)\]]"
    r"|[\"']?(?:%(week)s)(?![A-Za-z])[\"']?\s?[:=]\s?(?P<w6>\d{1,3}),?\s{0,4}[\"']?(?:%(day)s)(?![A-Za-z])[\"']?\s?[:=]\s?"
    r"(?P<d6>\d{1,2})"
    r"|(?<![\d.])(?P<weeks>\d{1,3})[\s-]{0,14}(?:completed\s)?(?:%(week)s)(?![A-Za-z])"
    r"|(?<![\d.])(?P<days>\d{1,4})\s{0,14}(?:%(day)s)(?![A-Za-z])"
)
_WORD_CLASSES = ("week", "day", "and")
_WRITTEN = later(lambda: _FORMS % {word_class: any_of(word_class) for word_class in _WORD_CLASSES}, re.IGNORECASE)


def written_ages(text: str) -> Iterator[Mention]:
    """Yield the ages in a text, in forms such as "4 weeks and 3 days", "4w3d", "4+3", "4 3/7" and "(4, 3)".

    Weeks or days alone are weak mentions.
    """
    for word in in_words(text):
        text = f"{text[: word.start]}{word.value:<{word.end - word.start}.0f}{text[word.end :]}"
    for match in _WRITTEN.finditer(text.translate(_SIGNS)):
        if match["weeks"]:
            age, word_class = (int(match["weeks"]), 0), "weak"
        elif match["days"]:
            age, word_class = divmod(int(match["days"]), 7), "weak"
        else:
            weeks, days = (int(group) for name, group in match.groupdict().items() if group and name[0] in "wd")
            age, word_class = (weeks, days), "cand"
        yield Mention(age, match.start(), match.end(), word_class)
