"""Whether an answer says that the note lacks what is needed: ``N/A`` and its kin.

Two readings: of the text inside a tag or box (:func:`says_not_available`), and of a response that ends in words
(:func:`states_not_available`). A number with a caveat is a number.
"""

from __future__ import annotations

import re

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.ends import both_ends

_MARKUP = re.compile(r"\\(?:text|textbf|mathrm|mathbf|boxed|quad|[,;:! ])|[*_`${}\"“”«»#>\\]|</?answer>", re.IGNORECASE)
_NAMES = re.compile(
    r"\b(?:CHA2DS2[-‑]?VASc|CURB[-‑]?65|FIB[-‑]?4|HCO3|PaO2|PaCO2|FiO2|SpO2|CO2|O2|T4|D2|B12|1\.73)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[!?;])\s+|(?<=\.)\s+(?=\D|\d+[.)]\s)|\n+|[。；]")

# ---- the words

_TOKEN = r"(?:n\s?/\s?a\b|\bn\.\s?a\b\.?|not\s(?:applicable|available)\b)"
_VERB = (
    r"(?:calculat|comput|determin|estimat|assess|deriv|obtain|giv|provid|scor|answer|establish|evaluat|work(?:ed)?\sout"
    r"|assign|complet|perform|appl|convert|report|tall|work(?:ed)?\sthis|finish|stat(?=ed?\b)|reach|know)"
)
_NOT_ABLE = (
    r"(?:\bcan\s?not\b|\bcan['’]?t\b|\bcould(?:\snot|n['’]t)\b|\b(?:un|not\s)able\sto\b|\bimpossible\sto\b|"
    r"(?:\bnot|n['’]t)\s(?:possible|feasible)\sto\b|\bno\sway\s(?:to|of)\b)"
)
_CANNOT = re.compile(
    rf"{_NOT_ABLE}\s(?:\w+ly\s)?(?:be\s)?(?:\w+ly\s)?{_VERB}\w*"
    r"|\bno\s(?:\w+[\s-]){0,4}?(?:answer|value|score|number|result|calculation|rate|total|figure|class)\b[^.;]{0,20}?"
    r"\b(?:can\sbe|could\sbe|is\s|are\s)?(?:\w+ed|given|possible)\b"
    rf"|(?:\binsufficient|\bnot\s(?:enough|sufficient)|n['’]t\s(?:enough|sufficient))\b[^.;]{{0,60}}\b(?:to\s{_VERB}"
    rf"|for\s(?:the\s|a\s)?calculat)"
    r"|\bno\s(?:\w+\s){1,3}?(?:can|could)\sbe\s(?:calculated|computed|determined|given|derived|assigned|reported)"
    r"|(?:\bnot|n['’]t)\s(?:calculable|computable|determinable|answerable|scorable|obtainable)\b|\b(?:incalculable"
    r"|in?computable|uncomputable|uncalculable|indeterminable|indeterminate|undeterminable|undetermined|unanswerable)\b"
    r"|\bcalculation\s(?:is\s)?(?:not\s|im)possible\b|\b(?:not\s|im)possible\W*$|\bno\sdetermination\b"
    rf"|(?:\bnot|n['’]t)\s(?:appropriate|safe|advisable|right)\s(?:for\sme\s)?to\s{_VERB}"
    r"|\b(?:can\s?not|can['’]t|unable\sto)\s(?:settle|decide|tell|say|determine)\swh(?:ich|ether)\b|\bleav(?:e"
    r"|ing)\s(?:the\s|this\s|it\s)?(?:\w+\s)?(?:open|blank|unanswered)\b|\b(?:do\snot|don['’]t)\shave\s(?:the|any"
    r"|enough|all)\s(?:\w+\s){0,2}(?:data|information|values?|inputs?)\b"
    r"|\bfehlen\s(?:\w+\s)?(?:die\s)?(?:\w+en\s)?(?:daten|angaben|werte|informationen)\b|\b(?:bleibt"
    r"|lasse\sich)\s(?:\w+\s){0,3}offen\b|\bne\s(?:dispose|possède|connais)\spas\sd|\bje\sn['’]ai\spas\s(?:les?|de"
    r"|assez)\s(?:\w+\s)?(?:données|informations|valeurs)|\bno\s(?:dispongo|tengo|cuento)\s(?:con\s|de\s)?(?:los\s"
    r"|la\s|suficientes?\s)(?:\w+\s)?(?:datos|información)|\bnão\s(?:disponho"
    r"|tenho)\s(?:d?[ao]s?\s)?(?:\w+\s)?(?:dados|informaç)|\bnon\s(?:dispongo|ho)\s(?:de[il]+\w*\s|i\s|le\s"
    r"|abbastanza\s)?(?:dati|informazioni)|нет\s(?:\w+\s)?(?:данных|информации|сведений)|ليس\sلدي|(?:لا\sتتوفر"
    r"|غير\sكافية)|जानकारी\s(?:पर्याप्त\s)?नहीं|गणना\sनहीं|没有(?:足够|必要|所需)|データが(?:ない|ありません)"
    r"|情報が(?:ない|ありません)|(?:정보|데이터)가\s없|\bimpossible\sto\ssay\b|(?:\bnot|n['’]t)\s(?:let|allow"
    r"|permit)\b|\bpreclud\w+|\bimpossible\s?(?::|$)|\bnot\spossible\sdue\b|\bnot\sgoing\sto\s(?:guess|calculate"
    r"|estimate)\b|\b(?:would\sbe|is)\s(?:a\s(?:pure\s)?guess|invented|inappropriate\sto|unsafe\sto)\b|\b(?:must"
    r"|have\sto)\sabstain\b|\bnicht\s(?:\w+\s)?(?:berechn|bestimm|ermittel|m[öo]glich|angeb|angegeben|nennen"
    r"|beantwort)\w*|\breichen\snicht\saus\b|\bne\s(?:peut|peux|pouvons|saurait)\s(?:pas\s)?(?:être\s)?(?:calcul"
    r"|détermin|estim|donn|fourni|attribu)|\bimpossible\sde\s(?:calcul|détermin|donn|fourni|attribu)|\b(?:données"
    r"|informations)\s(?:sont\s)?insuffisantes\b|\bno\s(?:se\s)?(?:puede|es\sposible|podemos"
    r"|puedo)\s(?:ser\s)?(?:calcul|determin|estim|dar\b|asign|obten)|\b(?:información"
    r"|datos)\s(?:son\s)?insuficientes?\b|\bn[ãa]o\s(?:é\spossível|(?:se\s)?pode(?:\sser)?|posso|consigo)\s(?:calcul"
    r"|determin|estim|dar\b|atribu|obter)|\bdados\sinsuficientes\b|\b(?:non\s(?:è\spossibile|si\spuò|posso)"
    r"|impossibile)\s(?:calcol|determin|stim|assegn|dare\b|fornire)|\bdati\sinsufficienti\b|невозможно\s\w+"
    r"|нельзя\s\w+|недостаточно\s(?:данных|информации)|[无無]法(?:计算|計算|确定|確定|得出)|(?:信息|数据|資料"
    r"|资料)不足|(?:計算|算出|判断|決定)(?:でき|不能|不可)|情報が?不足|(?:계산|산출|판단|결정)할\s?수\s?없|(?:정보"
    r"|자료)가?\s?부족",
    re.IGNORECASE,
)
_LACK = re.compile(
    r"\b(?:insufficient|inadequate|incomplete|limited|(?:not|n['’]t)\s(?:enough|sufficient)|too\s(?:little|few)"
    r"|no\sdata|undefined)\b|\b(?:does|do|did)(?:\snot|n['’]t)\s(?:\w+\s){0,2}?(?:contain|include|give|provide|mention"
    r"|state|report|list|describe|document|specify|record|support|say)\b|\black(?:s|ing)?\b|\bmissing\b|\babsent\b"
    r"|\bunavailable\b|\bunknown\b|\bnot\s(?:\w+\s)?in\sthe\snote\b|(?:\bnot|n['’]t|\bnone|\bnever)\s(?:\w+\s)?(?:given"
    r"|provided|documented|recorded|reported|available|mentioned|measured|stated|specified|described|obtained|known"
    r"|inferred|there|present)\b|\bhas\snone\b|\bno\smention\b|\bneither\b|\bunable\s(?:to|$)",
    re.IGNORECASE,
)
_CUE = (
    r"(?:\banswer|\bresponse|\bresult|\bscore|\bconclusion|\bsummar\w+|\btherefore|\bthus|\bhence|\bso|\bput|\bsay|"
    r"Antwort|Réponse|Respuesta|Resposta|Risposta|Ответ|答案|答え|回答|정답)"
)
_ANSWERED_SO = re.compile(
    rf"(?:^|{_CUE}\W{{0,4}}(?:here\W{{1,3}})?(?:(?:is|was|(?:would\s)?be|remains"
    rf"|it['’]s)\W{{1,3}})?(?:therefore\W{{1,3}})?)\W{{0,4}}"
    rf"(?P<token>{_TOKEN}|(?-i:NA\b)|(?:unknown|indeterminate|undetermined)\b)",
    re.IGNORECASE,
)
_NAMED_SO = re.compile(rf"^[\w\s/-]{{1,40}}\s?[:=]\s?(?:{_TOKEN}|(?-i:NA\b))", re.IGNORECASE)
_NOT_THE_ANSWER = re.compile(
    r"(?:\bnot|n['’]t|\brather\sthan\s\w+|\binstead\sof\s\w+|\bconsidered\s\w+|\bthought\b[^.]*)\W{1,3}$", re.IGNORECASE
)
_SPOKEN_OF = re.compile(
    r"\W{0,3}(?:would\sbe|is\s(?:only\s)?(?:allowed|wrong|for)|for\s(?:the\s)?(?:rest|remaining|others?)|(?:→|->)"
    r"|\(\s?0\b)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|were|would|had|could|might|unless|suppos\w+|needs?|requires?|average|typical|healthy|normal\w*"
    r"|orientation|(?:equival|äquival|équival)en[cz]\w*)\b",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|consequently|accordingly|conclude|conclusion|answer)\b"
    r"|\b(?:but|yet)\s(?:the\s)?(?:total|full|complete|whole|final|overall)\b",
    re.IGNORECASE,
)

