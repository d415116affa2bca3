"""Recognise texts without an answer, which break off, loop or give up, and words that retract statements."""

import re
from collections.abc import Iterator

from .patterns import later
from .words import Mention, Symbols, occurrences, words_of


def retracted_until(symbols: Symbols, words: str = "[wait hesitate]") -> int:
    """Return the index of the last word that retracts earlier statements, such as *wait*; -1 if there is none.

    ``words`` is a pattern for such words, which are found only at the beginning of a clause.

    >>> from medtasks_utils.extraction.words import symbols_of
    >>> retracted_until(symbols_of("It is A. Wait, it is B.")), retracted_until(symbols_of("It is A."))
    (9, -1)
    """
    matches = symbols.matches(f"(^|stop|line|dash|but|comma|open|close) (but|so|not|comma|fill)* {words}")
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
    r"|into|then|thus|therefore|hence|will|has|because|so|but|if|when|while|its|we|gives|yields|der|die|das|und|mit|von|ist"
    r"|le|la|les|du|de|et|une?|est|el|los|y|es|por|para|о|и|в|на|с))\s*$",
)


def whole_until(text: str, shortest: int = 80) -> int:
    """Return the end of the complete sentences: the start of an unfinished last one, or the text's length.

    The last sentence is unfinished if it ends in a word or symbol that requires a continuation, such as *the* or ``=``,
    or if it has at least ``shortest`` characters and no punctuation at the end.

    >>> whole_until("The pulse adds two. The age adds one, and the"), whole_until("Two. It is 9.7 mg/dL")
    (20, 20)
    """
    last = max((match.end() for match in _SENTENCE.finditer(text)), default=0)
    if _OPEN_WORDS.search(text[-40:]):
        return last
    tail = text[text.rfind("\n") + 1 :]
    return len(text) if not last or len(text) - last < shortest or _ENDED.search(tail[-400:]) else last


def gives_up(text: str) -> Iterator[Mention]:
    """Yield mentions with an empty value where a text declares that there is no answer, such as "none of the above".

    >>> [(mention.value, mention.start, mention.end) for mention in gives_up("It is unknown.")]
    [('', 6, 13)]
    """
    for _, start, end in occurrences(words_of("none", "cannot"), text, _stands_alone):
        yield Mention("", start, end)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a place in a text is not part of a longer word."""
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(map(str.isalnum, around))
