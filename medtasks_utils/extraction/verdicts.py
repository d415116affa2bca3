"""Verdicts on an answer, in words or as a digit: 0 factual, 1 hallucinated, 2 unsure."""

from __future__ import annotations

import re

from medtasks_utils.extraction.ends import both_ends

FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"

# All patterns are for text in lower case.
_VERDICT = (
    r"(?:(?<!\w)(?:"
    r"(?P<hallucinated>hallucinat(?:ed|ions?|ory|ing)|fabricat(?:ed|ions?)|(?:non-?|un)factual|incorrect|inaccurate|wrong|"
    r"false|untrue|erroneous|misleading|unsupported)"
    r"|(?P<factual>factual|accurate|correct|true|truthful|supported|right|valid)"
    r"|(?P<unsure>unsure|uncertain|undecided|not\ssure))(?!\w)"
    r"|(?<![\w.,/-])(?P<digit>[012])(?!\w|%|\s?[.,/]\s?\d|\.\s\w|\s(?:or|and)\b)"
    r"(?=\s?(?:[^\w\s]|$)|\s(?:because|since|as)\b))"
)
_NOUN = (
    r"\b(?:answer|response|verdict|label|class(?:ification)?|judg(?:e?ment)|conclusion|output|result|rating|decision|"
    r"statement|assessment|analysis|evaluation|score|choice)\b"
)
_COPULA = (
    r"(?:\b(?:is|was|are|be|does|do|contains?|includes?|has|shows?|seems?|appears?|looks?|as)(?:n['’]t)?\b|[:=→\-–])"
)
_WORDS = r"(?P<words>(?:[\w'’-]{1,16}[\s,]\s?|[^\w\s]{1,4}\s?|\s){0,6}?)"

_STATEMENTS = tuple(
    re.compile(statement)
    for statement in (
        # "Hallucinated: yes", "Is the answer factual? No".
        rf"{_VERDICT}[^\w\n]{{0,4}}[:?][^\w\n]{{0,4}}(?P<reply>yes|no)\b",
        # "Hallucinated.", "Final verdict: factual", "Therefore: 1 (hallucinated)", "Not factual: it misses the point".
        rf"^\W{{0,12}}(?:(?:the|my|final|overall|correct|so|therefore|thus|hence|is|{_NOUN})\W{{1,6}}){{0,5}}"
        r"(?P<words>(?:(?:not|no|non|a|entirely|fully|factually|completely|likely|probably|clearly|signs?\sof|evidence\sof)"
        rf"[\s-]){{0,3}}){_VERDICT}"
        rf"(?:\s(?:{_NOUN}|detected|present|found))?(?=\s?(?:[^\w\s,]|$)|,?\s(?:because|since|as)\b)",
        # "The answer shown is (not) factual", "I would label it as hallucinated", "I'd say 1".
        rf"(?:{_NOUN}(?P<between>[^:]{{0,80}}?){_COPULA}"
        r"|\b(?:judge|consider|deem|rate|call|label|classify|mark|find|say|choose|pick|select|go\swith|"
        r"(?:would|will|['’]d|['’]ll|i)\sanswer)\b)"
        rf"{_WORDS}{_VERDICT}",
    )
)
# "It is factual", "This isn't a hallucination", "There is no hallucination", "I am unsure".
_OF_IT = re.compile(
    rf"\b(?:it|this|that|there|i|information|claim)\b(?P<between>[^:]{{0,60}}?)(?:{_COPULA}|['’][sm]\b|\bam\b)"
    rf"{_WORDS}{_VERDICT}",
)
_ANY_VERDICT = re.compile(_VERDICT)
_NO_VERDICT = re.compile(
    r"\b(?:can(?:not|['’]t|\snot)\s(?:be\s)?(?:determine|judge|decide|tell)d?\b|"
    r"(?:i\sam|i['’]m|^)\s?(?:unsure|uncertain|not\s(?:entirely\s|completely\s)?sure)\b)",
)

_NEGATION = re.compile(r"\b(?:not|no|non|never|without|free)\b|n['’]t\b")
_CLAUSE = re.compile(r"[,;:]\s|\b(?:and|but|so|therefore|thus)\b")
_OPEN = re.compile(
    r"\b(?:whether|if|unless|nothing|none|neither|claims|states|says|might|may|could|mix|evidence\sthat)\b"
    r"|\b(?:cannot|can['’]t|unable\sto)\s\w{1,12}\s(?:that|the)\b",
)
_HALF = re.compile(r"\b(?:part(?:ial)?ly|mostly|largely|somewhat|mainly|nearly|almost|generally)\b")
_BUT = re.compile(r",?\s(?:but|except|however)\b")
_CONTINUED = re.compile(r"\s(?:or|nor|that|about|regarding)\b|\sin\s(?:that|stating|saying|its|part)\b")

_ANSWERED_QUESTION = re.compile(r"\?\s{1,4}(?=(?:yes|no)\b)")
_AFTER_HEADING = re.compile(r"(?:(?<=:)|(?<=verdict)|(?<=answer))[ \t]{0,8}\n\s{0,8}")
_FORMATTING = re.compile(r"[*_`${}\"“”#]|\\(?:text|textbf|mathrm|mathbf)\b|\\[()\[\],;! ]|</?\w{1,12}>")
_END_OF_SENTENCE = re.compile(r"(?<=[.!?;])(?<!^\d\.)\s+|\n+", re.MULTILINE)
_MAX_SENTENCE = 600  # characters


def stated_verdict(text: str) -> str | None:
    """``"0"``, ``"1"`` or ``"2"`` that a text clearly states, or None.

    The last sentence counts that is a verdict alone or gives the answer one; else the last that gives "it" one.

    >>> stated_verdict("The answer is not factual."), stated_verdict("1"), stated_verdict("Who knows?")
    ('1', '1', None)
    """
    plain = _AFTER_HEADING.sub(" ", _FORMATTING.sub("", both_ends(text).lower()))
    plain = _ANSWERED_QUESTION.sub(": ", plain)
    of_it = None
    for sentence in reversed(_END_OF_SENTENCE.split(plain)):
        sentence = sentence.strip()[:_MAX_SENTENCE]
        if _NO_VERDICT.search(sentence):
            return UNSURE
        if sentence.endswith("?") or not _ANY_VERDICT.search(sentence):
            continue
        for statement in _STATEMENTS:
            verdicts = [verdict for match in statement.finditer(sentence) if (verdict := _read(match))]
            if verdicts:
                return verdicts[-1]
        if of_it is None:
            verdicts = [verdict for match in _OF_IT.finditer(sentence) if (verdict := _read(match))]
            of_it = verdicts[-1] if verdicts else None
    return of_it


def _read(match: re.Match[str]) -> str | None:
    """The verdict that a statement gives, negations counted; None where it leaves the verdict open."""
    groups = match.groupdict()
    kind = next(name for name in ("hallucinated", "factual", "unsure", "digit") if groups[name])
    before = _CLAUSE.split(match.string[: match.start(kind)])[-1]
    if _OPEN.search(before) or _CONTINUED.match(match.string, match.end()):
        return None
    if kind == "unsure":
        return UNSURE
    negations = len(_NEGATION.findall(before)) + (groups.get("reply") == "no")
    if kind == "digit":
        return None if negations else groups["digit"]
    if kind == "factual" and not negations and (_HALF.search(before) or _BUT.match(match.string, match.end())):
        return None
    return FACTUAL if (kind == "factual") == (negations % 2 == 0) else HALLUCINATED
