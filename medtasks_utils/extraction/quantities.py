r"""Numbers, dates and ages as people write them: found in a text, each with its value and what kind of number it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from medtasks_utils.extraction.numerals import MINUS, spelled_numbers
from medtasks_utils.extraction.weighing import Found

BOLD = "\x01"
"""What stands for the marks of bold text in :func:`prepared` text."""


class Percentage(float):
    """A number that stands before a percent sign: 83.3 for ``83.3%``."""


_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("−–—﹣－‑", "-"),
        "×": "×",
        "·": "×",
        "⋅": "×",
        "％": "%",
        "٫": ".",
        "٪": "%",
        "〜": "-",
        "～": "-",
    }
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LATEX_WORDS = (
    (re.compile(r"\\(?:approx|simeq|sim)(?![a-z])"), " ≈ "),
    (re.compile(r"\\(?:times|cdot)(?![a-z])"), " × "),
    (re.compile(r"\\(?:right|Right|long)?arrow(?![a-z])|\\(?:to|implies|Rightarrow|rightarrow)(?![a-z])"), " → "),
    (re.compile(r"\\(?:le|leq|leqslant)(?![a-z])|<=(?!=)"), " ≤ "),
    (re.compile(r"\\(?:ge|geq|geqslant)(?![a-z])|>="), " ≥ "),
    (re.compile(r"(?:--?|==?)>"), " → "),
    (re.compile(r"\\pm(?![a-z])"), "±"),
    (re.compile(r"\\div(?![a-z])"), " ÷ "),
)
_NUM = r"-?\d{1,15}(?:\.\d{1,15})?"
_FRACTION = re.compile(
    rf"(?P<whole>(?<![\w.])\d{{1,6}})?\s?\\[dt]?frac\s?\{{\s?(?P<over>{_NUM})\s?\}}\s?\{{\s?(?P<under>{_NUM})\s?\}}"
)
_MIXED = re.compile(r"(?<![\d./])(\d{1,4})\s(\d{1,2})/(\d{1,2})(?![\d/]|\.\d)")
# A proper fraction alone; not an operand, a date or a blood pressure.
_PART_OF = r"\s(?:of\sthe|de\sla|de[srl]|du|d[ao]|della)\b"
_SIMPLE = re.compile(rf"(?<![\w./^(×*+÷-])(?<![×*+÷-]\s)([1-9])/([2-9]|10)(?![\d/.)^]|\s?[×*+÷=≈^-]|{_PART_OF})")
_PROPER = re.compile(
    rf"(?<=[=≈]\s)({_NUM})\s?/\s?({_NUM})(?=\s*(?:\n|$)|[.,;](?:\s|$))|(?<=\b(?:is|es"
    rf"|st)\s)(\d{{1,3}})/(\d{{1,3}})(?=[\s.,])(?!{_PART_OF})"
)
_SCORED = re.compile(r"(?i)wells|points?\b|score|criteria")
_VULGAR = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_VULGAR_FRACTION = re.compile(rf"(\d{{0,6}})\s?([{''.join(_VULGAR)}])")
_POWER_OF_TEN = re.compile(
    r"(?<=\d)\s{0,3}(?:x|\*|×)\s{0,3}10\s?(?:(?:\^|\*\*)\s?[({]?\s?([+-]?\d{1,3})\s?[)}]?|([⁻⁺]?[⁰¹²³⁴-⁹]{1,3}))"
)
_LATEX = re.compile(
    r"\\(?:boxed|fbox|text(?:bf|it|rm)?|math(?:rm|bf|it)|quad|left|right|displaystyle|dfrac|[,;!: ]|(?=%))"
    r"|\\[()\[\]]|[{}$`]|(?<!\w)_{1,2}(?=\w)|(?<=FE|QT|CL|Cl|Cr)_(?=\{?(?:[Uu]rea|Na|c|cr|K|Mg)\}?(?![A-Za-z]))"
)
_TILDE_RANGE = re.compile(r"(?<![=≈\d.])(?<![=≈]\s)(\d[\d.,]{0,9})\s?[~∼]\s?(?=\d)")
_POWER = re.compile(r"(?<=[\d)])(?:\*\*|\s\*\*\s)(?=[\d(-])")
_QUOTED = re.compile(r"^\s?>\s(?=[*_A-Za-z])", re.MULTILINE)
_LEADERS = re.compile(r"\s?(?:\.{4,}|…{2,}|(?:\s\.){4,})\s?")
_TIMES = re.compile(
    r"(?<=[\d)])\s?\*\s?(?=[\d(])|(?<=[\w)])\s\*\s(?=[\w(])|(?<=[\d)])\s[xX]\s(?=[\d(√]|ln\b|log|[A-Z])"
)
_MAXIMUM_FIRST = re.compile(
    r"(\d{1,3})\s?[点點점分]\s?(?:만점|満点|满分|滿分|중|中)(?:에|で|の|的)?\s?(?:得|得了)?(?=(\d{1,3})\s?[点點점分])"
)
_ONE_POINT = re.compile(
    r"\b(?:(?:an?|the|eine?n?|une?|um)\s)?(?:(?:single|lone|einzige[nr]?|seul|solo|único|unico)\s|(?:eine?n?|une?"
    r"|um)\s)(?=(?:point|punkt|punto|ponto)\b)",
    re.IGNORECASE,
)
_CLASS = re.compile(r"((?i:pugh)[^\n\d]{0,24}?[\s:=(*])[ABC](?=\d{1,2}\b)")
_TOLERANCE = re.compile(r"\s?(?:\+\s?/\s?-|±)\s?\d{1,15}(?:\.\d{1,15})?")
_UNITS = re.compile(
    r"(?:/|\bper)\s?1\.73\s?(?:m\b)?(?:\s?\^?\s?[2²])?|(?<![A-Za-z])(?:kg|g|mg|mL|L|cm|m|mm|µm|um|lb)\s?/\s?(?:kg|m"
    r"|cm|ft)(?![A-Za-z])\s?(?:\^?\s?[23²³](?!\d))?|(?<=[A-Za-z])\s?\^\s?[23]\b|\b(?:m|cm|mm)[23²³](?!\d)"
)
_MARKED_THOUSANDS = re.compile(r"(?<=\d)['’_](?=\d{3}(?!\d))")
_THOUSANDS = re.compile(r"(?<![\d.])([1-9]\d{0,2})((?:,\d{3})+|(?: \d{3})+)(?![\d]|,\d)")
_POINT_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3}){1,4}),(\d{1,3})(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,15}),(\d{1,2}|(?!(?:19|20)\d\d\b)\d{4,9}|(?<=\b0,)\d{3})(?!\d|,\d)")
_POINT = re.compile(r"\d\.\d{1,2}(?!\d)|\d\.\d{4}|\d{4}\.\d|(?<!\d)0\.\d")
_THOUSANDS_POINT = re.compile(r"(\d)\.(?=\d{3}(?!\d))")
_PRODUCT = re.compile(
    r"(?<![\d.,])(\d{1,9}(?:[.,]\d{1,9})?)(?:\s?[A-Za-z/]{1,8})?\s×\s(\d{1,9}(?:[.,]\d{1,9})?)(?:\s?[A-Za-z/]{1,8})?\s?=\s?"
    r"(\d{1,3})\.(\d{3})(?![\d.])"
)
_LONG_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,4}),(\d{3,4})(?!\d|,\d)")
_GAP = re.compile(r"(?<=\S) {2,9}(?=\S)")
_MINUS_WORD = re.compile(rf"(?i)(?<!\w){MINUS}(?=\d)")
_NUMBER = re.compile(
    r"(?<![A-Za-zÀ-ÿ0-9_.,^/])(?<![A-Za-z]-)(?P<sign>[+-])?(?P<digits>\d{1,300}(?:\.\d{1,300})?"
    r"|\.\d{1,300})(?P<exponent>[eE][+-]?\d{1,3})?"
    r"(?![\d]|st\b|nd\b|rd\b|th\b)(?P<percent>\s?(?:%|(?i:percent\b|prozent\b)))?"
)


def prepared(text: str, *, score: bool = False) -> str:
    r"""The text with numbers in one form: LaTeX, fractions, powers of ten, thousands separators, decimal commas, units.

    Args:
        text: as it was written.
        score: leave ``a/b`` alone, which is a score and its maximum.

    >>> prepared(r"$1{,}234.5\ \text{mL}$"), prepared("1.2 × 10^3"), prepared("22,9 kg/m²")
    ('1234.5mL', '1.2e3', '22.9  ')
    """
    text = (
        _LEADERS.sub(": ", _QUOTED.sub("", text.translate(_CHARACTERS)))
        .replace("{,}", ",")
        .replace("\\%", "%")
        .replace("\\,", " ")
    )
    for pattern, character in _LATEX_WORDS:
        text = pattern.sub(character, text)
    text = _TILDE_RANGE.sub(r"\1-", text)
    text = _FRACTION.sub(r"\g<over>/\g<under>" if score else _quotient, text)
    text = _VULGAR_FRACTION.sub(lambda match: f"{int(match[1] or 0) + _VULGAR[match[2]]:.6g}", text)
    if not score:
        text = _MIXED.sub(_mixed, text)
        text = _SIMPLE.sub(lambda match: _mixed(match, 0), text)
        text = text if _SCORED.search(text) else _PROPER.sub(_proper, text)
    else:
        text = _CLASS.sub(r"\1", _ONE_POINT.sub("1 ", _MAXIMUM_FIRST.sub("", text)))
    text = _TIMES.sub(" × ", _POWER.sub("^", text).replace("**", BOLD))
    text = text.replace("__", BOLD).replace("*", "")
    text = _POWER_OF_TEN.sub(lambda match: "e" + (match[1] or match[2].translate(_SUPERSCRIPTS)), text)
    text = _UNITS.sub(" ", _TOLERANCE.sub("", _LATEX.sub("", text)))
    if not _POINT.search(text) and len(_DECIMAL_COMMA.findall(text)) > 1:
        text = _LONG_DECIMAL_COMMA.sub(r"\1.\2", _THOUSANDS_POINT.sub(r"\1", text))
    elif any(map(_is_in_thousands, _PRODUCT.finditer(text))):
        text = _THOUSANDS_POINT.sub(r"\1", text)
    text = _MARKED_THOUSANDS.sub("", text)
    text = _POINT_THOUSANDS.sub(lambda match: match[1].replace(".", "") + "." + match[2], text)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", "").replace(" ", ""), text)
    return _GAP.sub(" ", _MINUS_WORD.sub("-", _DECIMAL_COMMA.sub(r"\1.\2", text)))


def numbers(text: str) -> Iterator[Found]:
    """The numbers of a prepared text in their order; those that are too large are passed over."""
    yield from sorted([*_in_digits(text), *spelled_numbers(text)], key=lambda found: found.start)


def _in_digits(text: str) -> Iterator[Found]:
    for match in _NUMBER.finditer(text):
        value = float((match["sign"] or "") + match["digits"] + (match["exponent"] or ""))
        if math.isfinite(value):
            end = match.end("percent") if match["percent"] else match.end()
            yield Found(Percentage(value) if match["percent"] else value, match.start(), end)


def _is_in_thousands(product: re.Match[str]) -> bool:
    """As in "5 × 250 = 1.250", where the point is no decimal point."""
    left, right = (float(operand.replace(",", ".")) for operand in product.groups()[:2])
    return left * right == int(product[3] + product[4])


def _quotient(fraction: re.Match[str]) -> str:
    divisor = float(fraction["under"])
    if not divisor:
        return fraction[0]
    return f" {int(fraction['whole'] or 0) + float(fraction['over']) / divisor:.10g} "


def _proper(fraction: re.Match[str]) -> str:
    over, under = (float(part) for part in fraction.groups() if part is not None)
    return f"{over / under:.10g}" if 0 < over < under else fraction[0]


def _mixed(match: re.Match[str], *whole: int) -> str:
    whole_number, over, under = *whole, *map(int, match.groups())
    return f"{whole_number + over / under:.10g}" if 0 < over < under else match[0]
