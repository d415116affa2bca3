"""Recognise calculations without a result, which break off, end in a formula or plan, or lack data."""

from medtasks_utils.extraction.nothing import loops, whole_until
from medtasks_utils.extraction.words import Symbols, pattern


def is_unfinished(symbols: Symbols) -> bool:
    """Return whether a calculation has no result because the text breaks off, loops, or ends with a formula or plan."""
    if loops(symbols.text):
        return True
    if symbols.has("(eq|arrow|is|gives|about|to|colon) about* [cand weak] (word|close|op|the){0,5} $"):
        return False
    return symbols.has(f"{_FORMULA}|{_PLAN}") or whole_until(symbols.text) < len(symbols.text)


# A formula without its result at the end of a text, such as "BSA = sqrt(29 × 130 / 3600). This gives the BSA."
_FORMULA = (
    "(^|stop|line) ((?!cand word* open)[^ eq line])* op open* [cand weak] (word|close){0,2} $"  # such as "92 / 3.24"
    "|(^|stop|line) [^ eq line open]* op [cand weak] word{0,2} stop $"
    "|(?<!open [word input])(eq|colon|gives) (?!open* cand word* open) [^ eq arrow is gives stop line comma]{0,6}? op"
    " [^ eq arrow is gives so stop line]*"
    " ((stop|line) [^ cand text weak eq]*)? $"
)
_PLAN = "plan [^ stop line cand]* (stop|line)* $"  # such as "We plug in the values and solve for the GFR."
_LEAD = "(word|dash|digits|open|the){0,2}"
_CANNOT = (
    "cannot|unable|(not|lack) ~4 calc|not ~3 plan|not gives (word|the){0,3} (answer|result|final)"
    "|not (word|the|input|range|or|dash){0,5} (answer|result|final) (~4 calc|[word is]{0,3} because)"
)
_CONCLUDED = "(so|but|(stop|line) the? result) ~10 (cannot|unable|not ~4 calc)"


def lacks(symbols: Symbols, after: int | None = None) -> bool:
    """Return whether a text says that something cannot be calculated or that data are missing.

    With ``after``, the text must conclude after this index that something cannot be calculated.

    >>> from medtasks_utils.extraction.words import symbols_of
    >>> lacks(symbols_of("The weight is missing.")), lacks(symbols_of("It is 4."))
    (True, False)
    """
    if after is None:
        certain = pattern("(none)? if ([^ stop line but comma]|comma (?!so))*").sub("", symbols.symbols)
        return pattern(f"{_CANNOT}|lack|none").search(certain) is not None
    return any(symbols.places[match.end() - 1] > after for match in symbols.matches(_CONCLUDED))


def cannot(symbols: Symbols) -> bool:
    """Return whether a text says that something cannot be calculated."""
    return symbols.has(_CANNOT)


def asides(symbols: Symbols) -> list[tuple[int, int]]:
    """Return the start and end of each aside in a text.

    An aside extends from a heading such as "Interpretation" to the next line that begins with a result, or from words
    such as "for comparison" to the end of the line. Words in parentheses after a word or value are asides too, unless
    they begin with an equals sign or a word for rounding.
    """
    spans: list[tuple[int, int]] = []
    text, places = symbols.symbols, symbols.places
    for match in symbols.matches(f"(^|line) {_LEAD} heading [^ line stop cand]{{0,2}} (colon|line|stop)"):
        end = pattern(f"line {_LEAD} (answer|final|result)|(line|stop) {_LEAD} so").search(text, match.end())
        spans.append((match.end(), end.start() if end else len(text)))
    for source in (
        f"(^|line|stop|comma|open) {_LEAD} aside [^ line]*",
        "(?<=cand|word|result) open (?!eq|round) ([^ line open close]|open [^ line open close]* close)* close",
    ):
        spans += [match.span() for match in symbols.matches(source)]
    return [(places[start], places[end]) for start, end in spans]
