"""What speaks against a letter: it is denied, asked about, supposed, taken back, or one of several."""

from __future__ import annotations

import re
from functools import lru_cache

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.elimination import called_unlike
from medtasks_utils.extraction.options import MARKS
from medtasks_utils.extraction.weighing import REACH, Candidate, taken_back_until

_TOGETHER = re.compile(
    rf"[\s,/&)\]]{{0,3}}(?:{cues.either(cues.OR)}\s?)?(?:(?i:option|choice|only|not|nicht|pas|no|não|non|не|the|die|la"
    r"|le)\s)?[(\[]?(?:[A-D](?![A-Za-z0-9])[)\]]?)"
)
_NOT_BEFORE = re.compile(
    rf"{cues.either(cues.NOT_BEFORE)}\s?(?:(?:(?:an?|\w{{2,14}})\s){{0,2}}"
    rf"|{cues.either(cues.CHOOSE)}\s(?:\w{{1,6}}\s){{0,2}})[(\[*_]{{0,3}}$"
)
_WRONG_AFTER = re.compile(rf"[^\n.;,。，،]{{0,80}}?{cues.either(cues.WRONG_AFTER)}")
_EXCLUDED = re.compile(
    rf"(?<![^\W_]){cues.either(cues.EXCLUDE)}(?:(?:\s\w+){{0,2}}:)?\s?(?:[A-D,/[、 ]|\([^()\n]{{0,60}}\)"
    rf"|(?:{cues.either(cues.OR)}|{cues.either(cues.ORDERED)}|(?i:options?|choices?|letter:|the|both|la|le|les"
    r"|die))\s){0,12}$"
)
_QUESTIONED = re.compile(
    r"(?!\.\s(?i:why|what|how|and|warum|wieso|pourquoi|por\s?qu|perché|почему|لماذا|क्यों))[)\].]?[^.!\n]{0,40}\?(?!\?)"
)
_DOUBTED = re.compile(
    r"(?i)(?:(?:n['’]t|not|hardly)\s(?:think|believe|say|choose|pick)|(?<!no\s)(?<!without\s)doubt)\b"
)
_REPORTED = re.compile(
    r"\s(?:only|just|but)\s(?:if|when|where)\b|[.,]?\s(?:says|said|claims|claimed|insists|insisted"
    r"|wrote|argues|argued|objects)\s(?!I\b)\w|[.,]\s(?:most|many|some)\s\w+\s(?:(?:will|would|may|might)\s)?(?:say"
    r"|think|answer|argue)"
)
_BRACKETED = re.compile(r"(?:\(|^)[^()]*\)")
_TENTATIVE = cues.compiled(cues.TENTATIVE)
_PAIRED = re.compile(
    rf"(?:(?<!\w){cues.either(cues.OR)}\s?(?:(?i:option|choice)\s)?|(?i:n?either)\s|(?P<other>[A-D])[)\]]?\s?[,/&]\s?"
    r"|(?i:options|choices|letters|optionen|of|any)\s[A-D]\s(?:to|through|thru|bis)\s)[(\[]?$"
)
_BUT = re.compile(
    r"\b(?:but|however|yet|instead|in\sfact|(?:chang|revis|switch)\w*\smy\s(?:first|initial|original)(?:\s\w+)?)\b"
    r"|\b(?:while|although|though)\b[^,]{0,80},|,\sand\s(?:i|then|finally|after)\b|\b(?:aber|jedoch|sondern|sino|bensì"
    r"|mais|pero"
    r"|sin\sembargo|mas|porém|ma|però|но|однако)\b|(?:が|けれども?),|지만|但是?|不过|لكن|लेकिन",
    re.IGNORECASE,
)
_CONTRARY = re.compile(rf"\W{{0,4}}{cues.any_word(cues.CONTRARY)}")
_COUNTERFACTUAL = re.compile(cues.any_word(cues.COUNTERFACTUAL))
_BECAUSE = re.compile(r"(?i)\b(?:because|since|as|weil|da|car|puisque|porque|perché|так\sкак)\b|因为|ため")
_ANOTHER = re.compile(r"(?<![A-Za-z])[A-D](?![A-Za-z'’-])")
_HOWEVER = re.compile(
    r"(?:^|(?<=[.!?]\s))\W{0,4}(?i:however|but|still|yet|allerdings|aber|cependant|toutefois|pero|sin\sembargo|porém"
    r"|no\sentanto|tuttavia|però|однако|но)(?![^\W_])|(?<=,\s)however(?=[:,.])|但是?|不过|然而|しかし|하지만|그러나",
    re.MULTILINE,
)
_PAIRED_BY = re.compile(r"(→|[-=]>|=|–|\bas)\s?[(\[]?$")
_RATED = re.compile(r"\)?\s?[=:]\s?\d[\d.%/]*[,;]?\s\(?[A-D]\)?\s?[=:]\s?\d")
_IS = cues.either(cues.LINK)
_PAIR = rf"[(\[]?[A-D{MARKS}][)\]]?[.,;]\s[^\n.,;]{{1,40}}?"
_ROW_DENIED = re.compile(
    rf"{cues.either(cues.NOT_BEFORE)}[^\n.;:]{{0,12}}?[(\[]?[A-D](?:{_TOGETHER.pattern}){{0,2}}[\s,/&)\]]{{0,3}}"
    rf"(?:{cues.either(cues.OR)}\s)?$"
)
_CONTRASTED = re.compile(rf"(?<![^\W_]){cues.either(cues.CONTRASTED)}\s?(?:{cues.either(cues.FILLER)})*$")


