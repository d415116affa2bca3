"""Read numbers in common notations."""

import math
import re
from collections.abc import Iterator

from medtasks_utils.extraction.patterns import later, rewriter
from medtasks_utils.extraction.plain import BOLD
from medtasks_utils.extraction.words import Mention, numbers_by_word

from .numbers import evaluate


class Percentage(float):
    """A number before a percent sign: 83.3 for ``83.3%``."""


_SIGNS = str.maketrans(
    {**dict.fromkeys("–—﹣－", "-"), **dict.fromkeys("·⋅∙✕", "×"), "٫": ".", "٪": "%", "〜": "-", "～": "-"}
)
_MIDDLE_POINT = later(r"(?<![\d.·])(\d{1,4})·(\d{1,4})(?!\d|\.\d|\s?[=×·*/^])")
_MINUS = later(  # a minus apart from its number, after a word or sign that no subtraction follows
    r"((?:[=≈:→]|\b(?:is|was|be|of|to|at|about|approximately|gives|yields|equals))[ *_$]{0,5})[-–−] {0,2}"
    r"(?:\\[,;! ] ?)?(?=\.?\d)"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_OUT_OF = later(
    r"(?<![\w/.-])(\d{1,2})\s?(?:(?:points?|pts)\s?[(,]?\s?)?"
    r"(?:/|out of|of)\s?(?:a\s)?(?:(?:total|possible|maximum)\s)?(?:of\s)?(\d{1,2})(?![\d/]|\.\d)",
    re.IGNORECASE,
)
_FRACTION = later(
    r"(?:(\d{1,9})(?: |(?=\()))?\(?(\d{1,9}(?:\.\d{1,9})?)\)? ?/ ?\(?(\d{1,9}(?:\.\d{1,9})?)\)?\.?"
    r"(?: ?[^\W\d_][^\d=≈]{0,20})?"
)
_CALCULATION = later(r"[\d.()\s×÷/+^-]{3,200}")
_POWER_OF_TEN = later(
    rf"(?<=\d)\s{{0,3}}(?:x|\*|×)\s{{0,3}}10\s?(?:(?:\^|\*\*|{BOLD})"
    r"\s?[({]?\s?([+-]?\d{1,3})\s?[)}]?|([⁻⁺]?[⁰¹²³⁴-⁹]{1,3}))"
)
# Replacements, in this order, for LaTeX, whose backslashes may be doubled, and for other forms.
_without_latex = rewriter(
    {
        r"\\{1,3}(?:approx|simeq|sim|cong)(?![a-z])": " ≈ ",
        r"\\{1,3}(?:times|cdot|ast)(?![a-z])": " × ",
        r"\\{1,3}div(?![a-z])": " ÷ ",
        r"\\{1,3}(?:(?:right|Right|long)?arrow|to|implies|Rightarrow|rightarrow)(?![a-z])|(?:--?|==?)>": " → ",
        r"\\{1,3}(?:leq?|leqslant)(?![a-z])|<=(?!=)": " ≤ ",
        r"\\{1,3}(?:geq?|geqslant)(?![a-z])|>=": " ≥ ",
        r"\\{1,3}pm(?![a-z])": "±",
        r"\\{1,3}[dt]?frac\s?\{([^{}]{1,80})\}\s?\{([^{}]{1,80})\}": r"(\1)/(\2)",
        r"\\{1,3}(?:boxed|fbox|text(?:bf|it|rm)?|math(?:rm|bf|it)|q?quad|left|right|displaystyle|[,;!: ])": " ",
        r"\\{1,3}(?=%)|\\{1,3}[()\[\]]": " ",
    }
)
_in_one_notation = rewriter(
    {
        r"(?<=\d)\s?(?:½|\\{1,2}[td]?frac\{1\}\{2\})": ".5",
        r"(?<=\d)\s?¼": (".25", "¼"),
        r"(?<=\d)\s?¾": (".75", "¾"),
        r"(?<=\d )ans\b": ("years", " ans"),
        r"\bthe one\b": ("the", "the one"),
        r"(?<![\d)]\s)(?<![\d)])\b(?:[Mm]inus|[Nn]egative|[Mm]enos?|[Mm]oins)\s(?=\d|(?:one|two|three|four)\b)": (
            "-",
            "inus|egative|eno|oins",
        ),
        r"\.{4,}|(?:\s\.){3,}": (":", "....| .|\n."),
        r"\{,\}": ",",
        r"\s?(?:\+\s?/\s?-|±)\s?\d{1,15}(?:\.\d{1,15})?": ("", "±|+/|+ /"),
        r"\^\s?\\{0,3}circ(?:ledR)?\b|°": " ",
        "[{}$`]": "",
        r"(?<=[\d)])\s?\*\*\s?(?=[\d(-])": ("^", "**"),
        r"(?<=\d)\s?[~∼]\s?(?=\d)": ("-", "~|∼"),
        r"(?<=[\d)])\s?\*\s?(?=[\d(])|(?<=[\w)])\s\*\s?(?=[\w(])|(?<=[\d)])\s[xX]\s(?=[\d(√]|ln\b|log|[A-Z])": (
            " × ",
            "*| x| X|\nx|\nX",
        ),
        r"(?:(?<=\d)|/)\s?hrs?\b": (" h", "hr"),
        r"(?:/|\bper)\s?1[.,]73\s?(?:m\b)?(?:\s?\^?\s?[2²])?": (" ", "1.73|1,73"),
        r"(?<![A-Za-z])(?:kg|m?g|m?L|[cmµu]?m|lb)\s?/\s?(?:kg|m|cm|ft)(?![A-Za-z])\s?(?:\^?\s?[23²³](?!\d))?": (
            " ",
            "/",
        ),
        r"(?<=[A-Za-z])\s?\^\s?[23]\b|\b(?:m|cm|mm)[23²³](?!\d)|(?<=[A-Za-z)])[²³]": (" ", "^|²|³|m2|m3"),
        r"(?<=[^\W\d_]|[²³%])\s?/\s?(?=[^\W\d_])|(?<=[A-Za-z] )/ ?(?=\d ?(?:h|day|L|d)\b)": (" ", "/"),
        r"(?<=\d)['’_](?=\d{3}(?!\d))": "",
        r"(?<=\d) (?=\d{1,3}\.\d{2})(?<=[^\d.]\d )": "",
    }
)
_THOUSANDS = later(r"(?<![\d.])([1-9]\d{0,2})((?:,\d{3})+|(?: \d{3})+)(?![\d]|,\d)")
_POINT_THOUSANDS = later(r"(?<![\d.,])(\d{1,3}(?:(?:\.\d{3}){1,4}|(?: \d{3}){1,4}(?=,\d\d?(?!\d)))),(\d{1,3})(?![\d,])")
_DECIMAL_COMMA = later(r"(?<![\d.,])(\d{1,15}),(\d{1,2}|(?!(?:19|20)\d\d\b)\d{4,9}|(?<=\b0,)\d{3})(?!\d|,\d)")
_NUMBER = later(
    r"(?<![A-Za-zÀ-ÿ0-9_.,^/])(?<![A-Za-z]-)(?P<sign>[+-])?(?P<digits>\d{1,300}(?:\.\d{1,300})?|\.\d{1,300})"
    r"(?P<exponent>[eE][+-]?\d{1,3})?(?!\d|st\b|nd\b|rd\b|th\b|-(?:year|month|day|hour|point|fold))(?P<percent>\s?(?:%|(?i:percent\b|prozent\b)))?"
)


def signed(text: str) -> str:
    """Return the text with each minus sign attached to its number; operators and list markers stay separate.

    >>> signed("The gap is - 0.8"), signed("12 - 0.8"), signed("Results:\\n- 12")
    ('The gap is -0.8', '12 - 0.8', 'Results:\\n- 12')
    """
    return _MINUS.sub(r"\1-", text)


def prepared(text: str, *, score: bool = False) -> str:
    r"""Return the text with all numbers in one notation.

    LaTeX and powers of ten are rewritten, decimal commas become points, and thousands separators and units that contain
    digits are removed. With ``score``, ``a/b`` is a score and its maximum, not a fraction.

    >>> prepared(r"$1{,}234.5\ \text{mL}$").split(), prepared("1.2 × 10^3"), prepared("22,9 kg/m²").strip()
    (['1234.5', 'mL'], '1.2e3', '22.9')
    """
    text = _MIDDLE_POINT.sub(r"\1.\2", text).translate(_SIGNS)
    if score:
        text = _OUT_OF.sub(r"\1 (max \2)", text)
    if "\\" in text:
        text = _without_latex(text)
    text = _in_one_notation(text)
    text = _POWER_OF_TEN.sub(lambda match: "e" + (match[1] or match[2].translate(_SUPERSCRIPTS)), text)
    text = _POINT_THOUSANDS.sub(lambda match: match[1].replace(".", "").replace(" ", "") + "." + match[2], text)
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", "").replace(" ", ""), text)
    return _DECIMAL_COMMA.sub(r"\1.\2", text)


def fraction_value(text: str) -> float | None:
    r"""Return the value of a fraction, with or without a unit.

    Return None for any other text, for equal numbers (10/10 is a full score), and for a denominator of 0.

    >>> fraction_value("1800/72"), fraction_value(r"\frac{1}{2}"), fraction_value("1 1/2"), fraction_value("3/4 = 0.7")
    (25.0, 0.5, 1.5, None)
    """
    match = _FRACTION.fullmatch(prepared(text).strip())
    if match is None or float(match[3]) == 0 or match[2] == match[3]:  # "10/10" is a full score
        return None
    return float(match[1] or 0) + float(match[2]) / float(match[3])


def calculation_value(text: str) -> float | None:
    """Return the value of a sum or product of numbers; None for any other text, such as one that has its result.

    >>> calculation_value("70 * 1.5 / 2"), calculation_value("3 + 4 + 5"), calculation_value("60-70")
    (52.5, 12.0, None)
    """
    text = prepared(text).strip()
    if not _CALCULATION.fullmatch(text) or not set(text) & set("×÷+("):
        return None
    value = evaluate(text.replace("×", "*").replace("÷", "/").replace("^", "**"))
    return None if value is None else float(value)


def numbers(text: str) -> list[Mention]:
    """Return the numbers, in digits or words, in a text from :func:`prepared`, except those too large for a float."""
    return [*_in_digits(text), *in_words(text)]


def _in_digits(text: str) -> Iterator[Mention]:
    for match in _NUMBER.finditer(text):
        sign = match["sign"] or ""
        value = float(f"{sign}{match['digits']}{match['exponent'] or ''}")
        if math.isfinite(value):
            start = match.start("digits") - len(sign)
            yield Mention(Percentage(value) if match["percent"] else value, start, match.end())


_WORD = later(r"((?<!\S)-)?([^\W\d_]+)")


def in_words(text: str) -> list[Mention]:
    """Return weak mentions for numbers below a million in words, such as "twenty-three".

    >>> [mention.value for mention in in_words("two thousand three hundred and five, or one")]
    [2305.0, 1.0]
    """
    values, mentions = numbers_by_word("n"), list[Mention]()
    for match in _WORD.finditer(text):
        value = values.get(match[2].lower())
        if value is None:
            continue
        last = mentions[-1] if mentions else None
        gap = text[last.end : match.start()] if last else ""
        total = _continued(last.value, value, gap) if last else None
        if last and total is not None:
            mentions[-1] = Mention(total, last.start, match.end(), "weak")
        else:
            mentions.append(Mention(float(-value if match[1] else value), match.start(), match.end(), "weak"))
    return mentions


def _continued(total: float, value: int, gap: str) -> float | None:
    """Add the next word's value to ``total``, such as 60 to 100 for 160; return None if a new number begins there."""
    tail, below_100 = total % 1000, total % 100
    if value < 10 and (gap == " point " or (gap == " " and total % 1)):
        return total + value / 10.0 ** (len(f"{total:.10g}".partition(".")[2]) + 1)
    if gap not in (" ", "-") and (gap != " and " or total < 100):
        return None
    if value == 100:
        return total + 99 * tail if 0 < tail < 100 else None
    if value == 1000:
        return 1000 * total if 0 < total < 1000 else None
    is_unit_after_tens = 0 < value < 10 and below_100 >= 20 and below_100 % 10 == 0
    is_after_hundreds = value > 0 and total >= 100 and below_100 == 0
    return total + value if is_unit_after_tens or is_after_hundreds else None
