"""Gestational ages in weeks and days: as MedCalc-Bench's authors read them, and as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.numbers import python_literal
from medtasks_utils.extraction.numerals import spelled_numbers
from medtasks_utils.extraction.weighing import Found

WeeksDays = tuple[int, int]

# Two numbers with optional quotes, comma and unit words between them. Backtracking splits one number in two where
# there is no second ("29 weeks" reads as 2 and 9): the published numbers were made with that.
_STRICT = re.compile(r"""(\d+)\s{0,50}(?:weeks?)?["']?,?\s{0,50}["']?(\d+)""")
_BRACKETS = str.maketrans({"[": "(", "]": ")", "'": None, '"': None})

_W, _D, _AND = (cues.either(table) for table in (cues.WEEKS, cues.DAYS, cues.AND))
_END = r"(?![A-Za-z])"
_WRITTEN = re.compile(
    rf"(?<![\d.])(?P<w1>\d{{1,3}})[\s-]{{0,14}}(?:completed\s)?{_W}{_END}[\s,;&+'\"]{{0,20}}(?:{_AND}\s{{0,3}}(?:0?\.\d{{1,6}}\s?[×*x]\s?7\s?[=≈]\s?)?)?['\"]?"
    rf"(?P<d1>\d{{1,3}})[\s-]{{0,14}}{_D}{_END}"
    r"|(?<![\d.])(?P<w2>\d{1,3})[wW](?P<d2>\d{1,2})[dD]?\b|(?<![\d.])(?P<w3>\d{1,3})\s{0,3}\+\s?(?P<d3>\d)(?!\d|\.\d)"
    r"|(?<![\d.])(?P<w4>\d{1,3})\s(?:weeks?\s)?(?:and\s)?(?P<d4>\d)/7(?!\d)"
    r"|[(\[]\s?['\"]?(?P<w5>\d{1,3})['\"]?\s?,\s?['\"]?(?P<d5>\d{1,2})['\"]?\s?[)\]]"
    rf"|[\"']?{_W}[\"']?\s?[:=]\s?(?P<w6>\d{{1,3}}),?\s{{0,4}}[\"']?{_D}[\"']?\s?[:=]\s?(?P<d6>\d{{1,2}})"
    rf"|(?<![\d.])(?P<weeks>\d{{1,3}})[\s-]{{0,14}}(?:completed\s)?(?i:weeks?|wks?|wochen?|semaines?|semanas?"
    rf"|settiman[ae]|недел[яьюи]|周|週)\b"
    r"|(?<![\d.])(?P<days>\d{1,4})\s{0,14}(?i:days?|tagen?|jours|días|dias|giorni|дн(?:я|ей)|天)\b"
)
_MARKUP = re.compile(r"[*_`${}^~\x01]|\\(?:boxed|text|mathrm|textbf|[,;:! ])|\n")
_COUNTED = re.compile(rf"\s(?:completed\s)?(?:{_W}|{_D}){_END}|\s?[周週天]")


def strict_weeks_days(text: str) -> WeeksDays | None:
    """(weeks, days) as the authors' scorer reads them; ``text`` has no runs of white space."""
    match = _STRICT.search(text) and _STRICT.search(text.translate(_BRACKETS))
    if not match:
        return None
    weeks, days = python_literal(match[1]), python_literal(match[2])
    return (int(weeks), int(days)) if weeks is not None and days is not None else None


def written_ages(text: str) -> Iterator[Found]:
    """The ages in a text: "4 weeks and 3 days", "4w3d", "4+3", "4 3/7", "(4, 3)" and their kin, weeks or days alone."""
    for word in list(spelled_numbers(text, counted=True)):
        if word.value >= 0 and _COUNTED.match(text, word.end):
            text = f"{text[: word.start]}{word.value:<{word.end - word.start}.0f}{text[word.end :]}"
    text = _MARKUP.sub(lambda match: " " * len(match[0]), text)
    for match in _WRITTEN.finditer(text):
        if match["weeks"]:
            age = (int(match["weeks"]), 0)
        elif match["days"]:
            age = divmod(int(match["days"]), 7)
        else:
            weeks, days = (int(group) for name, group in match.groupdict().items() if group and name[0] in "wd")
            age = (weeks, days)
        yield Found(age, match.start(), match.end())