def denied(candidate: Candidate) -> bool:
    """As in "The answer is not C", "n'est pas C", "C is incorrect", "C 는 오답", "no: C ✗"."""
    return bool(
        _NOT_BEFORE.search(candidate.before[-40:])
        or _called_wrong(candidate.after)
        or _EXCLUDED.search(candidate.before)
        or _DOUBTED.search(candidate.before)
    )


def _called_wrong(after: str) -> bool:
    wrong = _WRONG_AFTER.match(after)
    return bool(wrong and not _BECAUSE.search(wrong[0]) and not _BUT.search(wrong[0]) and not _ANOTHER.search(wrong[0]))


def listed_as_wrong(candidate: Candidate) -> bool:
    """As the first two of "A, B and D are wrong", or the last two of "neither A nor B, nor D"."""
    end = 0
    while following := _TOGETHER.match(candidate.after, end):
        end = following.end()
    if end and (_called_wrong(candidate.after[end:]) or called_unlike(candidate.after[end:])):
        return True
    return _ROW_DENIED.search(candidate.before) is not None


def _sentence(candidate: Candidate) -> str:
    """What stands before it in its sentence, up to 300 characters."""
    stretch = candidate.text[max(0, candidate.start - 300) : candidate.start]
    return stretch[max(stretch.rfind(end) for end in ("\n", ". ", "? ", "! ", "; ", ": ")) + 1 :]


def only_counterfactual(candidate: Candidate) -> bool:
    """As in "A device would have pointed to C, a fever to D", "Had it been acute, then C"."""
    return _COUNTERFACTUAL.search(_sentence(candidate)) is not None


def one_of_several(candidate: Candidate) -> bool:
    """As in "A or C", "both B and C", "A, C"."""
    paired = _PAIRED.search(candidate.before[-24:])
    return bool(paired and paired["other"] != candidate.value)


def supposed(candidate: Candidate) -> bool:
    """As in "If it were acute, the answer would be C"", "some would say C", "It's C, says the resident"."""
    clause = _BUT.split(_BRACKETED.sub("", candidate.before))[-1]
    return bool(_TENTATIVE.search(clause) or _REPORTED.match(candidate.after) or _CONTRARY.match(_sentence(candidate)))


def asked(candidate: Candidate) -> bool:
    """As in "Is the answer C?"."""
    return bool(_QUESTIONED.match(candidate.after))


def taken_back(candidate: Candidate) -> bool:
    """As in "The answer is C. Wait, …"."""
    return taken_back_until(candidate.text) >= candidate.end


@lru_cache(maxsize=8)
def _objected_at(text: str) -> int:
    return max((match.start() for match in _HOWEVER.finditer(text)), default=-1)


def objected(candidate: Candidate) -> bool:
    """As in "A is the best choice. However, … Thus C is what I'd choose": any later statement outweighs it."""
    return _objected_at(candidate.text) >= candidate.end


def defined(candidate: Candidate) -> bool:
    """As in "Answer D is vitamin K", where D is vitamin K."""
    return re.search(rf"(?<![^\W_]){candidate.value}[)\]]?\s{_IS}\s(?:\w{{1,4}}\s)?$", candidate.before) is not None


def of_pairs(candidate: Candidate) -> bool:
    """As in "glucose → B, coagulation → C", "S – B, O – C, A – D", "A = 1, B = 3"."""
    if _RATED.match(candidate.after):
        return True
    link = _PAIRED_BY.search(candidate.before)
    if not link:
        return False
    around = candidate.text[max(0, candidate.start - REACH) : candidate.end + REACH]
    pairs = rf"{link[1]}\s?{_PAIR}{link[1]}\s?[(\[]?[A-D{MARKS}](?![A-Za-z])"
    at = min(candidate.start, REACH)
    return any(match.start() < at + 1 and match.end() > at for match in re.finditer(pairs, around))


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether what stands in a text from ``start`` to ``end`` is denied, asked about or contrasted."""
    candidate = Candidate("", start, end, text, "named", 0)
    return (
        denied(candidate)
        or listed_as_wrong(candidate)
        or asked(candidate)
        or _CONTRASTED.search(candidate.before) is not None
        or only_counterfactual(candidate)
    )


WEAK = 40  # what is no statement on the answer
_RULES = (*((rule, -100) for rule in (denied, of_pairs, one_of_several, supposed, asked)), (taken_back, -40))
WEAK_RULES = (*_RULES, (only_counterfactual, -100), (defined, -100))
STRONG_RULES = (*_RULES, (objected, -13))
