r"""What holds an answer by its form: a box, an answer tag, a key of a JSON object; closed, or nearly right."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from .boxes import spans
from .patterns import later
from .plain import asks_again, own_parts, stated, tidied
from .weighing import NOTHING, Candidate, Reading

_NEAR_BOX = later(
    r"(?:\\?f?b|\x08|(?<!\w))ox(?:ed)?\s?(?:\{(?P<braced>[^{}\n]{1,80})\}|(?<=ed)\((?P<round>[A-Da-d]|-?\d[\d.,/]{0,20})\)"
    r"|\{\s?(?P<half>[A-D0-2])\s?[)\]](?=\s)|(?<=\\boxed)\s(?P<bare>[A-Da-d](?!\w)|-?\d[\d.,/]{0,20}))"
)
_TAG = later(
    r"<(?P<name>(?:final_?)?(?:answer|final|choice|result|verdict|score|value))>(?P<content>[^<]{0,2000})<[/\\](?P=name)>",
    re.IGNORECASE,
)
_KEY = later(
    r"(?P<quote>[\"'])(?P<key>[A-Za-z_ ]{2,40})(?P=quote)\s{0,3}:\s{0,3}"
    r"(?:\{\s{0,20}[\"'](?:letter|option|label|id|key|value|verdict|choice)[\"']\s{0,3}:\s{0,3})?"
    r"(?:\"(?P<double>(?:[^\"\\\n]|\\.){0,400})(?:\"|\Z)|'(?P<single>(?:[^'\\\n]|\\.){0,400})'"
    r"|(?P<bare>[^\s,}\"'\[{][^,}\n]{0,60}))",
    re.IGNORECASE,
)
_OTHER_KEY = later(
    r"second|other|alternative|reject|exclu|wrong|incorrect|initial|previous|runner|confidence|max|min(?!ut)|thresh|cut"
    r"|limit|normal|refer|range|possible|prior|reason|step|explan|rationale|analysis"
)
# What stands before a box that only shows the form asked for.
_SHOWN = later(
    r"(?:for\s(?:example|instance)|e\.\s?g\.|such\sas|looks?\slike|like\sthis|in\sthe\sform(?:at)?(?:\sof)?|as\sin"
    r"|z\.\s?B\.|par\sexemple|por\sejemplo|例如|would\s(?:then\s)?(?:write|read|put|be))[\s,:$(]{0,4}$"
    r"|(?:^|[.!?\n]\s*|please\s|\b(?:and|then)\s)(?:reply|respond|answer|put|write|give|place|enclose|return|output|provide"
    r"|state|present|end|finish)\s(?:with|only|in|using|your|it)\b[^.!?\n:]{0,80}$"
    r"|\b(?:your|Ihre|votre|tu|su|sua)\s(?:final\s)?(?:answer|choice|value|verdict|response)\b[^.!?\n:]{0,40}$",
    re.IGNORECASE,
)
_SHOWN_AFTER = later(
    r"[^\w\n.!?]{0,3}\s(?:if|when|where|or\s\\{1,2}boxed|for\san?\b|wenn|falls|si\b|se\b|если)\b", re.I
)
_FORM = later(r"\\f?box(?:ed)?\s?\{[^{}\n]{0,80}\}|<answer>[^<]{0,200}</answer>", re.IGNORECASE)
_MOST = 200


class Container(NamedTuple):
    """A content that stands for an answer, where, as what (``box``, ``tag``, ``key``), and the key's name."""

    content: str
    start: int
    end: int
    cue: str
    key: str = ""

    def candidate(self, value: Any, text: str) -> Candidate | None:
        """The candidate that it holds; None for no value."""
        return None if value is None else Candidate(value, self.start, self.end, text, self.cue, 100.0)


def first_reading(text: str, read: Callable[[str], Reading]) -> Reading:
    """The reading of the first part of a response in which something is stated, by what reads a part."""
    reading = NOTHING
    for part in own_parts(without_instructions(tidied(stated(text)))):
        next_question = asks_again(part)
        reading = read(part[:next_question]) if next_question else NOTHING
        if not reading.is_outright:
            reading = read(part)
        if reading.value is not None:
            break
    return reading


def without_instructions(text: str) -> str:
    r"""The text without boxes and answer tags that only show what an answer is to look like.

    >>> without_instructions(r"Reply with \boxed{0} if it is factual."), without_instructions(r"So \boxed{0}.")
    ('Reply with  if it is factual.', 'So \\boxed{0}.')
    """

    def own(form: re.Match[str]) -> str:
        shown = _SHOWN.search(text[max(0, form.start() - 120) : form.start()])
        return "" if shown or _SHOWN_AFTER.match(text, form.end(), form.end() + 20) else form[0]

    return _FORM.sub(own, text)


def containers_of(text: str, keys: Sequence[str]) -> list[Container]:
    """The contents of boxes, tags and keys named so that count, in their order.

    Args:
        text: the final text.
        keys: words that the name of an answer's key may hold (``final_answer`` holds ``answer``).
    """
    closed = spans(text)[-_MOST:]
    found = [Container(text[start:end], start, end, "box") for start, end in closed]
    for of, cue in ((_NEAR_BOX, "box"), (_TAG, "tag"), (_KEY, "key")):
        if cue != "box" or not closed:
            found += _all(of, text, cue, keys)
    return sorted(found, key=lambda one: one.start)


def _all(of: re.Pattern[str], text: str, cue: str, keys: Sequence[str]) -> Iterator[Container]:
    for match in islice(of.finditer(text), _MOST):
        groups = match.groupdict()
        name = (groups.pop("key", "") or "").lower()
        if name and (not any(key in name for key in keys) or _OTHER_KEY.search(name)):
            continue
        content = next(group for key, group in groups.items() if group is not None and key not in ("quote", "name"))
        yield Container(content, match.start(), match.end(), cue, name)
