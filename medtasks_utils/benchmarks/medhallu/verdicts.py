"""Read the verdict of a text on an answer: factual (0), hallucinated (1), or unsure (2)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.containers import Container, candidates_in, corrected, first_reading, upheld
from medtasks_utils.extraction.patterns import later
from medtasks_utils.extraction.plain import unformatted
from medtasks_utils.extraction.weighing import Candidate, Reading, choose, rows, weighed
from medtasks_utils.extraction.words import Mention, Symbols, outside, symbols_of

# In these rows, the candidate "cand" is a digit, "text" the name of a class, and "weak" a word that implies a class.
VERDICT_ROWS = rows(
    r"""
lead = [the fill option open about]*
70 answer: answer ~6 [is colon eq arrow dash]+ [the fill option open so about right answer not]* <cand text>
    0: The answer that we read is factual. What is hallucinated differs.
56 answer: answer ~6 [is colon eq arrow dash]+ [the fill option open so about right answer not]* <weak>
    0: It is inaccurate to doubt it. The answer is supported.
68 labelled: (answer|option|final|result) [is colon open dash option fill about answer]+ <cand text>
    0: Rating: 0 (on a scale where 1 is hallucinated)
64 leads: ^ {lead} <any> (?=stop|comma|line|open|close|because|colon|dash|$)
    1: Hallucinated. It is factual that aspirin inhibits COX.
74 returned: {returns} [^ stop line cand text weak not if]{0,7}? [is colon eq about to]* {lead} <cand> {end}
    1: The answer is factually correct, but it is incomplete. I would return 1.
returns = return|result|calc|gives
end = (?=close* (stop|line|comma|because|dash|colon|open|text|$))
72 leads: ^ {lead} <cand> (?=line)
    1: 1\n\nThe answer is factual in its first sentence.
71 paired: text close* [open dash colon comma]+ option* <cand> (?=close|stop|line|$)
    1: The answer is factual in its first sentence. The rest is hallucinated (1).
62 chosen: choose [to]? {lead} <cand> {end}
    1: I would go with 1. It is factual only in part.
60 therefore: so ~10 [is colon]* {lead} <cand text>
    1: It is factual in part, therefore it is hallucinated in the rest.
75 ends: line {lead} <cand> (?=close* stop* line* $)
    1: Answer: 0\n\nThat is what the authors say, and the knowledge says otherwise.\n\n1
58 ends: (stop|line|colon|arrow|so|dash) {lead} <cand text> (?=close* stop* line* $)
    0: If it is factual reply 0, if hallucinated 1, if unsure 2.\n\nReply: 0
40 class: <text>
    0: 这个回答不是幻觉。
16 digit: <cand>
    0: #Judgment#: No
14 word: <weak>
    0: Ответ верный.
-90 scale: (?={pair} {and} {pair}) <any>
    none: 0 factual, 1 hallucinated, 2 unsure
-90 scale: is <cand> (?=because [text weak])
    1: The response should be '0' for factual answers:\n1
-90 scale: {class} <any> (?={and} {pair})
    none: I label answers as factual (0) or hallucinated (1), as I am an AI.
-90 scale: {pair} {and} <any> (?={means} [cand text])
    none: I label answers as factual (0) or hallucinated (1), as I am an AI.
-90 scale: {pair} {and} {class} <any>
    none: I label answers as factual (0) or hallucinated (1), as I am an AI.
-90 scale: ({pair} {and}){2} <any> (?={means} [cand text])
    none: 0 factual, 1 hallucinated, 2 unsure
-90 scale: ({pair} {and}){2} {class} <any>
    none: 0 factual, 1 hallucinated, 2 unsure
pair = {class} [cand text]
class = [cand text] {means}
means = [open is word colon eq the if answer dash]{0,4}
and = close* [comma or stop]{1,2} [the or]*
-78 supposed: if [^ stop line comma cand text]{0,8}? <any>
    none: The answer may be factual.
-78 supposed: (^|stop|line) if (?!so) [^ stop line cand so]{1,16}? <cand>
    none: If you think that it raises the risk, your judgement is "1".
