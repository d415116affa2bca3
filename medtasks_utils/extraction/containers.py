r"""Find containers of answers: boxes, answer tags and JSON keys, including slightly malformed ones."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .boxes import spans
from .nothing import retracted_until
from .patterns import later
from .plain import own_parts, stated, tidied, unformatted
from .weighing import NOTHING, OUTRIGHT, Candidate, Reading, choose, rows, weighed
from .words import Mention, symbols_of

# In these rows, "cand" is a box or an answer tag, whatever it contains.
CONTAINER_ROWS = rows(
    r"""
lead = [the fill option open if]* (word? if is)?
-100 denied: not [the fill option open choose answer so colon is]* <cand>
    none: The answer is not \boxed{A}.
-100 said to be wrong: <cand> (?=close* ({being} {so} (wrong|not {so} {fit})|not is {so} {fit}))
    none: \boxed{A} would be wrong.
-100 denied: reject {lead} <cand>
    none: I would exclude \boxed{A}.
-100 denied: though [^ stop line comma cand]{0,6}? <cand>
    A: I choose \boxed{A}, although \boxed{B} was tempting.
-100 denied: versus {lead} <cand>
    B: The answer is \boxed{B} rather than \boxed{A}.
-100 asked: <cand> (?=stop not (stop|comma|line|$))
    none: Is it \boxed{A}? No.
-100 supposed: {ended} [^ cand]* if [^ stop line cand so]* {then} [if choose] [is the fill]* <cand>
    C: It is \boxed{C}. If the trapezius were weak, it would be \boxed{D}.
-100 draft: draft ~3 <cand>
    C: I choose C. My first answer was \boxed{A}.
-100 one of two: <cand> (?=close* {or} cand)
    none: Either \boxed{A} or \boxed{B}.
-100 one of two: (?<!versus) cand (close* {or} cand)* close* {or} <cand>
    none: Either \boxed{A} or \boxed{B}.
ended = (?<!if choose )cand close* [stop line]
then = comma [^ stop line cand]{0,6}?
so = [the fill so]*
fit = (right|answer)
being = (comma? because? word? if? is|word)
or = open? [comma or op]+ (open [^ stop line close cand]* close)? (wrong comma)? {lead}
    """
)
_CLAUSE = later(r"[^.,;!?\n]*")
_AROUND = 160  # maximum characters on each side of a box or tag that may deny it

_NEAR_BOX = later(
    r"(?:\\?f?b|\x08|(?<!\w))ox(?:ed)?\s?(?:\{(?P<braced>[^{}\n]{1,80})\}|(?<=ed)\((?P<round>[A-Da-d]|-?\d[\d.,/]{0,20})\)"
    r"|\{\s?(?P<half>[A-D0-2])\s?[)\]](?=\s)|(?<=\\boxed)\s(?P<bare>[A-Da-d](?!\w)|-?\d[\d.,/]{0,20}))"
)
_TAG = later(
    r"<(?P<name>(?:final_?)?(?:answer|final|choice|result|verdict|score|value))>(?P<content>(?:[^<]|<(?=\s?\d)){0,2000})<[/\\](?P=name)>",
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
    r"|limit|normal|choices|options|refer|range|possible|prior|reason|step|explan|rationale|analysis"
)
# Words before or after a box that only shows the requested form of an answer.
_SHOWN = later(
    r"(?:for\s(?:example|instance)|e\.\s?g\.|such\sas|looks?\slike|like\sthis|in\sthe\sform(?:at)?(?:\sof)?|as\sin"
    r"|z\.\s?B\.|par\sexemple|por\sejemplo|例如|would\s(?:then\s)?(?:write|read|put))[\s,:$(]{0,4}$"
    r"|(?:^|[.!?\n]\s*|please\s|\b(?:and|then)\s)(?:reply|respond|answer|put|write|give|place|enclose|return|output|provide"
    r"|state|present|end|finish)\s(?:with|only|in|using|your|it)\b[^.!?\n:]{0,80}$"
    r"|\b(?:your|Ihre|votre|tu|su|sua)\s(?:final\s)?(?:answer|choice|value|verdict|response)\b[^.!?\n:]{0,40}$",
    re.IGNORECASE,
)
_SHOWN_AFTER = later(r"[^\w\n.!?]{0,3}\s(?:if|when|where|for\san?\b|wenn|falls|si\b|se\b|если)\b", re.I)
_FORM = later(r"\\f?box(?:ed)?\s?\{[^{}\n]{0,80}\}|<answer>[^<]{0,200}</answer>", re.IGNORECASE)


class Container(NamedTuple):
    """A box, tag or key that contains an answer.

    Attributes:
        content: the text inside.
        start, end: the position of the container in the text.
        cue: ``box``, ``tag`` or ``key``.
        key: the name of the key, in lower case; empty for a box or tag.
    """

    content: str
    start: int
    end: int
    cue: str
    key: str = ""

    def candidate(self, value: Any, text: str) -> Candidate | None:
        """Return a candidate with this value at the container's position; None if the value is None."""
        return None if value is None else Candidate(value, self.start, self.end, text, self.cue, 100.0)


