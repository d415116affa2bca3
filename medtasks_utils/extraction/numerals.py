"""Numbers written in words: "twenty-one", "minus four point five", "dreiunddreißig", "veintisiete", "二十一"."""

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
}
_JOINT = r"[\s-]?(?:(?:and|und|et|y|e)[\s-]?)?"
_MINUS = r"(?:minus|negative|meno|menos|moins|минус)\s"
_POINT = r"\s(?:point|Komma|virgule|coma|vírgula|virgola)"
_HALF = r"\s(?:and\sa\shalf|und\sein\shalb|et\sdemie?|y\smedi[oa]|e\smei[oa]|e\smezz[oa])"
_AMBIGUOUS = re.compile(r"une?|un[oa]|uma?|eine?|(?P<number>eins|dos|due|once|sept|sei)", re.IGNORECASE)
_DIGITS = "零一二三四五六七八九两兩"
_HAN = {character: value for value, character in enumerate(_DIGITS[:10])} | {"两": 2, "兩": 2}


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
        self.pattern = rf"{one}(?:{_JOINT}{one}){{0,4}}(?:{_POINT}(?:\s{one}){{1,4}})?(?:{_HALF})?(?![^\W_])"

    def value(self, text: str) -> float | None:
        """The value of what the pattern matched; None where it is two numbers and not one ("four and five")."""
        whole, _, digits = re.sub(rf"(?i){_POINT}\s", "|", text).partition("|")
        half = re.search(rf"(?i){_HALF}$", whole)
        numbers = self._parts(whole[: half.start()] if half else whole)
        if not all(_may_follow(second, first) for first, second in pairwise(numbers)):
            return None
        total = 0
        for number in numbers:
            total = max(total, 1) * 100 if number == 100 else total + number
        decimals = "".join(map(str, self._parts(digits)))
        return total + (0.5 if half else 0) + float(f"0.{decimals or 0}")

    def _parts(self, text: str) -> list[int]:
        found, position = [], 0
        while position < len(text):
            words = ((pattern.match(text, position), value) for pattern, value in self.words)
            match, value = next(((match, value) for match, value in words if match), (None, 0))
            if match:
                found.append(value)
            position = match.end() if match else position + 1
        return found


def _may_follow(second: int, first: int) -> bool:
    """Whether two numbers make one: twenty and one, one hundred, sixty and eleven, in German three and twenty."""
    if first >= 20:
        return second < (20 if first in (60, 80) else 10) or (first == 100 and second < 100)
    return second == 100 or (0 < first < 10 and second >= 20)


_LINKS = {name: f"(?i:{cues.EQUALS[name]}|{cues.LINKED.get(name, cues.EQUALS[name])})" for name in _WORDS}
_LANGUAGES = {name: _Language(name) for name in _WORDS}
_SPELLED = re.compile(
    rf"(?<![\w'’])(?<!\w-)(?P<minus>{_MINUS}|-)?(?:"
    + "|".join(rf"(?P<{name}>{language.pattern})" for name, language in _LANGUAGES.items())
    + rf")(?![\w-]|\s(?:thousand|tausend|mil(?:le)?|тысяч\w?)\b)(?<!one(?=\sof))"
    rf"|(?<![{_DIGITS}十])(?P<han>[{_DIGITS}]?十[{_DIGITS}]?|[{_DIGITS}])(?=\s?[分点點周週天])",
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
        if match["han"]:
            value: float | None = _han(match["han"])
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
            yield Found(-value if match["minus"] else float(value), match.start(), match.end(), is_word=True)


def _han(text: str) -> int:
    tens, ten, ones = text.rpartition("十")
    return (_HAN[tens] if tens else 1 if ten else 0) * 10 + (_HAN[ones] if ones else 0)
