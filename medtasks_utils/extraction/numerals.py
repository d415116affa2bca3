"""Numbers in words: "twenty-one", "minus four point five", "dreiunddreißig", "veintisiete", "二十一", "일곱 점"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.weighing import Found

_WORDS: dict[str, tuple[str, str, str]] = {
    # zero to nineteen; twenty, thirty, … ninety; hundred
    "en": (
        "zero|nought|naught one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
        " sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "hundred",
    ),
    "de": (
        "null eins?"
        "|eine? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn"
        " siebzehn achtzehn neunzehn",
        "zwanzig dreißig|dreissig vierzig fünfzig sechzig siebzig achtzig neunzig",
        "hundert",
    ),
    "fr": (
        "zéro une? deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept"
        " dix-huit dix-neuf",
        "vingts? trente quarante cinquante soixante soixante-dix quatre-vingts? quatre-vingt-dix",
        "cents?",
    ),
    "es": (
        "cero un[oa]? dos|dós tres|trés cuatro cinco seis"
        "|séis siete ocho nueve diez once doce trece catorce quince dieciséis"
        " diecisiete dieciocho diecinueve",
        "veinte|veinti treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        "cien(?:to)?",
    ),
    "pt": (
        "zero uma? dois|duas três quatro cinco seis sete oito nove dez onze doze treze quatorze|catorze quinze"
        " dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove",
        "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
        "cem|cento",
    ),
    "it": (
        "zero un[oa]? due tre|tré quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
        " sedici diciassette diciotto diciannove",
        "venti? trenta? quaranta? cinquanta? sessanta? settanta? ottanta? novanta?",
        "cento",
    ),
    "ru": (
        "ноль один|одна|одной два|две|двух три|трёх|трех четыре пять шесть семь восемь девять десять одиннадцать"
        " двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать",
        "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто",
        "сто",
    ),
    "ar": (
        "صفر واحدة? اثنان|اثنين|اثنتان|اثنتين ثلاثة? أربعة? خمسة? ستة? سبعة? ثماني?ة?|ثمان تسعة? عشرة?"
        r" أحد\sعشر|إحدى\sعشرة اثن[اي]\sعشر|اثنت[اي]\sعشرة ثلاثة?\sعشرة? أربعة?\sعشرة? خمسة?\sعشرة? ستة?\sعشرة?"
        r" سبعة?\sعشرة? ثماني?ة?\sعشرة? تسعة?\sعشرة?",
        "عشر[وي]ن ثلاث[وي]ن أربع[وي]ن خمس[وي]ن ست[وي]ن سبع[وي]ن ثمان[وي]ن تسع[وي]ن",
        "مئة|مائة",
    ),
    "hi": (  # no two of its numbers up to a hundred are made alike
        "शून्य एक दो तीन चार पाँच|पांच छह|छः|छे सात आठ नौ दस ग्यारह बारह तेरह चौदह"
        " पंद्रह|पन्द्रह सोलह सत्रह अठारह|अट्ठारह उन्नीस बीस इक्कीस बाईस|बाइस तेईस|तेइस"
        " चौबीस पच्चीस छब्बीस सत्ताईस|सत्ताइस अट्ठाईस|अट्ठाइस उनतीस|उन्तीस तीस"
        " इकतीस|इकत्तीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस|उनचालीस"
        " चालीस इकतालीस बयालीस तैंतालीस चौवालीस|चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस"
        " उनचास पचास",
        "",
        "सौ",
    ),
}
_JOINT = r"[\s-]?(?:(?:and|und|et|y|e|و)[\s-]?)?"
MINUS = r"(?:minus|negative|moins|menos|meno|минус|سالب|ناقص|ऋण|माइनस)\s"
_POINT = r"\s(?:point|Komma|virgule|coma|vírgula|virgola|فاصلة|दशमलव)"
_HALF = r"\s(?:and\sa\shalf|und\sein\shalb|et\sdemie?|y\smedi[oa]|e\smei[oa]|e\smezz[oa])"
_AMBIGUOUS = re.compile(r"une?|un[oa]|uma?|eine?|एक|(?P<number>eins|dos|due|once|sept|sei)", re.IGNORECASE)
_DIGITS, _SINO = "零一二三四五六七八九", "영일이삼사오육칠팔구"
_HAN = {character: value for digits in (_DIGITS, _SINO) for value, character in enumerate(digits)} | {"两": 2, "兩": 2}
_NATIVE = {
    word: value for value, word in enumerate(["", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉"])
}


def _values(name: str) -> list[tuple[str, int]]:
    small, tens, hundred = _WORDS[name]
    ordered = [*enumerate(small.split()), *((10 * (n + 2), word) for n, word in enumerate(tens.split()))]
    pairs = [(form, value) for value, forms in [*ordered, (100, hundred)] for form in forms.split("|")]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


class _Language:
    """The numbers of a language: a pattern for one and the value of each of its words."""

    def __init__(self, name: str) -> None:
        self.words = [(re.compile(form, re.IGNORECASE), value) for form, value in _values(name)]
        one = f"(?:{'|'.join(form for form, _ in _values(name))})"
        several = rf"{one}(?:{_JOINT}{one}){{0,4}}"
        self.pattern = rf"{several}(?:{_POINT}\s{several})?(?:(?:\s[^\W\d_]{{2,14}})?{_HALF})?(?![^\W_])"

    def value(self, text: str) -> float | None:
        """The value of what the pattern matched; None where it is two numbers and not one ("four and five")."""
        whole, _, digits = re.sub(rf"(?i){_POINT}\s", "|", text).partition("|")
        half = re.search(rf"(?i){_HALF}$", whole)
        numbers = self._parts(whole[: half.start()] if half else whole)
        if not all(_may_follow(second, first) for first, second in pairwise(numbers)):
            return None
        return _sum(numbers) + (0.5 if half else 0) + self._decimals(digits)

    def _decimals(self, digits: str) -> float:
        """What stands after the point: digit by digit, or as one number ("seventy-five")."""
        numbers = self._parts(digits)
        if all(number < 10 for number in numbers):
            return float(f"0.{''.join(map(str, numbers)) or 0}")
        return float(f"0.{'0' * numbers.count(0)}{_sum(numbers)}")

    def _parts(self, text: str) -> list[int]:
        found, position = [], 0
        while position < len(text):
            words = ((pattern.match(text, position), value) for pattern, value in self.words)
            match, value = next(((match, value) for match, value in words if match), (None, 0))
            if match:
                found.append(value)
            position = match.end() if match else position + 1
        return found


def _sum(numbers: list[int]) -> int:
    total = 0
    for number in numbers:
        total = max(total, 1) * 100 if number == 100 else total + number
    return total


def _may_follow(second: int, first: int) -> bool:
    """Whether two numbers make one: twenty and one, one hundred, sixty and eleven, in German three and twenty."""
    if first >= 20:
        return second < (20 if first in (60, 80) else 10) or (first == 100 and second < 100)
    return second == 100 or (0 < first < 10 and second >= 20)


_LINKS = {name: f"(?i:{cues.EQUALS.get(name, '(?!)')}|{cues.LINKED.get(name, '(?!)')})" for name in _WORDS}
_LANGUAGES = {name: _Language(name) for name in _WORDS}
_MATRAS = r"\u0900-\u0963"
_BEGINNINGS = "|".join(sorted({form[:2] for name in _WORDS for form, _ in _values(name)}))
_EAST = f"[{''.join(_HAN)}十십]"
_NATIVE_NUMBER = rf"열?\s?(?:{'|'.join(filter(None, _NATIVE))})|열"
_SPELLED = re.compile(
    rf"(?:(?<![\w'’{_MATRAS}])|(?<=\b[dl]['’]))(?<!\w-)(?P<minus>{MINUS}|-)?(?={_BEGINNINGS})(?:"
    + "|".join(rf"(?P<{name}>{language.pattern})" for name, language in _LANGUAGES.items())
    + rf")(?![\w{_MATRAS}-]|\s(?:(?:[^\W\d_]+\s)?цел\w\w\w?|komma|virgule|coma|vírgula|virgola|thousand|tausend"
    rf"|mil(?:le)?|тысяч\w?)\b)(?<!one(?=\sof))(?<!(?:the|his|hat)\sone(?!\s(?:point|crit|item|factor)))(?<!(?:the|ese"
    rf"|ose)\stwo(?!\s(?:point|crit)))|(?=[\u4e00-\u9fff\u30de\uac00-\ud7af])(?<!{_EAST})(?P<negative>[负負]|マイナス"
    rf"|마이너스\s)?(?P<east>{_EAST}{{1,3}}(?:\s?[点點・점]\s?{_EAST}{{1,4}}(?!・)|(?=\s?(?:[分点點周週天]|です|。|$"
    rf"|점(?:[이입으\s,.]|$))))|(?:{_NATIVE_NUMBER})(?=\s?(?:점|개|주|일)))",
    re.IGNORECASE,
)


def spelled_numbers(text: str, *, counted: bool = False) -> Iterator[Found]:
    """The numbers in words in a text.

    Args:
        text: any text.
        counted: also what is an article or a word of another language besides ("une", "due"), for a reader who looks
            at the noun that follows.

    >>> [found.value for found in spelled_numbers("minus four point five, zweiunddreißig, veintisiete, 二十一天")]
    [-4.5, 32.0, 27.0, 21.0]
    """
    for match in _SPELLED.finditer(text):
        if match["east"]:
            value: float | None = _east(match["east"])
        else:
            name = next(name for name in _LANGUAGES if match[name])
            alone = not counted and name != "en" and _AMBIGUOUS.fullmatch(match[name])
            if (
                alone
                and alone["number"]
                and re.search(rf"(?:{_LINKS[name]}|[:=])\s$", text[max(0, match.start() - 20) : match.start()])
            ):
                alone = None
            value = None if alone else _LANGUAGES[name].value(match[name].lower())
        if value is not None:
            is_negative = match["minus"] or match["negative"]
            yield Found(-value if is_negative else float(value), match.start(), match.end(), is_word=True)


def _east(text: str) -> float:
    text = re.sub(r"\s", "", text)
    if text in _NATIVE or text[0] == "열":
        return (10 if text[0] == "열" else 0) + _NATIVE[text.removeprefix("열")]
    whole, _, digits = re.sub("[点點・점]", ".", text).partition(".")
    tens, ten, ones = whole.replace("십", "十").rpartition("十")
    value = (_HAN[tens] if tens else 1 if ten else 0) * 10 + (_HAN[ones] if ones else 0)
    return float(f"{value}.{''.join(str(_HAN.get(digit, 0)) for digit in digits) or 0}")
