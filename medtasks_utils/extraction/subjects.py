"""What a number or date is said to be: the result, or a limit, a risk, an input, an earlier value, a check."""

from __future__ import annotations

import re

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.asked import of_something_else
from medtasks_utils.extraction.ends import CutOff, cut_off
from medtasks_utils.extraction.quantities import Percentage
from medtasks_utils.extraction.surroundings import after, before, clause
from medtasks_utils.extraction.weighing import Candidate

_RISK = cues.any_word(cues.RISK)
_EQUALS, _LINKED, _ABOUT = map(cues.any_word, (cues.EQUALS, cues.LINKED, cues.ABOUT))
_NORMAL_BEFORE, _RISK_BEFORE, _EARLIER, _CHECKED, _DERIVED = (
    re.compile(cues.any_word(table)) for table in (cues.NORMAL, cues.RISK, cues.EARLIER, cues.CHECKED, cues.DERIVED)
)
_RISK_AFTER = re.compile(rf"[^\n,;.()]{{0,24}}?{_RISK}")
_RISK_ASKED = re.compile(r"(?i)framingham|\byear\s(?:\w+\s){0,3}risk\b|\brisk\sof\b")
_EARLIER_AFTER = re.compile(
    r"[^\d.,;:()\n]{0,20}\s(?:a\s(?:year|month|week)\sago|last\s(?:year|month|week)|previously|earlier"
    r"|(?<!day\s)(?<!days\s)before|(?:on|in|at)\s(?:my|the|a)\sfirst\s(?:pass|try|attempt|go|count|reading)"
    r"|on\sadmission|yesterday|when\s\w+\sstill|(?:that\s)?(?:one|you|we)\s(?:aims?|wants?|looks?)|uncorrected"
    r"|too\s(?:low|high))\b|[\sA-Za-z/²%]{0,8}(?:でした|だった|였습니다|이었습니다)",
    re.IGNORECASE,
)
_SUBJECT = re.compile("|".join(map(cues.any_word, (cues.RESULT, cues.TOTAL, cues.QUANTITY, cues.DERIVED))))
_SIDE_CLAUSE = re.compile(
    r"(?i)(?:\b(?:while|whereas|since|because|weil|puisque|ya\sque|porque|poiché|потому\sчто|так\sкак|während"
    r"|wohingegen|alors\sque|tandis\sque|mientras(?:\sque)?|enquanto|mentre"
    r"|тогда\sкак|в\sто\sвремя\sкак)\b|بينما|जबकि|而)"
)
_INPUT_NAMED = re.compile(
    rf"{cues.any_word(cues.INPUT)}\)?(?:\s(?!{_EQUALS}|it\b)[^\W\d]{{1,12}}){{0,2}}\s?(?:\([^()\n]{{0,20}}\)\s?)?"
    rf"(?:(?:{_EQUALS}|{_LINKED})\s?){{0,2}}(?:{_ABOUT}){{0,4}}$"
    rf"|\|\s?(?:[^\W\d]+\s)?{cues.any_word(cues.INPUT)}(?:\s[^\W\d]+)?\s?\|\s?$"
)
_NOT_BEFORE = re.compile(
    rf"{cues.either(cues.NOT_BEFORE)}\s?(?:é\s|es\s|è\s|quite\s|just\s|de\s|bei\s)?(?:{_ABOUT}){{0,3}}$"
)
_NOT = re.compile(cues.any_word(cues.NOT_BEFORE))
_BUT_AFTER = re.compile(rf"[^.;\n\d]{{0,30}},?\s?{cues.any_word(cues.BUT)}\s?[^.;,\n\d]{{0,20}}\d")
_ONLY_IF = re.compile(
    r"(?i)\b(?:(?:toss|throw|factor)(?:ing)?\sin|(?:correct|adjust)(?:ing)?\sfor|with|using|for\s\w+ing|without|had|if"
    r"|were|by|per|under|according\sto|wenn|bei|mit|nach|hätte|wäre|avec|selon|d['’]après|si|s['’]il|con|según|se|com"
    r"|segundo|secondo|если|при|по)\b.{0,70}(?:(?:\bwould|['’]d)\s(?:\w+\s)?(?:be|have|give|get|become)\b|\b(?:wären?"
    r"|würden?|ergäben?|lägen?|[a-z]{2,}rai(?:en)?t|(?:se|da|queda|tend|habr)rían?|(?:se|da|fica|te)riam?"
    r"|[a-z]{2,}rebbero?|бы)\b)|\bwould\s(?:give|add|count|score)\s$|\bnot\sasked(?:\sfor)?\)\s[^.;]{0,20}$"
    r"|(?i:\bif\syou(?:['’]d)?\s(?:want|need|like|prefer"
    r"|wish)\b)"
)
_COUNTERFACTUAL = re.compile(cues.any_word(cues.COUNTERFACTUAL))
_BESIDE = re.compile(cues.any_word(cues.BESIDE))
_NOT_ASKED = re.compile(
    r"(?i)\s?[A-Za-z/%²]{0,8}\s(?:would|wäre|serait|sería|seria|sarebbe)\b(?!\s(?:also\s)?(?:round|give|make|mean))"
    r"|[^.;\n]{0,40}(?:\b(?:(?:nobody|no\sone)\sasked|(?:n['’]t|not)\s(?:asked|requested|wanted)|nicht\sgefragt"
    r"|pas\sdemand|no\sse\spide|não\s(?:é|foi)\spedid|non\s(?:è\srichiest|si\schiede)|не\s(?:спрашива|требу))"
    r"|[,\s]\s?(?:(?:(?:does|do|did|would)\s(?:not|n['’]t)|doesn't|won't)\s(?:change|alter|affect)|n['’]y\schange"
    r"|ne\schange|ändert\s(?:daran\s)?nicht|no\s(?:lo\s)?cambia"
    r"|não\s(?:\w\s)?muda|non\s(?:\w+\s)?cambia|не\sменяет)|不影响|没有?要求|求められてい(?:ない|ません)|묻지\s않)"
)
_OR = r"(?:or|oder|ou|o|или|أو|或)"
_UNDECIDED = re.compile(
    r"(?i)\b(?:(?:can(?:not|['’]t|\snot)|unable\sto|impossible\sto)\s(?:say|tell|determine|know|decide"
    r"|judge)\swh(?:ich|at)|nicht\s(?:sagen|entscheiden),?\swelche|(?:dire|savoir)\sl(?:equel|aquelle)|(?:decir"
    r"|saber)\scuál|(?:dizer|saber)\squal|(?:dire|sapere)\squale|(?:сказать|определить),?\sкак)|无法(?:确定"
    r"|判断)(?:是?哪)|どちら[^。]{0,12}(?:ません|できない)|어느[^.]{0,12}없"
)
_BOTH = re.compile(
    r"(?i)\b(?:both|beide|les\sdeux|amb[ao]s|entrambi|оба)\b[^.;\n]{0,30}\s(?:equally|are\s(?:my|the|final|valid"
    r"|correct|right|possible|acceptable)|stand\b|gleicher|sont\s(?:valables|possibles)|son\s(?:válid|posibl)"
    r"|são\s(?:válid|possív)|sono\s(?:valid|possibil)|верн)"
)
_LEFT_FROM_NORMAL = re.compile(rf"\d[^\d]{{0,20}}?\s{_EQUALS}\s")