_NUMBER = r"[-−–+~≈<>$(\[\s]{0,4}\d"
_RESULT = (
    rf"(?:{cues.any_word(cues.RESULT)}|{cues.any_word(cues.QUANTITY)}|scores?|index|it|estimate|rate|risk|dose|ratio"
    rf"|points"
    r"|total(?!\s(?:bilirubin|cholesterol|calcium|protein|white)))"
)
_LINK = r"(?:\bis\b|\bare\b|\bof\b|\bat\b|\bequals\b|\bcomes\sto\b|[:：=≈→])"
_HEDGE = (
    r"(?:\W{0,3}\b(?:about|approximately|around|roughly|nearly|most|likely|probably|therefore|then|only|the)\b){0,4}"
)
_VALUE = re.compile(
    rf"\b{_RESULT}\b(?P<between>[^.;:=\n]{{0,50}}?){_LINK}{_HEDGE}\s?{_NUMBER}(?![\d.,]*\s?[+×*−])"
    rf"|^\W{{0,4}}(?:(?:about|approximately"
    rf"|around|roughly|at\sleast)\s){{0,2}}{_NUMBER}(?!\d{{0,3}}[.)](?:\s|$))|\b(?:I|we)\b['’\w\s]{{0,12}}\b(?:estimate"
    rf"|answer|calculate|choose|go\swith|assign|give|put|say|get|find)\b[^.;\d]{{0,25}}{_NUMBER}"
    r"|\bfinal\sanswer\b[^.;\d]{0,20}\d|(?<!\bnote\s)(?<!\bchart\s)(?<!\d\s)(?<!/dL\s)(?<!Hg\s)\bgives?\b[^.;\d]{0,40}\d",
    re.IGNORECASE,
)
_BUT_VALUE = re.compile(
    rf"(?i)\b(?:but|yet|however)\b[^.;\d]{{0,30}}\b(?:is|about|approximately|around|roughly)\s?{_NUMBER}"
)
_DIGIT = re.compile(r"\d")
_REST = re.compile(r"\s?(?:$|[-–—(,.;:]|because\b|since\b|as\b|due\b|without\b)", re.IGNORECASE)


