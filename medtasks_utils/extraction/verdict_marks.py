"""Verdicts that are marked or left over: a yes or no to each class or kind of hallucination, classes that are excluded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from medtasks_utils.extraction.verdict_forms import FACTUAL, HALLUCINATED, UNSURE, Stated

_YES, _NO = r"☑|☒|[\[(][x✓✔][\])]", r"☐|[\[(]\s?[\])]"
_CLASS = r"(?P<name>(?<![\w-])(?:factual|hallucinat(?:ed|ion)|unsure|uncertain)|(?<![\w.,/-])[012](?![\w%]))"
_BOX_FIRST = re.compile(rf"(?:(?P<yes>{_YES})|{_NO})\s?{_CLASS}")
_CLASS_FIRST = re.compile(
    rf"{_CLASS}[^\w\n☐☑☒✓✔✅✗✘❌\[(]{{1,5}}(?:(?P<yes>{_YES}|[✓✔✅]|(?:yes|true)\b)|{_NO}|[✗✘❌]|(?:no|false)\b)"
)
_KIND = re.compile(r"misint|misunder|incomplete|mechanis|methodolog|evidence(?=\sfab)|fabricat")
_FOUND = re.compile(
    r"(?P<no>does(?:\snot|n['’]t)\sapply|not\sapplicable|\bn/a|[:?|–-]\W{0,5}(?:no|none|absent|not\s\w+)\b)"
    r"|(?P<yes>[:?|–-]\W{0,5}(?:yes|present|detected|found)\b|☑)|(?P<cross>[✗✘❌])|(?P<tick>[✓✔✅])"
)
_CODE = (
    r"(?:\b(?:codes?|labels?|class(?:es)?|options?|categor(?:y|ies)|códigos?|codic[ie])\s)?(?:(?<![\w.,/])[012](?![\w%]"
    r"|[.,/]\d)|\b(?:factual|hallucinated|unsure)\b)"
)
_CODES = (
    rf"(?:the\s|an?\s)?{_CODE}(?:,?\s?(?:and|or|nor|und|et|y|e|oder|和|と)\s?(?:not\s)?(?:for\s|the\s|an?\s)?{_CODE})?"
)
_EXCLUDED = re.compile(
    rf"(?:\b(?:neither|nor|rul(?:es?|ed|ing)\sout|exclud(?:e|es|ed|ing)|(?:no|not\sa)\s(?:case|need|room|ground)s?\sfor"
    rf"|not(?:\s(?:\w+\s)?for)?|kein\sfall\sfür)\s{_CODES}(?=\W*(?:$|[.,;!\n])|\s(?:fits?|appl|can|would|is|in|either))"
    rf"|{_CODES},?\s(?:\w+\s){{0,3}}?(?:(?:not|n['’]t)\s(?:apply|fit|needed)|excluded|ruled\sout|out\sof\sthe\squestion"
    rf"|unjust|nicht\sin\sfrage|scheide|(?:à|da)\s(?:exclure|escludere)|ist\s(?:\w+\s)?nicht)|{_CODES}都?不适用"
    rf"|{_CODES}[.,;]\s(?:but\s)?i\s(?:\w+ly\s)?(?:disagree|do(?:n['’]t|\snot)\s(?:agree|share)))"
)
_CLASSES = {"f": FACTUAL, "0": FACTUAL, "h": HALLUCINATED, "1": HALLUCINATED, "u": UNSURE, "2": UNSURE}


def marked(plain: str) -> Iterator[Stated]:
    """What a text in lower case marks: one class of several, kinds of hallucination as found or not, classes excluded.

    >>> [one.value for one in marked("factual ☐ hallucinated ☑ unsure ☐")], [one.value for one in marked("not 0, not 1.")]
    (['1'], ['2'])
    """
    found = (_ticked(plain), 64), (_of_kinds(plain), 30), (_left_over(plain), 36)
    return (Stated(value, 0, 0, support) for value, support in found if value is not None)


def _ticked(plain: str) -> str | None:
    before, after = list(_BOX_FIRST.finditer(plain)), list(_CLASS_FIRST.finditer(plain))
    first = before if before and (not after or before[0].start() < after[0].start()) else after
    marks = {_CLASSES[match["name"][0]]: bool(match["yes"]) for match in first}
    return max(marks, key=lambda one: marks[one]) if len(marks) > 1 and sum(marks.values()) == 1 else None


def _of_kinds(plain: str) -> str | None:
    """Factual where each of three kinds or more is denied; ticks and crosses mean either, but differ where one holds."""
    kinds = list(_KIND.finditer(plain))
    ends = [*(kind.start() for kind in kinds[1:]), len(plain)]
    found = {
        kind[0]: mark.lastgroup
        for kind, end in zip(kinds, ends, strict=False)
        if (mark := _FOUND.search(plain, kind.end(), min(end, kind.end() + 300)))
    }
    if len(found) < 3:
        return None
    return FACTUAL if len(set(found.values())) == 1 and "yes" not in found.values() else HALLUCINATED


def _left_over(plain: str) -> str | None:
    """The class that is left when the others are excluded; an excluded 0 or 1 alone leaves the other of the two."""
    names = {
        name
        for found in _EXCLUDED.finditer(plain)
        for name in re.findall(r"[012]|factual|hallucinated|unsure", found[0])
    }
    excluded = {_CLASSES[name[0]] for name in names}
    left = [one for one in (FACTUAL, HALLUCINATED, UNSURE) if one not in excluded]
    return left[0] if left and excluded - {UNSURE} and (len(names) > 1 or min(names) < "a") else None
