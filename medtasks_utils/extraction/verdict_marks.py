"""Verdicts that are marked or left over: a yes or no to each class or kind of hallucination, excluded classes."""

from __future__ import annotations

import re

from medtasks_utils.extraction.verdict_forms import FACTUAL, HALLUCINATED, UNSURE

_YES, _NO = r"☑|☒|[\[(][x✓✔][\])]", r"☐|[\[(]\s?[\])]"
_SHARE = r"(?<![\w.,])(?P<share>\d{1,3}(?:[.,]\d{1,4})?(?=\s?%)|[01][.,]\d{1,4})(?!\w|\s?of\b)"
_CLASS = (
    r"(?P<name>(?<![\w-])(?:fa[ck]tu[ae]l|faktisch|h?al+u[cz]in\w+|uns(?:ure|icher))|(?<![\w.,/-])[012](?![\w%.,]))"
)
_MARK_FIRST = re.compile(
    rf"(?:(?P<yes>{_YES})|{_NO}|{_SHARE}\s?%?(?:\s[^\s\d.]{{1,14}}){{0,5}}?)\s?(?:\w['’])?{_CLASS}"
)
_CLASS_FIRST = re.compile(
    rf"{_CLASS}[^\w\n☐☑☒✓✔✅✗✘❌\[]{{1,5}}(?:(?P<yes>{_YES}|[✓✔✅]|(?:yes|true)\b)|{_NO}|[✗✘❌]|(?:no|false)\b"
    rf"|{_SHARE})"
)
_KIND = re.compile(r"misint|misunder|incomplete|mechanis|methodolog|evidence(?=\sfab)|fabricat")
_FOUND = re.compile(
    r"(?P<no>does(?:\snot|n['’]t)\sapply|not\sapplicable|\bn/a|[:?|–-]\W{0,5}(?:no|none|absent|not\s\w+)\b)"
    r"|(?P<yes>[:?|–-]\W{0,5}(?:yes|present|detected|found)\b|☑)|(?P<cross>[✗✘❌])|(?P<tick>[✓✔✅])"
)
_CODE = r"(?<![\w.,/])(?:[012](?![\w%]|[.,/]\d)|(?:factual|hallucinated|unsure)\b)"
_NAMED = r"(?:the\s|an?\s)?(?:(?:codes?|labels?|class(?:es)?|options?|categor(?:y|ies)|códigos?|codic[ie])\s)?"
_CODES = rf"{_CODE}(?:,?\s?(?:and|or|nor|und|et|y|e|oder|和|と)\s?(?:not\s)?(?:for\s)?{_NAMED}{_CODE})?"
_EXCLUDED = re.compile(
    rf"\b(?:neither|nor|no(?=\s[012]\b)|rul(?:es?|ed|ing)\sout|exclud(?:e|es|ed|ing)|(?:no|not\sa)\s(?:case|need|room"
    rf"|ground)s?\sfor|not(?:\s(?:\w+\s)?for)?|kein\sfall\sfür)\s{_NAMED}{_CODES}(?=\W*(?:$|[.,;!\n])|\s(?:from\sme"
    rf"|fits?|appl|can|would|is|in|either))|{_CODES}(?:,?\s(?:\w+\s){{0,3}}?(?:(?:not|n['’]t)\s(?:apply|fit|needed)"
    rf"|excluded|ruled\sout"
    r"|out\sof\sthe\squestion|unjust|nicht\sin\sfrage|scheide|(?:à|da)\s(?:exclure|escludere)|ist\s(?:\w+\s)?nicht)"
    r"|都?不适用|[.,;]\s(?:but\s)?i\s(?:\w+ly\s)?(?:disagree|do(?:n['’]t|\snot)\s(?:agree|share)))"
)
_CLASSES = {**dict.fromkeys("f0", FACTUAL), **dict.fromkeys("ha1", HALLUCINATED), **dict.fromkeys("u2", UNSURE)}


def marked(plain: str) -> list[tuple[str, float]]:
    """What a text in lower case marks, with its weight: one class of several, kinds as found or not, classes excluded.

    >>> marked("factual ☐ hallucinated ☑ unsure ☐"), marked("not 0, not 1."), marked("factual: 80 %, unsure: 20 %")
    ([('1', 64)], [('2', 36)], [('0', 64)])
    """
    found = (_ticked(plain), 64), (_of_kinds(plain), 30), (_left_over(plain), 36)
    return [(value, support) for value, support in found if value is not None]


def _ticked(plain: str) -> str | None:
    """The one class that is ticked, or that has the greatest share, where several have a mark."""
    before = list(_MARK_FIRST.finditer(plain)) if re.search(r"[☐☑☒%]|[\[(][x✓✔\s\])]|[01][.,]\d", plain) else []
    after = list(_CLASS_FIRST.finditer(plain))
    marks = {}
    for one in before if before and (not after or before[0].start() < after[0].start()) else after:
        marks[_CLASSES[one["name"][0]]] = 100 if one["yes"] else float((one["share"] or "0").replace(",", "."))
    decided = len(set(marks.values())) > 1 and round(sum(marks.values()), 1) in (1, 100)
    return max(marks, key=lambda one: marks[one]) if decided else None


def _of_kinds(plain: str) -> str | None:
    """Factual where each of three kinds or more is denied; ticks or crosses alone mean the same; both do not."""
    kinds = list(_KIND.finditer(plain))
    found = {}
    for kind, end in zip(kinds, [*(one.start() for one in kinds[1:]), len(plain)], strict=False):
        if mark := _FOUND.search(plain, kind.end(), min(end, kind.end() + 300)):
            found[kind[0]] = mark.lastgroup
    if len(found) < 3:
        return None
    return FACTUAL if len(set(found.values())) == 1 and "yes" not in found.values() else HALLUCINATED


def _left_over(plain: str) -> str | None:
    """The class that is left when the others are excluded; an excluded 0 or 1 alone leaves the other of the two."""
    names = re.findall(r"[012]|factual|hallucinated|unsure", " ".join(one[0] for one in _EXCLUDED.finditer(plain)))
    excluded = {_CLASSES[name[0]] for name in names}
    left = [one for one in (FACTUAL, HALLUCINATED, UNSURE) if one not in excluded]
    return left[0] if left and excluded - {UNSURE} and (names[0] < "a" or UNSURE in excluded) else None