def _plain(text: str) -> str:
    text = _NAMES.sub("it", _MARKUP.sub("", text.replace("（", "(").replace("：", ":").replace("，", ",")))
    return re.sub(r"[ \t]+", " ", text).strip()


# ---- a tag's content


def says_not_available(content: str) -> bool:
    """Whether the text inside a tag or box is ``N/A`` or its like, alone or with a reason, and no number in its place.

    >>> says_not_available("N/A (no weight)"), says_not_available("about 45"), says_not_available("")
    (True, False, False)
    """
    text = _plain(content[:1000]).strip(" .,'()[]")
    text = re.sub(r"^(?:the\s)?(?:final\s)?answer(?:\sis)?\W{1,3}", "", text, flags=re.IGNORECASE)
    token = re.match(rf"{_TOKEN}|NA\b|(?:unknown|none\savailable)\b", text, re.IGNORECASE)
    if token and (token[0] != "Na") and _REST.match(text, token.end()):
        return True
    if _DIGIT.search(text):
        return False
    return bool(
        _CANNOT.search(text) or _LACK.search(text) or re.match(r"(?:can\s?not|unable|impossible)\b", text, re.I)
    )


# ---- a response in words


def states_not_available(text: str) -> bool:
    """Whether a response ends up saying that the note lacks what is needed, and gives no value all the same.

    Of statements that nothing can be calculated and statements of a value the last decides; but what cannot be known
    beside a value that was given, such as its cause, takes nothing from it.

    >>> states_not_available("The weight is not given, so it cannot be calculated.")
    True
    >>> states_not_available("The weight is not given. With 70 kg, the clearance is 88 mL/min.")
    False
    """
    sentences = [sentence.strip() for sentence in _SENTENCE.split(_plain(both_ends(text))) if sentence.strip()]
    abstains = has_value = lacks = False
    for sentence in sentences:
        found = _decided(sentence, has_value)
        if found is not None:
            abstains, has_value = found, not found
        lack = _LACK.search(sentence)
        lacks = lacks or (lack is not None and not re.search(r"(?i)\bif\b", sentence[: lack.start()]))
    if abstains or has_value:
        return abstains
    if sentences and _NAMED_SO.search(sentences[-1]):
        return True
    whole = " ".join(sentences)
    return lacks and not _DIGIT.search(whole)