def first_reading(text: str, read: Callable[[str], Reading]) -> Reading:
    """Read the parts of a response in turn with ``read``; return the first reading with a value, else the last one.

    Tool calls, reasoning in marks other than ``<think>`` and demonstrations of the requested form are removed first.
    """
    reading = NOTHING
    for part in own_parts(without_instructions(tidied(stated(text)))):
        reading = read(part)
        if reading.value is not None:
            break
    return reading


def without_instructions(text: str) -> str:
    r"""Return the text without boxes and answer tags that only demonstrate the requested form.

    >>> without_instructions(r"Reply with \boxed{0} if it is factual."), without_instructions(r"So \boxed{0}.")
    ('Reply with  if it is factual.', 'So \\boxed{0}.')
    """

    def kept(form: re.Match[str]) -> str:
        shown = _SHOWN.search(text[max(0, form.start() - 120) : form.start()])
        return "" if shown or _SHOWN_AFTER.match(text, form.end(), form.end() + 20) else form[0]

    return _FORM.sub(kept, text)


def containers_of(text: str, keys: Sequence[str]) -> list[Container]:
    """Return the boxes, tags and keys in a text, in order; malformed boxes only if there are no well-formed ones.

    A JSON key is included if its name contains one of the lower-case words in ``keys``, and no word for an alternative
    or a reason. With ``answer``, ``final_answer`` is included, but not ``other_answer``.
    """
    boxes = [Container(text[start:end], start, end, "box") for start, end in spans(text)]
    is_near = not boxes and any(form in text for form in ("ox{", "ox {", "oxed"))
    containers = [*_matches(_NEAR_BOX, text, "box", keys)] if is_near else boxes
    containers += [*_matches(_TAG, text, "tag", keys), *_matches(_KEY, text, "key", keys)]
    return sorted(containers, key=lambda container: container.start)


def candidates_in(text: str, keys: Sequence[str], value_of: Callable[[Container], Any]) -> list[Candidate]:
    """Return a candidate for each container of :func:`containers_of` for which ``value_of`` returns a value."""
    candidates = [container.candidate(value_of(container), text) for container in containers_of(text, keys)]
    return [candidate for candidate in candidates if candidate]


def upheld(candidates: Sequence[Candidate], text: str) -> tuple[list[Candidate], str]:
    r"""Return the candidates that the surrounding words do not reject, and the text without the rejected ones.

    A box or tag is also rejected if it is one of two alternatives. A value that is rejected in one box or tag is
    rejected in all; keys are always kept. Words such as "is wrong" after a rejected box or tag are removed with it.
    """
    surrounded, mentions, end = "", [], 0
    forms = [candidate for candidate in candidates if candidate.cue != "key"]
    if not candidates:
        return [], text
    for candidate in forms:
        between = text[end : candidate.start]
        if len(between) > 2 * _AROUND:
            between = f"{between[:_AROUND]}\n{between[-_AROUND:]}"
        surrounded += unformatted(between)
        mentions.append(Mention(candidate.value, len(surrounded), len(surrounded) + 1))
        surrounded, end = f"{surrounded}□", candidate.end
    places = weighed(CONTAINER_ROWS, symbols_of(surrounded + unformatted(text[end : end + _AROUND]), mentions))
    for first, second in pairwise(places):
        if first.value == second.value:
            first.evidence.pop("one of two", None)
            second.evidence.pop("one of two", None)
            second.evidence.pop("supposed", None)
    fallen = [(candidate, place) for candidate, place in zip(forms, places, strict=True) if place.weight <= -100]
    values = {candidate.value for candidate, _ in fallen}
    held = [candidate for candidate in candidates if candidate.cue == "key" or candidate.value not in values]
    for candidate, place in reversed(fallen):
        denial = _CLAUSE.match(text, candidate.end) if "said to be wrong" in place.evidence else None
        text = f"{text[: candidate.start]} {text[denial.end() if denial else candidate.end :]}"
    return held, text


def corrected(candidates: Sequence[Candidate], text: str, read: Callable[[str], Reading]) -> Reading:
    """Return the reading of the containers, or of the text after the last one if that text retracts it.

    The text after the last container is used only if it also states an answer outright.

    Args:
        candidates: the candidates in the containers, in order.
        text: the text.
        read: a function that reads the text after the last container.
    """
    after = text[candidates[-1].end :]
    reading = read(after) if retracted_until(symbols_of(after)) >= 0 else NOTHING
    is_outright = any(candidate.weight >= OUTRIGHT for candidate in reading.stating)
    return reading if is_outright else choose(candidates)


def _matches(form: re.Pattern[str], text: str, cue: str, keys: Sequence[str]) -> Iterator[Container]:
    """Yield a pattern's matches as containers; JSON keys only if they may contain the answer.

    Args:
        form: the pattern, in which the last group that matches is the content.
        text: the text to search.
        cue: the cue of the containers.
        keys: words in the names of keys that may contain the answer.
    """
    for match in form.finditer(text):
        name = match.groupdict().get("key", "").lower()
        if not name or (any(key in name for key in keys) and not _OTHER_KEY.search(name)):
            yield Container(match[str(match.lastgroup)], match.start(), match.end(), cue, name)
