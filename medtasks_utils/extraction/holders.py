r"""What holds an answer by its form: a box, an answer tag, a key of a JSON object; closed, or nearly right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.boxes import spans

_NEAR_BOX = re.compile(
    r"(?:\\?f?b|\x08|(?<!\w))ox(?:ed)?\s?(?:\{(?P<braced>[^{}\n]{1,80})\}|(?<=ed)\((?P<round>[A-Da-d]"
    r"|-?\d[\d.,/]{0,20})\)"
    r"|\{\s?(?P<half>[A-D0-2])\s?[)\]](?=\s)|(?<=\\boxed)\s(?P<bare>[A-Da-d](?![\w])|-?\d[\d.,/]{0,20}))"
)
_TAG = re.compile(
    r"<(?:final_?)?(?:answer|final|choice|result|verdict)>(?P<content>[^<]{0,2000})<[/\\](?:final_?)?(?:answer|final"
    r"|choice|result|verdict)>",
    re.IGNORECASE,
)
_ATTRIBUTE = r"<(?i:(?:final_?)?(?:answer|choice|select\w{2,3}|result))\s[^<>\n]{0,80}?=\s?[\"']"
_KEY = re.compile(
    r"(?P<quote>[\"'])(?P<key>[A-Za-z_ ]{2,40})(?P=quote)\s{0,3}:\s{0,3}"
    r"(?:\{\s{0,20}[\"'](?i:letter|option|label|id|key|value|verdict"
    r"|choice)[\"']\s{0,3}:\s{0,3})?(?:\"(?P<double>(?:[^\"\\\n]|\\.){0,400})\""
    r"|'(?P<single>(?:[^'\\\n]|\\.){0,400})'|(?P<bare>[^\s,}\"'\[{][^,}\n]{0,60}))"
)


_OTHER_KEY = re.compile(r"second|other|alternative|reject|exclu|wrong|incorrect|initial|previous|runner")
_NOT_THIS = re.compile(
    r"\b(?i:(?:al|even\s)?though|whereas|obwohl|bien\sque|aunque|embora"
    r"|sebbene)\s(?:\w{1,6}\s)?[$(\\]{0,4}boxed\s{0,8}\{$|(?:(?:\b|(?=n['’]t))(?:not|nor|nicht|pas|non|não|не|n['’]t"
    r"|rather\sthan"
    r"|instead\sof)\s(?:\w{1,6}\s)?|≠\s?)[$(\\]{0,4}boxed\s{0,8}\{"
    r"(?:[A-D]\}[$)\\]{0,2}(?:\s\([^()\n]{0,30}\))?,?\s(?:(?:or|nor|and)\s)?[$(\\]{0,4}boxed\s{0,8}\{){0,3}$"
)
# "I would have given \\boxed{1}": another box than the one that is meant.
_SUPPOSED = re.compile(rf"{cues.either(cues.COUNTERFACTUAL)}(?!\sto\s)[^.!?;\n]{{0,80}}boxed\s{{0,8}}\{{$")
# "The box in my draft read \\boxed{A}", "I first wrote \\boxed{1}": not the one that is meant, if there is another.
_FORMER = re.compile(
    rf"{cues.any_word(cues.FORMER)}(?:(?!stand|remain|hold|still|box)[^.!?;\n]){{0,60}}boxed\s{{0,8}}\{{$"
)
_A_SLIP = re.compile(
    r"\}[$)\\*]{0,5},?\s(?i:(?:which|that|but\sth(?:at|is))\s(?:was|is)\s(?:(?:an?|just|only)\s){0,2}(?:\w+\s)?(?:slip"
    r"|error|mistake"
    r"|typo|misprint|wrong|incorrect))\b"
)
_SENTENCE_END = re.compile(r"[.!?。…]\s|\n")


@dataclass(frozen=True)
class Holder:
    """A content that stands for an answer, its cue (``box``, ``tag``, ``key``) and weight, and the key's name."""

    content: str
    start: int
    end: int
    cue: str
    support: float
    key: str = ""


def held(text: str, keys: Sequence[str], token: str = "(?!)") -> tuple[list[Holder], str]:
    """The contents of boxes, tags and keys named so, and the text without its boxes and what an unclosed one holds.

    Args:
        text: the final text.
        keys: words that the name of an answer's key may hold (``final_answer`` holds ``answer``).
        token: an answer of one character, which a box at the end holds though it is never closed.
    """
    closed, unclosed = spans(text)
    before = {one: text[max(0, one[0] - 160) : one[0]] for one in closed}
    meant = [one for one in closed if not _NOT_THIS.search(before[one]) and not _A_SLIP.match(text, one[1])]
    for other in (_SUPPOSED, _FORMER) if len(meant) > 1 else ():
        meant = [one for one in meant if not other.search(before[one])] or meant
    found = [Holder(text[start:end], start, end, "box", 100 if _last(text, end, meant) else 98) for start, end in meant]
    rest, position = [], 0
    for start, end in closed:
        opening = text.rfind("\\boxed", position, start)
        rest.append(text[position : max(position, opening)])
        position = end + 1
    if unclosed is None or unclosed < position:
        rest.append(text[position:])
    else:
        rest += text[position:unclosed], *text[unclosed:].partition("\n")[1:]
    outside = " ".join(rest)
    if not closed:
        opened = re.search(rf"box(?:ed)?\s?\{{\s?(?:\\text\s?\{{)?(?P<braced>{token})[\s$*.)]{{0,4}}(?:\Z|\n)", text)
        found += [replace(_of(opened, "box", 97), start=len(text) - 1, end=len(text))] if opened else []
    if unclosed is None and not closed:
        found += [_of(match, "box", 98) for match in _NEAR_BOX.finditer(text)]
    found += [_of(match, "tag", 95) for match in _TAG.finditer(text)]
    found += [_of(match, "tag", 95) for match in re.finditer(rf"{_ATTRIBUTE}(?P<content>{token})[\"']", text)]
    for match in _KEY.finditer(text):
        name = match["key"].lower()
        if any(key in name for key in keys) and not _OTHER_KEY.search(name):
            found.append(_of(match, "key", 90, name))
    return found, outside


def _last(text: str, end: int, closed: Sequence[tuple[int, int]]) -> bool:
    """Whether a box that ends there is in the sentence of the last box."""
    return _SENTENCE_END.search(text, end, closed[-1][0]) is None


def _of(match: re.Match[str], cue: str, support: float, name: str = "") -> Holder:
    groups = match.groupdict()
    content = next(text for group, text in groups.items() if text is not None and group not in ("quote", "key"))
    return Holder(content, match.start(), match.end(), cue, support, name)