def called_normal(candidate: Candidate) -> bool:
    """As in "normal: 8.5", "the upper limit of normal is 10.2", "満点は9"."""
    named = _NORMAL_BEFORE.search(clause(candidate))
    return named is not None and not _LEFT_FROM_NORMAL.search(named.string, named.end())


def a_risk(candidate: Candidate) -> bool:
    """As in "mortality of 9.3 %", "9.3 % mortality", where no risk was asked for."""
    if _RISK_ASKED.search(candidate.asked) or "framingham" in candidate.text[:200].lower():
        return False
    right = after(candidate)
    share = isinstance(candidate.value, Percentage) and _RISK_AFTER.match(right)
    return bool(_RISK_BEFORE.search(clause(candidate)) or share)


def earlier(candidate: Candidate) -> bool:
    """As in "up from 31.9", "before correction it was 7.4", "104 on admission"."""
    return bool(_EARLIER.search(clause(candidate)[-60:]) or _EARLIER_AFTER.match(after(candidate)))


def a_check(candidate: Candidate) -> bool:
    """As in "Check: 152.4 + 46 + 42.6 = 241", "Difference: 1.6 mg/dL"."""
    return bool(_CHECKED.search(clause(candidate)))


def a_given_quantity(candidate: Candidate) -> bool:
    """As in "the sodium is 139", but not "the corrected sodium is 141"."""
    left = clause(candidate)
    named = _INPUT_NAMED.search(left)
    if not named:
        return False
    derived = _DERIVED.search(left)
    return (
        derived is None
        or re.search(r"(?i)\b(?:for|by|to|bei|pour|para|per)\s(?:an?\s|the\s)?$", left[: named.start()]) is not None
    )


