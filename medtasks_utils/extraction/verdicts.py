"""Verdicts on an answer, in words or as a digit: 0 factual, 1 hallucinated, 2 unsure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.ends import cut_off
from medtasks_utils.extraction.holders import Holder, held
from medtasks_utils.extraction.plain import own_parts
from medtasks_utils.extraction.spelling import Spelling
from medtasks_utils.extraction.tokens import ordinals_as_letters
from medtasks_utils.extraction.verdict_languages import FACTUAL, HALLUCINATED, UNSURE, stated
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, bounded, choose, taken_back_until

# All patterns are for text in lower case. Misspelt, "hallucinated" is still no other word.
_VERDICT = (
    r"(?:(?<!\w)(?:(?P<hallucinated>hall?uc[a-z]{3,14}(?!\s(?:answers|responses|texts|ones)\b)|fabricat(?:ed|ions?)"
    r"|ficti(?:on(?:al)?|tious)|nonsense|bogus|confabulat\w+|(?:non-?|un)fact(?:ual|aul)|made\sup|invent(?:ed|s))"
    r"|(?P<wrong>incorrect|inaccurate|wrong|false|untrue|erroneous|misleading|un(?:supported|grounded|substantiated"
    r"|founded))|(?P<factual>fact(?:ual|aul|ula))|(?P<right>(?:(?<=ally\s)|(?<=['’]s\s)|(?<=is\s)"
    r"|(?<=be\s))sound(?!\s[a-z])|accurate|correct|true(?!\s(?:first|second|sentence|statement|part|premise|fact))"
    r"|truthful|supported|grounded|substantiated|right|valid|borne\sout|stands(?:\sup)?(?=\W*(?:$|[.,;]))|holds\sup"
    r"|checks\sout)|(?P<unsure>unsure|uncertain|undecided|undetermined|not\ssure))(?!\w)"
    r"|(?<![\w.,/-])(?<!statement\s)(?<!claim\s)(?<!sentence\s)(?P<digit>[012]|zero|one|two)(?!\w|%|\s?[.,/]\s?\d"
    r"|\.\s\w|\s(?:or|and)\b|:\s(?:no|none|false)\b)(?=\s?(?:[^\w\s]|$)|\s(?:because|since|as|on\s(?:the|this|your)"
    r"|here)\b))"
)
_DIGITS = {"zero": "0", "one": "1", "two": "2"}
_NOUN = (
    r"\b(?:answer|response|reply|verdict|label|class(?:ification)?|judg(?:e?ment)|conclusion|output|result|rating"
    r"|decision|statement|assessment|analysis|evaluation|score|choice|prediction)\b"
)
_COPULA = (
    r"(?:\b(?:is|was|are|be|does|do|contains?|includes?|has|shows?|seems?|appears?|looks?|as)(?:n['’]t)?\b|[:=→\-–])"
)
_RIGHT_VERB = (
    r"\b(?P<right>holds?\sup|withstands?|checks?\sout|stands?\sup|pass(?:es)?(?=\W*$|\s(?:my|the|as\sfactual|every"
    r"|muster))|tall(?:y|ies)\swith|match(?:es)?|agrees?\swith|reflects?|consistent\swith|in\sline\swith|trust(?:ed"
    r"|worthy)?|reliable|relied\son|faithful(?:ly)?)\b"
)
_WRONG_VERB = (
    r"\b(?P<wrong>fails?(?!\sto)|flunks?|contradicts?|misstates?|misrepresents?|distorts?|falls\s(?:apart|flat)"
    r"|collapses|at\sodds\swith|conflicts?\swith|invents|fabricates|makes\s(?:it|things|this|that)\sup)\b"
)
_WORDS = r"(?P<words>(?:[\w'’-]{1,16}[\s,]\s?|[^\w\s]{1,4}\s?|\s){0,6}?)"
_DEGREE = (
    r"far\sfrom|anything\sbut|neither|textbook|(?:example|instance)\sof|not|no|non|a|an|the|entirely|fully|factually"
    r"|completely|likely|most|very|highly|probably|clearly|almost|certainly|classic|pure|definitely|obviously|surely"
    r"|total|signs?\sof|evidence\sof|clear\scase\sof|case\sof|is"
)

_STATEMENTS = tuple(
    (cue, re.compile(statement), support)
    for cue, statement, support in (
        # "Hallucinated: yes", "Is the answer factual? No", "hallucinated = false".
        (
            "reply",
            rf"{_VERDICT}(?:\s(?:{_NOUN}|details?|facts?|claims?|content|information|detected|found|present|identified"
            rf"|status|check|flag))?(?:\s(?:here|at\sall|in\s(?:it|here"
            rf"|this)))?[^\w\n]{{0,4}}[:?=][^\w\n]{{0,4}}(?P<reply>yes|no|none|true|false)\b",
            62,
        ),
        # "hallucinated: 0" alone.
        ("reply", rf"^\W{{0,12}}{_VERDICT}\s?[:=]\s?(?P<reply>[01])\W*$", 62),
        # "Hallucinated.", "Final verdict: factual", "Therefore: 1 (hallucinated)", "Not factual: it misses the point".
        (
            "alone",
            rf"^\W{{0,12}}(?:(?:the|my|yes|no|nope|nah|yep|yeah|well|honestly|(?:no|without\sa)\s(?:doubt|hesitation"
            rf"|question)|okay|ok|frankly|to\sme|as\s(?:things|it)\sstands?|on\sbalance|all\stold|final|overall"
            rf"|correct|judged|marked|labell?ed|classified|rated|deemed|as|so|therefore|thus|hence|is"
            rf"|{_NOUN})\W{{1,6}}){{0,5}}(?P<words>(?:(?:{_DEGREE})[\s-]){{0,5}}){_VERDICT}(?:\s(?:{_NOUN}|detected"
            rf"|present|found|at\sall|here|whatsoever|in\smy\s\w+|to\sme|overall|all\sround|enough"
            rf"|fine))?(?=\s?(?:[^\w\s,]|$)|,?\s(?:nor|because|since|as)\b|,\s(?:no|not|and|i|in\smy|unfortunately"
            rf"|sadly|obviously|clearly|definitely|of\scourse|then|though)\b)",
            60,
        ),
        # "The answer shown is (not) factual", "I would label it as hallucinated", "I'd say 1".
        (
            "answer",
            rf"(?:{_NOUN}(?P<between>[^:]{{0,80}}?){_COPULA}|\b(?:(?:judge|consider|deem|rate|call|mark|find)(?:ing)?"
            rf"|label(?:l?ed)?|classify|say|choose|pick|select|put|go\s(?:with|for)|settl(?:e|ing)\son|leaves|(?:bet"
            rf"|vote)\s(?:on|for)|(?:change|revise)d?\s(?:it|this)\sto|makes?\s(?:it|this|the\s\w+)|(?:would|will"
            rf"|['’]d|['’]ll|i)\sanswer)\b){_WORDS}{_VERDICT}",
            60,
        ),
        # "Hallucinated is my verdict", "factual is what I say".
        ("answer", rf"{_VERDICT}\s(?:it\s)?(?:is|would\sbe)\s(?:what\si|my|the\s(?:\w+\s)?{_NOUN})\b", 58),
        # "…, so 0.", "Hallucinated, hence 1."
        ("answer", rf"\b(?:so|hence|thus|therefore|then),?\s(?P<words>){_VERDICT}(?=\W*$)", 56),
        # "In one word: hallucinated".
        ("answer", rf":\s(?P<words>(?:(?:{_DEGREE})[\s-]){{0,3}})(?=hal|fab|fac|mad|[012]|inv){_VERDICT}(?=\W*$)", 36),
        # "It is factual", "This isn't a hallucination", "There is no hallucination", "I am unsure".
        (
            "of_it",
            r"\b(?:it|this|that|there|i|information|claims?|nothing|none|what\s(?:we|i|you))\b(?P<between>[^:]{0,60}?)"
            rf"(?:{_COPULA}|['’][sm]\b|\bam\b|\bsee\b){_WORDS}{_VERDICT}",
            40,
        ),
        # "The answer holds up", "It contradicts the abstract", "Passes my check", "Would I trust it? No".
        (
            "does",
            rf"(?:^\W{{0,12}}|(?:{_NOUN}|\b(?:it|this|that|everything|all"
            rf"|i)\b)\s(?:[\w'’]{{1,12}}\s){{0,4}}?)(?:{_RIGHT_VERB}|{_WRONG_VERB})"
            r"(?:\s(?P<nothing>nothing|no\s|none)|(?:[^.:]{0,60}:\s(?P<reply>yes|no)\b)?)",
            38,
        ),
    )
)
_ANY_VERDICT = re.compile(_VERDICT)
_ANY = re.compile(re.sub(r"\?P<\w+>", "?:", f"{_VERDICT}|{_RIGHT_VERB}|{_WRONG_VERB}"))
# A sentence that names all three classes states the task.
_CLASSES = tuple(map(re.compile, (r"\bfactual", r"\bhall?ucinat", r"\b(?:unsure|uncertain)\b|\b2\s?[=:)]|\b2\s\(")))
_ON_THE_SCALE = re.compile(r"\b(?:option|the) ([A-D])\b(?:\sof\sthe\s\w+)?")
_RANKS = {"A": FACTUAL, "B": HALLUCINATED, "C": UNSURE, "D": UNSURE}
_NO_VERDICT = re.compile(
    r"\b(?:can(?:not|['’]t|\snot)\s(?:be\s)?(?:determine|judge|decide|tell|say|know|commit|settle|decide\sbetween"
    r"|be\s(?:sure|certain))d?\b|\b(?:goes|cuts|points)\sboth\sways|\bon\sthe\sfence\b|\babstain\b|\bimpossible\sto\s\w+\s(?:from|whether|if)\b|\brather\snot\s(?:decide|say|judge|commit)\b"
    r"|\btoss-?up\b|\bno\sway\s(?:to|of)\s(?:tell|know|say)|(?:i\sam|i['’]m|^)\s?(?:unsure|uncertain"
    r"|not\s(?:entirely\s|completely\s)?(?:sure|certain))\b)",
)

_NEGATION = re.compile(
    r"\b(?:fail(?:s|ed)?\sto|not|neither|nor|cannot|no|non|never|without|free|nothing|none|hardly|far\sfrom"
    r"|anything\sbut|(?:wrong|incorrect|mistake|mistaken|error|stretch|exaggeration|overstatement|generous|unfair"
    r"|inaccurate|naive|rash|foolish|premature|hard|difficult|impossible|misguided)\sto)\b|n['’]t\b"
)
_CLAUSE = re.compile(r"[,;:]\s|(?=\bnor\b)|\b(?:and|but|so|therefore|thus)\b")
_OPEN = re.compile(
    r"\b(?:whether|if|unless|(?:claim|idea|notion|objection|charge|view)\sthat\s['‘]?(?:the\s|this\s)?(?:answer"
    r"|response|it|this)|(?:love|like|want(?:ed)?)\sto|defined|definition"
    r"|(?<!the\s)(?<!these\s)(?<!its\s)(?<!all\s)claims|states|says"
    r"|said|might|may|could|mix(?:ture)?|evidence\sthat|pass\sfor|mistaken\sfor|speaks?\sfor|argues?\sfor|much\sas"
    r"|although|even\s(?:if|though)|rest|initial|original|parts?|portions?|remainder|some|first|at\sfirst|initially"
    r"|to\sdecide|to\sjudge)\b|\b(?:cannot|can['’]t|unable\sto)\s(?:\w{1,12}\s(?:that|the)|verify|confirm|establish"
    r"|exclude)\b|^\W*(?:(?:in\sorder\s|for\s\w+(?:\s\w+)?\s)?to\s(?:be|count|qualify|call|label|mark|deem|judge|say)"
    r"|(?:had|were)\s(?:it|this))\b",
)
_COUNTERFACTUAL = re.compile(cues.COUNTERFACTUAL["en"] + r"|['’]d\shave\b")
_MISTAKEN = re.compile(
    r"\s(?:[\w-]+\s){0,3}?would\sbe\s(?:an?\s)?(?:\w+\s)?(?:mistake|error|wrong|incorrect|unfair|unjust(?:ified)?"
    r"|harsh|stretch|generous|naive|dishonest|premature|exaggeration|misleading)\b"
)
_HALF = re.compile(r"\b(?:part(?:ial)?ly|mostly|largely|somewhat|mainly|nearly|almost|generally)\b")
_CONTINUED = re.compile(
    r"\s(?:or|and\s[012]\sfor|that|about(?!\s(?:it|this)\b)|regarding|to|only\sif|if\s(?:it|there))\b|\sin\s(?:that"
    r"|stating|saying|its|part)\b"
)
_CONCLUDED = re.compile(
    r"\b(?:final|overall|verdict|label|judge?ment|conclusion|classification|therefore|thus|hence)\b"
)

_ONLY_SEEMS = re.compile(
    r"\b(?:sounds|looks|seems|appears|reads)(?:\slike|\sas)?((?:\s\w+){1,4}?)[.,;]\s(?:but\s)?(?:it|this"
    r"|that)\s(?:isn['’]t|is\snot|doesn['’]t)\s?[.!;]"
)
_ANSWERED_QUESTION = re.compile(
    r"\?\s{1,4}(?:a(?:nswer)?:\s)?(?:(?P<said>yes|no|true|false)\b|(?P<no>no(?:thing|ne|pe)\b|nah\b|(?:absolutely\s"
    r"|certainly\s)?not\b(?=\W*(?:$|[.,;!])|\s(?:at\sall|really|quite|in|by|that|with|for|if)\b)|hardly\b|never\b"
    r"|far\sfrom\sit"
    r"|[✘✗❌]|(?:i|it)\s(?:would|do|does|did|is)(?:\snot|n['’]t)\b)|(?P<yes>[✔✓✅]|indeed|absolutely|certainly"
    r"|definitely|it\s(?:is|does)(?=\W*(?:$|[.,;]))|i\swould(?=\W*(?:$|[.,;]))))"
)
_SPELLING = Spelling(
    [
        "hallucinated",
        "hallucination",
        "factual",
        "fabricated",
        "supported",
        "answer",
        "incorrect",
        "inaccurate",
        "verdict",
    ],
    ["actual", "hallucinate", "fabricate", "support", "answered", "answers", "inaccuracy", "unsupported", "accurate"],
)
_QUOTED_QUESTION = re.compile(r"(?<!\w)['\"‘“«][^'\"\n]{1,80}\?['\"’”»]")
_BOLD_DIGIT = re.compile(r"^\s{0,4}(?:\*\*|__)([012])(?:\*\*|__)[.:]?\s", re.MULTILINE)
_FORMATTING = re.compile(r"[*`${}\"“”„«»「」『』#]|\\(?:text|textbf|mathrm|mathbf)\b|\\[()\[\],;! ]|</?\w{1,12}>")
_SENTENCE = re.compile(r"(?:(?<![^\n])\d\.(?=\s\w)|[^\n.?!;。？！]|[.?!;](?!\s|$))+[.?!;。？！]*")
# "0 – factual", "1 – hallucinated", "2 – unsure" on a line each.
_SCALE = re.compile(r"(?:(?:^|\n)[ \t>(•-]{0,8}[012]\s?[-–—:=.)→][^\n]{1,80}){2,3}")
# "(0 = factual, 1 = hallucinated, 2 = can't tell)".
_INLINE_SCALE = re.compile(
    r"\(?\b0\s?[=:–-]\s?[^\n()]{1,120}?[,;]\s?1\s?[=:–-]\s?[^\n()]{1,120}?[,;](?:\sand|\sor)?\s?2\s?[=:–-]\s?[^\n(),.;]{1,80}\)?"
)
_BEFORE_DIGIT = re.compile(
    r"(?:^|[^\w\s]\s*|\b(?:an?|is|be|as|say|answer|label|verdict|class\w*|category|scored?|rat(?:e|ing)|mark|with|for"
    r"|to|on|pick|choos\w+|select|choice|option|number|value|code|digit|result|judge?ment|decision|conclusion|output"
    r"|prediction|so|hence|thus|therefore|then|clear|plain|definite|solid|firm|the|it|leaves|give|put|response|final"
    r"|likely|probably|but|rather|not|still|just|simply|i|assessment|find)\s)$"
)
_ENGLISH = re.compile(r"\b(?:the|is|this|to|of|or|if|are|there)\b")
_MAX_SENTENCE = 600  # characters

_KEYS = (
    "hallucinat",
    "factual",
    "answer",
    "verdict",
    "label",
    "judg",
    "predict",
    "class",
    "decision",
    "choice",
    "result",
)


def read_verdict(text: str) -> Reading:
    """``"0"``, ``"1"`` or ``"2"`` that a text clearly states, or none.

    >>> read_verdict("The answer is not factual.").value, read_verdict("1").value, read_verdict("Who knows?").value
    ('1', '1', None)
    """
    reading = NOTHING
    for part in own_parts(text):
        if all(scale.search(part.lower()) for scale in _CLASSES):
            part = _ON_THE_SCALE.sub(lambda match: _RANKS[match[1]], ordinals_as_letters(part))
        holders, rest = held(part, _KEYS, "[012]")
        inside = [found for holder in holders if (found := _inside(holder, part))]
        reading = choose([*_candidates(rest), *inside], ("box",))
        if reading.value is not None:
            break
    return reading


def _inside(holder: Holder, text: str) -> Candidate | None:
    """The verdict that a box, tag or key holds: ``{"hallucinated": false}``, ``{"label": 1}``."""
    content = unwrap(holder.content).lower()
    value: str | None = content if content in (FACTUAL, HALLUCINATED, UNSURE) else None
    if re.search(r"\bif\b|_if_", holder.key):
        return None
    if "hallucinat" in holder.key or "factual" in holder.key:
        says = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(content)
        value = None if says is None else (HALLUCINATED if says == ("hallucinat" in holder.key) else FACTUAL)
    if value is None:
        value = choose(_candidates(content)).value
    if value is None:
        return None
    return Candidate(value, holder.start, holder.end, text, holder.cue, holder.support)


def _candidates(text: str) -> Iterator[Candidate]:
    text = _QUOTED_QUESTION.sub("", text)
    text = _BOLD_DIGIT.sub(r"\1: ", text)
    text = _INLINE_SCALE.sub("the scale", text)
    plain = _SCALE.sub(_without_scale, _FORMATTING.sub("", text.lower()).replace("_", " "))
    plain = _ANSWERED_QUESTION.sub(_answered, _ONLY_SEEMS.sub(r"is not\1.", re.sub(r" {2,}", " ", plain)))
    for sentence in bounded(_SENTENCE.finditer(plain)):
        stripped = sentence[0].strip()[:_MAX_SENTENCE]
        start = sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
        if _NO_VERDICT.search(stripped):
            yield _weighed(UNSURE, plain, start, start + len(stripped), "unsure", 60)
        elif all(name.search(stripped) for name in _CLASSES[: 2 if "neither" in stripped else 3]):
            continue
        elif not stripped.endswith(("?", "？")):
            spelled = _SPELLING.corrected(stripped) if _ENGLISH.search(stripped) else stripped
            english = list(_english(spelled, plain, start))
            yield from english
            if not english and not _ENGLISH.search(stripped):
                found = stated(stripped, english=_ANY_VERDICT.search(stripped) is not None)
                if found:
                    yield _weighed(found.value, plain, start + found.start, start + found.end, "answer", found.support)


def _without_scale(lines: re.Match[str]) -> str:
    """Nothing for a scale that is restated, line by line from 0 on; the text of any other numbered list."""
    numbers = re.findall(r"(?:^|\n)[^\w\n]*(\d)", lines[0])
    return "\n" if "0" in numbers and len(set(numbers)) == len(numbers) else lines[0]


def _answered(match: re.Match[str]) -> str:
    return f": {match['said'] or ('no' if match['no'] else 'yes')};"


def _english(sentence: str, text: str, offset: int) -> Iterator[Candidate]:
    if not _ANY.search(sentence):
        return
    for cue, statement, support in _STATEMENTS:
        read = [(value, match) for match in statement.finditer(sentence) if (value := _read(match))]
        for value, match in read:
            kind = next(name for name in _KINDS if match.groupdict().get(name))
            less = 6 if kind in ("right", "wrong") else 0
            yield _weighed(value, text, offset + match.start(kind), offset + match.end(kind), cue, support - less)
        if read:
            return


def _weighed(value: str, text: str, start: int, end: int, cue: str, support: float) -> Candidate:
    evidence = []
    sentence = text[max(0, start - 60) : start].rsplit("\n", 1)[-1]
    if _CONCLUDED.search(sentence):
        evidence.append(("concluded", 10.0))
    if cue in ("of_it", "does") and cut_off(text):
        evidence.append(("unfinished", -60.0))
    if taken_back_until(text) >= end:
        evidence.append(("taken_back", -25.0))
    return Candidate(value, start, end, text, cue, support, tuple(evidence))


_KINDS = ("hallucinated", "wrong", "factual", "right", "unsure", "digit")


def _read(match: re.Match[str]) -> str | None:
    """The verdict that a statement gives, negations counted; None where it leaves the verdict open."""
    groups = match.groupdict()
    kind = next(name for name in _KINDS if groups.get(name))
    sentence = match.string[: match.start(kind)]
    before = _CLAUSE.split(sentence)[-1]
    if _COUNTERFACTUAL.search(re.split(r"[;:]\s|\bbut\b", sentence)[-1]):
        return None
    continued = None if groups.get("reply") else _CONTINUED.match(match.string, match.end())
    if _OPEN.search(before) or (continued and not (kind == "wrong" and "about" in continued[0])):
        return None
    if kind == "unsure":
        return UNSURE
    negations = len(_NEGATION.findall(before)) + (groups.get("reply") in ("no", "none", "false", "0"))
    negations += bool(groups.get("nothing")) + bool(_MISTAKEN.match(match.string, match.end(kind)))
    if kind == "digit":
        if not _BEFORE_DIGIT.search(sentence) or re.search(
            r"\d\s?(?:,|or|and|/)\s?$", match.string[: match.start(kind)]
        ):
            return None
        return None if negations else _DIGITS.get(groups["digit"], groups["digit"])
    says_factual = kind in ("factual", "right")
    if says_factual and not negations and _HALF.search(before):
        return None
    return FACTUAL if says_factual == (negations % 2 == 0) else HALLUCINATED
