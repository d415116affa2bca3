"""Read the confidence that a response states in a percentage, a fraction or a word, and remove the statement.

The statement is removed before the answer is read, so it is never mistaken for the answer: of "I am 80 % confident that
it is B", "it is B" is left. Its words are not in ``words.txt``, since that would change how all other texts are read.
"""

import re

from .patterns import later
from .think import final_span

ASKED = "After your answer, add a line with the probability that it is right, in this form: Confidence: N%"
"""The sentence in prompts that requests a confidence."""

_WORDS = {
    0.1: "very low|extremely low|lowest",
    0.3: "low|limited|slight|slightly",
    0.5: "medium|moderate|moderately|fair|somewhat",
    0.9: "very high|extremely high|highest|very|extremely|absolute|absolutely|complete|completely|full|fully",
    0.7: "high|highly|fairly|quite|reasonable|reasonably|pretty|good",
}
"""Words for confidences, by their value: the middle of a fifth of the range from 0 to 1."""

_WORD = "|".join(_WORDS.values()).replace(" ", r"\s+")
_NUMBER = r"(?<![\w.,])(?:\d+(?:[.,]\d+)?|\.\d+)"
_PERCENT = r"(?:\\?%|％|per\s?cent\b)"
_RIGHT = r"(?:that|of|for)\s+(?:\w+\s+){0,4}?(?:(?:is|am|being)\s+(?:right|correct)|correctness)\b"
_CHANCE = rf"(?:probability|likelihood|chance)\s+{_RIGHT}"
_NO_ESTIMATE = r"(?!\s*(?:interval|limit|bound|band|CI\b))"

_STATEMENT = later(
    rf"""
    (?P<open>\\boxed\{{|\\text(?:bf)?\{{|[(\[]|<confidence>)?
    \s{{0,9}}(?:[,;]\s|(?<!\S)[-*•\#>]{{1,6}}\s)?
    (?:\b(?:and|but|with|at)\s+)?
    (?:\b(?:I(?:\s+am|['’]m|\s+would\s+be|['’]d\s+be)|there\s+is|my|the|an?|overall|final|estimated)\s+)*
    (?P<label>
        (?<=<confidence>)
      | ["'*_\#`]{{0,4}}(?<![\w-])(?:confidence|certainty|{_CHANCE})\b{_NO_ESTIMATE}
        (?:\s+(?:level|score|rating|in|that|my|this|the|answer|choice|it|is|being|right|correct|of|at)\b){{0,8}}
        (?:\s*\((?:[a-z\s]{{0,20}}0\s?%?\s?(?:[-–]|to)\s?(?P<scale>100|10|1)\s?)?%?\))?
        (?:[\s*_:：=\"'`}}|–$<-]|confidence>|\\\(){{0,9}}(?P<box>\\boxed\{{)?
    )?
    (?:(?:about|around|approximately|roughly|at\sleast|over|nearly|almost|only|between|greater\sthan)\s+|[~≈><≥≤]\s*)?
    (?<!\bnot\s)(?<!n't\s)(?<!\bfor\s)(?<!\bto\s)
    (?:
        (?P<both>\b(?:{_WORD})\s?[(,–-]\s?)?
        (?P<number>{_NUMBER})[*_]{{0,2}}
        (?:\s*{_PERCENT}?\s*(?:[-–]|to|and)\s*(?P<upper>{_NUMBER}))?
        (?:\s*(?P<percent>{_PERCENT})|\s*(?:/|out\sof)\s*(?P<whole>[1-9]\d*))?
        (?![\d\w]|[.,]\d)(?(both)\)?)
      | \b(?P<word>{_WORD})\b(?:(?P<range>\s?[-–/]\s?|\s+to\s+)?\s*\b(?P<second>{_WORD})\b)?
    )
    (?:["'*_`$]|\\\)){{0,3}}(?(box)\}}\$?)
    (?(label)
      | (?(number)(?(percent)|(?(whole)|(?!))))
        [ -]{{0,9}}(?:(?:confidence|confident|certainty|sure|certain)\b{_NO_ESTIMATE}
        (?:\s+(?:that|level|in\s+(?:this|my|the)\s+(?:answer|choice)))?|{_CHANCE})
    )
    (?(open)(?:[.\s]{{0,9}}(?:[)\]}}]|</confidence>))?|(?:</confidence>)?)
    (?P<stop>[.!](?=\s|$))?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def split_confidence(response: str) -> tuple[float | None, str]:
    r"""Return the last confidence that a response states, from 0 to 1, and the response without all such statements.

    Only the text after the reasoning counts. The confidence is None if none is stated, or if the last one exceeds 1.

    >>> split_confidence("I am 80% confident that it is B."), split_confidence("C\nConfidence: 9/10")
    ((0.8, ' it is B.'), (0.9, 'C\n'))
    """
    stated: list[float | None] = [None]

    def without(match: re.Match[str]) -> str:
        stated.append(_value(match))
        before = match.string[max(0, match.start() - 9) : match.start()].strip()
        space = match[0][: match[0][0].isspace()]
        return space if before[-1:] in ".!?:" else space + (match["stop"] or "")

    start, end = final_span(response)
    rest = _STATEMENT.sub(without, response[start:end])
    return stated[-1], response[:start] + rest + response[end:]


def _value(match: re.Match[str]) -> float | None:
    """Return the confidence in a match, from 0 to 1; None if it exceeds 1. A range counts as its midpoint."""
    if match["word"]:
        first, second = (_of_word(match[name] or match["word"]) for name in ("word", "second"))
        return (first + second) / 2 if match["range"] else second
    low, high = (float(text.replace(",", ".")) for text in (match["number"], match["upper"] or match["number"]))
    number = (low + high) / 2
    percent = 100 if match["percent"] else None
    value = number / float(match["whole"] or percent or match["scale"] or (100 if number > 1 else 1))
    return value if value <= 1 else None


def _of_word(text: str) -> float:
    word = " ".join(text.lower().split())
    return next(value for value, words in _WORDS.items() if word in words.split("|"))