def _decided(sentence: str, has_value: bool) -> bool | None:
    """What a sentence makes of the answer: True if there is none, False if it gives one, None if neither.

    Args:
        sentence: one.
        has_value: whether an earlier one gives a value.
    """
    cannot = _last(_CANNOT, sentence)
    if cannot:
        return _cannot_be_had(sentence, cannot, has_value)
    if _says_it_is_none(sentence):
        return True
    value = _last_value(sentence)
    return False if value is not None and not _SUPPOSED.search(sentence[:value]) else None


def _cannot_be_had(sentence: str, cannot: re.Match[str], has_value: bool) -> bool:
    """Whether what a sentence says cannot be had is the answer, and not something beside it."""
    before, after = sentence[: cannot.start()], sentence[cannot.end() :]
    if (_last_value(after) is not None or _BUT_VALUE.search(after)) and not _SUPPOSED.search(after):
        return False
    value = _last_value(before)
    return not (has_value or value is not None) or bool(_CONCLUDED.search(sentence[value or 0 : cannot.end()]))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007
        pass
    return found


def _says_it_is_none(sentence: str) -> bool:
    for match in _ANSWERED_SO.finditer(sentence):
        start, end = match.span("token")
        if not _NOT_THE_ANSWER.search(sentence[:start]) and not _SPOKEN_OF.match(sentence, end):
            return True
    return False


def _last_value(sentence: str) -> int | None:
    """Where the last statement of a value stands, if there is one."""
    last = None
    for match in _VALUE.finditer(sentence):
        between = match.groupdict().get("between") or ""
        if not _CANNOT.search(between) and not re.search(r"\b(?:not|missing|so\sfar|partial|if)\b", between):
            last = match.end()
    return last
