"""Recognise texts without an answer, which break off, loop or give up, and words that retract a statement."""

import re
from collections.abc import Iterator

from .patterns import later
from .words import Mention, Symbols, pattern, word_pattern


def retracted_until(symbols: Symbols, words: str = "[wait hesitate]") -> int:
    """Return the index of the last word that retracts earlier statements, such as *wait*; -1 if there is none.

    >>> from medtasks_utils.extraction.words import symbols_of
    >>> retracted_until(symbols_of("It is A. Wait, it is B.", ())), retracted_until(symbols_of("It is A.", ()))
    (9, -1)
    """
    matches = pattern(f"(?:^|stop|line|dash|but|comma|close) (?:but|so|not|comma)* {words}").finditer(symbols.symbols)
    return max((symbols.places[match.end() - 1] for match in matches), default=-1)


_SENTENCE = later(r"(?<=[.!?。])\s+|\n+")


def loops(text: str) -> bool:
    """Return whether a text repeats itself at its end.

    >>> loops("It is a nerve. " * 9), loops("It is a nerve. It is a vein. It is C.")
    (True, False)
    >>> loops("It is a nerve. It is a vein. It is a bone. " * 2 + "So it is an artery. The answer is C.")
    False
    """
    tail = text.rstrip()[-4000:]
    end = tail[-40:]
    sentences = [sentence for sentence in _SENTENCE.split(tail) if len(sentence) > 12][-8:]
    again = len(sentences) == 8 and len(set(sentences[:-1])) <= 3
    return again or tail.count(end) >= 4


_ENDED = later(
    r"""[.!?。！？।:)\]}"'*”»`|…✓✔✅☑]\s*$|^[^\w\n]*(?:[-*|•]|\d+[.)])\s.*$(?!\n)|^.{0,60}[:=].{0,60}\d\S{0,8}$(?!\n)""",
    re.M,
)
_OPEN_WORDS = later(
    r"(?:[=+÷^√(\[{≈→−*/,:–-]|\b(?:[Tt]he|an?|of|to|and|or|with|for|in|by|that|on|at|about|from|is|are|was|get|than|as|be|which"
    r"|into|then|thus|therefore|hence|will|has|because|but|if|when|while|its|we|gives|yields|der|die|das|und|mit|von|ist"
    r"|le|la|les|du|de|et|une?|est|el|los|y|es|por|para|о|и|в|на|с))\s*$",
)


def whole_until(text: str, shortest: int = 80) -> int:
    """Return the index up to which sentences are complete: the start of an unfinished last one, or the text's length.

    The last sentence is unfinished if it ends in an open word or sign, such as *the* or ``=``, or if it has at least
    ``shortest`` characters and no punctuation at the end.

    >>> whole_until("The pulse adds two. The age adds one, and the"), whole_until("Two. It is 9.7 mg/dL")
    (20, 20)
    """
    last = max((match.end() for match in _SENTENCE.finditer(text)), default=0)
    if _OPEN_WORDS.search(text[-40:]):
        return last
    tail = text[text.rfind("\n") + 1 :]
    return len(text) if not last or len(text) - last < shortest or _ENDED.search(tail[-400:]) else last


def gives_up(text: str) -> Iterator[Mention]:
    """Yield the places where a text says that there is no answer, such as "none of the above".

    Their mentions have an empty value.

    >>> [(mention.value, mention.start, mention.end) for mention in gives_up("It is unknown.")]
    [('', 6, 13)]
    """
    for match in word_pattern(r"(?<!\w)(?:<<none>>|<<cannot>>)(?!\w)").finditer(text):
        yield Mention("", match.start(), match.end())


def is_unfinished(symbols: Symbols) -> bool:
    """Return whether a calculation has no result because the text breaks off, loops, or ends with a formula or plan."""
    if loops(symbols.text):
        return True
    if pattern("(?:eq|arrow|is|gives|about|to|colon) about* [cand weak] (?:word|close|op|pct|the){0,5} $").search(
        symbols.symbols
    ):
        return False
    has_no_result = pattern(f"{_FORMULA}|{_PLAN}").search(symbols.symbols) is not None
    return has_no_result or whole_until(symbols.text) < len(symbols.text)


# A formula without its result at the end of a text, such as "BSA = sqrt(29 × 130 / 3600). This gives the BSA."
_FORMULA = (
    "(?:^|stop|line) [^ eq line]* op open* [cand weak] (?:word|close|pct){0,2} $"  # such as "92 / 3.24"
    "|(?:^|stop|line) [^ eq line open]* op [cand weak] (?:word|pct){0,2} stop $"
    "|(?:eq|colon|gives) (?!open* cand [word pct]* open) [^ eq arrow is gives stop line comma]{0,6}? op"
    " [^ eq arrow is gives stop line]*"
    " (?:(?:stop|line) [^ cand text weak eq]*)? $"
)
_PLAN = "plan [^ stop line cand]* (?:stop|line)* $"  # such as "We plug in the values and solve for the GFR."
_LEAD = "(?:word|dash|digits|open|the){0,2}"
_CANNOT = "cannot|unable|(?:not|lack) ~4 calc|not (?:word|the|input){0,2} (?:answer|result|final) ~4 calc"
_CONCLUDED = "(?:so|but|(?:stop|line) the? result) ~10 (?:cannot|unable|not ~4 calc)"


def lacks(symbols: Symbols, after: int | None = None) -> bool:
    """Return whether a text says that something cannot be calculated or that data are missing.

    Args:
        symbols: the text.
        after: an index in the text; if given, the text must conclude after it that something cannot be calculated.

    >>> from medtasks_utils.extraction.words import symbols_of
    >>> lacks(symbols_of("The weight is missing.", ())), lacks(symbols_of("It is 4.", ()))
    (True, False)
    """
    if after is None:
        certain = pattern("(?:none)? if [^ stop line]*").sub("", symbols.symbols)
        return pattern(f"{_CANNOT}|lack|none").search(certain) is not None
    return any(symbols.places[match.end() - 1] > after for match in pattern(_CONCLUDED).finditer(symbols.symbols))


def cannot(symbols: Symbols) -> bool:
    """Return whether a text says that something cannot be calculated."""
    return pattern(_CANNOT).search(symbols.symbols) is not None


def asides(symbols: Symbols) -> list[tuple[int, int]]:
    """Return the start and end of each aside in a text.

    An aside extends from a heading such as "Interpretation" to the next line that begins with a result, or from words
    such as "for comparison" to the end of the line.
    """
    spans: list[tuple[int, int]] = []
    text, places = symbols.symbols, symbols.places
    for match in pattern(f"(?:^|line) {_LEAD} heading [^ line stop cand]{{0,2}} (?:colon|line|stop)").finditer(text):
        end = pattern(f"line {_LEAD} (?:answer|final|result)|(?:line|stop) {_LEAD} so").search(text, match.end())
        spans.append((match.end(), end.start() if end else len(text)))
    for source in (
        f"(?:^|line|stop|comma|open) {_LEAD} aside [^ line]*",
        "(?<=cand|word|result) open (?!eq|round) (?:[^ line open close]|open [^ line open close]* close)* close",
    ):
        spans += [match.span() for match in pattern(source).finditer(text)]
    return [(places[start], places[end]) for start, end in spans]