-60 conceded: though [^ stop line comma cand text weak]{0,8}? <any>
    1: While the answer is factual, it isn't complete. Hallucinated.
-30 of a part: (part|other) ~6 <any>
    1: The claim that "the answer is factual" would not hold. Hallucinated.
-60 kind: (kind|name colon) [^ stop line]{0,20} <any>
    none: Type: Misinterpretation of #Question#
-75 one of two: <cand text> close* (?=[comma or]+ {lead} [cand text])
    none: 请判断该回答是事实还是幻觉。
-75 one of two: ([cand text] close* [comma or]+ {lead})+ <cand text>
    none: 请判断该回答是事实还是幻觉。
    """
)
_OPEN = ("class", "digit", "word")
_DENIED = (
    "(not [^ stop line comma cand text weak]{0,2})? weak (to|call)+ [^ stop line comma cand text]{0,5} text"
    "|(not|none|versus|lack) [^ stop line comma colon but cand text weak]{0,5}"
    " (cand|weak( or [^ stop line comma but cand text]{0,2} text)?)"
    "|(not|none|versus|lack) [^ stop line comma but or colon cand text]{0,8}"
    " text( [comma or]+ [^ stop line comma but because cand text]{0,2} text)*"
    "|(wrong|slip) (to|call)+ [^ stop line comma cand text]{0,5} text"
    "|call [^ stop line comma cand text]{0,5} text (?=[the answer]* if is)"
    "|(wrong|slip) [^ stop line comma cand text]{0,2} call [^ stop line comma cand text]{0,5} text"
)
_DENIED_AFTER = (  # "to call it … would be wrong", "fabrication: none"
    "text [^ stop line comma]{0,4} if is [the fill]* weak"
    "|[any] (close|the|is|word|option|about|answer){0,3} (colon|dash|bar|eq){0,2} (not|none|cross)"
    "|[any] [^ stop line comma but cand text]{0,5} (not|none|cross|rather) (stop|line|comma|$)"
    "|[any] (close|the|is|word)? rather"
)
_VALUES = {
    "factual": "0",
    "right": "0",
    "backed": "0",
    "hallu": "1",
    "wrong": "1",
    "refuted": "1",
    "flaw": "1",
    "unsure": "2",
    "cannot": "2",
    "kind [is colon]* (not|none)": "0",
    "(not|none) [^ stop line comma but calc]{0,5}? kind": "0",
}
_STRONG = ("factual", "hallu", "unsure")
_DIGIT = later(
    r"(?<![A-Za-zÀ-ÿ\d_.,/%$-])[012](?![\w%/°]|[.,]\d|\s?(?:%|mg|kg|years?|patients|of\s|out\s|weeks|days|points)|\s?[-–/]\s?\d|\)?\s?[+×=<>])"
)
_JUDGED = later(  # a line such as "Hallucinated: no"; "judgement" means whether the answer is hallucinated
    r"^\W{0,4}(?:your |is[ _]?)?(judge?ment|hallucinat\w{1,6}|factual)\W{1,6}(yes|no|true|false)\b(?=\W*$)", re.M | re.I
)
_NUMBERED = later(r"^\W{0,4}([12])[.)]\s+(?=[^\W\d])", re.MULTILINE)  # the number of a list item
_QUOTED = later(r"'([012])'")
_ASKED = later(r"[^.!?\n]{0,60}\?")
_KEYS = ("answer", "verdict", "label", "judg", "halluc", "factual", "class", "result", "decision")
_SHORT = 240  # maximum characters of a text in which a digit or word without a cue may be the verdict
_FLIPPED = {"0": "1", "1": "0", "2": "2"}


def read_verdict(text: str) -> Reading:
    """Read the verdict that a text states: "0", "1" or "2", or no value if it states none, or more than one.

    >>> read_verdict("The answer is not factual.").value, read_verdict("Either factual or hallucinated?").value
    ('1', None)
    """
    return first_reading(text, _read_part)


def _read_part(text: str) -> Reading:
    """Read a part of a response: its boxes, tags and keys or, if these contain no verdict, its text."""
    inside, rest = upheld(candidates_in(text, _KEYS, _inside), text)
    candidates = _candidates(unformatted(rest))
    if inside:
        return corrected(inside, text, _read_part)._replace(candidates=(*inside, *candidates))
    for candidate in candidates:
        if len(text) > _SHORT and candidate.cue in ("digit", "word"):
            candidate.discard("only named, in a long text")
    return choose(candidates, _OPEN)


def _inside(container: Container) -> str | None:
    """Return the verdict in a box, tag or key; None if there is none.

    In a key such as ``hallucinated``, "true" affirms the key's name.
    """
    token = unwrap(container.content).strip("\"'. ")
    if container.key and token.lower() in ("true", "false", "yes", "no"):
        return _as_answered("1" if "hall" in container.key else "0", token)
    value: str | None = choose(_candidates(unformatted(container.content))).value
    return value


def _as_answered(verdict: str, word: str) -> str:
    """Return the verdict if the word affirms it (yes or true), else the opposite."""
    return verdict if word.lower() in ("true", "yes") else _FLIPPED[verdict]


def _candidates(text: str) -> list[Candidate]:
    """Return the weighted candidates of a text; a negated candidate has the opposite value."""
    text = _QUOTED.sub(r"\1", text)
    symbols = symbols_of(text, _mentions(text))
    after = {match.start() for match in symbols.matches(_DENIED_AFTER)}
    denied = {at for at in after if symbols.mentions[at].value != "2"}  # "I cannot judge without the paper"
    for match in symbols.matches(_DENIED):
        denied.update(range(match.start() + 1, match.end()))
    candidates = weighed(VERDICT_ROWS, symbols)
    for first, second in pairwise(candidates):
        if first.value == second.value:  # both words of "fabrication or misattribution" mean the same verdict
            first.evidence.pop("one of two", None)
            second.evidence.pop("one of two", None)
    for at, candidate in zip(symbols.mentions, candidates, strict=True):
        if at in denied:
            candidate.evidence["denied"] = -90 if candidate.value == "2" or candidate.cue == "digit" else -2
            candidate.evidence.pop("of a part", None)
            candidate.value = _FLIPPED[candidate.value]
        question = _ASKED.match(text, candidate.end)
        if question:
            _settle(candidate, symbols_of(text[question.end() : question.end() + 60]))
    return candidates


def _mentions(text: str) -> list[Mention]:
    """Return the mentions of verdicts: lines such as "Hallucinated: no", and other words and digits."""
    fields = []
    for match in _JUDGED.finditer(text):
        value = _as_answered("0" if match[1].lower() == "factual" else "1", match[2])
        fields.append(Mention(value, match.start(1), match.end()))
    mentions = list(_classes(symbols_of(text)))
    numbered = {match.start(1) for match in _NUMBERED.finditer(text)}
    for match in _DIGIT.finditer(text):
        if match.start() not in numbered:
            mentions.append(Mention(match[0], match.start(), match.end()))
    return [*outside(mentions, fields), *fields]


def _classes(symbols: Symbols) -> Iterator[Mention]:
    """Yield the words that name or imply a class."""
    for word_class, value in _VALUES.items():
        for match in symbols.matches(word_class):
            start = symbols.places[match.start()]
            phrase = symbols.text[start : symbols.places[match.end()]].rstrip()
            yield Mention(value, start, start + len(phrase), "text" if word_class in _STRONG else "weak")


def _settle(candidate: Candidate, reply: Symbols) -> None:
    """Affirm or negate a candidate in a question by the yes or no in ``reply``; without either, lower its weight."""
    before = "^ [word colon line answer dash the if is about so]{0,5}"
    if reply.has(f"{before} not") and candidate.value != "2":
        candidate.value = _FLIPPED[candidate.value]
    elif not reply.has(f"{before} yes"):
        candidate.evidence["asked"] = -60