def denied(candidate: Candidate) -> bool:
    """As in "it is not 6 but 4", "it is not, then, 136.84 (Katz), but 138.76"."""
    left = before(candidate)[-40:]
    return bool(_NOT_BEFORE.search(left) or (_NOT.search(left) and _BUT_AFTER.match(after(candidate))))


def named(candidate: Candidate) -> bool:
    """As in "the score is 4", "BMI = 31", but not "the sodium is 139", "and we get 3.09"."""
    return bool(_SUBJECT.search(before(candidate)))


def in_a_side_clause(candidate: Candidate) -> bool:
    """As in "…, whereas the ideal weight is 58.9", "since his BMI is 22.9"."""
    return bool(_SIDE_CLAUSE.search(re.split(r"[,;，；]", before(candidate))[-1]))


def only_supposed(candidate: Candidate) -> bool:
    """As in "with the actual weight it would be 64.4", "23.8 corrected, but nobody asked for that"."""
    left = re.split(r"[;；]", before(candidate))[-1]
    return bool(
        _ONLY_IF.search(left)
        or _BESIDE.search(left)
        or _COUNTERFACTUAL.search(left)
        or _NOT_ASKED.match(after(candidate))
    )


def unfinished(candidate: Candidate) -> bool:
    """A step of a calculation that is cut off before its end, as in "63 × 61.2 = 3855.6. 3855.6 × 0.85 ="."""
    stated = candidate.text[max(0, candidate.start - 12) : candidate.end]
    if candidate.cue in ("answer", "alone") or (candidate.cue == "total" and candidate.text.count(stated) > 2):
        return False
    how = cut_off(candidate.text)
    if how is CutOff.IN_WORDS:
        is_step = not named(candidate) or before(candidate).rstrip().endswith(("=", "≈", ":", "→", "+"))
        return is_step or candidate.cue != "stated" or of_something_else(candidate)
    return how is CutOff.IN_A_CALCULATION


def an_example(candidate: Candidate) -> bool:
    """As in "a number such as 12.5", "e.g. 7"."""
    return bool(
        re.search(
            r"(?i)(?:\d[\d.]*\s?mg\s(?:of\s|de\s|di\s|d')?[^\W\d]+\s?[=≈]\s?){2,4}$|\b(?:such\sas|e\.g\.,?"
            r"|(?:(?:a\smodo\sde|à\stitre\sd'|a\stítulo\sde|a\stitolo\sd'|by\sway\sof)\s?e[jxs][ae]mp\w+"
            r"|beispielsweise),?|for\s(?:example|instance),?|z\.\s?b\.|par\sexemple|por\se(?:jemplo|xemplo)"
            r"|ad\sesempio|например|مثلاً?|like)[\s,:：][^\d\n]{0,12}$|\b(?:another|further|weiteres|autre|otro|outro"
            r"|altro)\s(?:example|beispiel|exemple|e[jx]emplo|esempio)\b|(?:example|beispiel|exemple|e[jx]emplo"
            r"|esempio)\b[^\n]{0,60}\s(?:would|wär|ergäb|serai|donnerai|ser[íi]a|dar[íi]a|sareb|dareb)|(?:例如|例えば"
            r"|예를\s들어|उदाहरण)[^\d\n]{0,12}$",
            before(candidate),
        )
    )


def one_of_two(candidate: Candidate) -> bool:
    """As in "3 or 4 points", "94 (Friedewald) or 103 (Hopkins): I cannot say which", "Both are my answer"."""
    left, right = before(candidate), after(candidate)
    if _BOTH.search(candidate.text, candidate.end, candidate.end + 300) and candidate.cue == "answer":
        return True
    if re.match(rf"\s{_OR}\s-?\d", right) or re.search(rf"\d\s{_OR}\s$", left):
        return True
    apart = re.match(rf"[^.;\n\d]{{0,40}}\s{_OR}\s[^\d\n]{{0,12}}\d", right) or re.search(
        rf"\d[^.;\n\d]{{0,40}}\s{_OR}\s", left
    )
    return bool(apart and _UNDECIDED.search(candidate.text, candidate.end, candidate.end + 300))
