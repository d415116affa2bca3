"""Letters of multiple-choice options: alone, stated in a sentence, or named by the option's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

LETTERS = "ABCD"

# What may stand between "answer" and its letter, as in "answer to this question is most likely option (C)".
_FILLER = (
    r"(?:[\s:=*_\"'`$(\[\-–—]|\\\(|\\(?:text|textbf|mathrm|mathbf)\{|"
    r"\b(?i:is|was|would|should|must|will|be|to|this|the|question|therefore|thus|then|here|most|likely|probably|"
    r"clearly|correct|best|right|final|choice|option|answer|letter)\b){1,24}?"
)
# A capital alone, or a small letter that something closes: "answer: c." but not "the answer is a drug".
_LETTER = r"(?<![A-Za-z0-9])([A-D](?![A-Za-z0-9'’+]|-[A-Za-z0-9])|[a-d](?=[*_]{0,4}(?:[).:\]}]|\s*$)))"
_ONE_ONLY = r"(?!\s?[)\]]?\s?(?:or|and|/|&|,)\s?[(\[]?[A-D]\b)"

# In order of weight; of several statements of one kind the last counts.
_STATEMENTS = (
    re.compile(rf"\b(?i:answer|choice)\b{_FILLER}{_LETTER}{_ONE_ONLY}"),
    re.compile(rf"\b(?i:choose|select|pick|go\s+with|opt\s+for|option|response)\b{_FILLER}([A-D])\b{_ONE_ONLY}(?!\s+is\b)"),
    re.compile(r"(?<![A-Za-z0-9])([A-D])[)\]*]{0,4}\s{1,4}is\s{1,4}(?:the\s{1,4})?(?:most\s{1,4}likely\s{1,4})?"
               r"(?:correct|right|best)\b"),
)  # fmt: skip
_BOLD = re.compile(r"\*\*\s{0,4}[(\[]?([A-D])[)\].:]{0,2}(?:\s{0,4}\*\*|\s)")
_LINE = re.compile(r"[\s>#*_\-]{0,8}[(\[]?([A-D])(?:[)\].:]{1,2}(?:[\s*]|$)|[\s*_]*$)")


def letter_of(token: str, *, digits: bool = False) -> str | None:
    """The letter A–D that a token is, in any case; with ``digits`` also 0–3, which mean A–D.

    >>> letter_of("c"), letter_of("2", digits=True), letter_of("E")
    ('C', 'C', None)
    """
    if len(token) != 1:
        return None
    if token in "ABCDabcd":
        return token.upper()
    return LETTERS[int(token)] if digits and token in "0123" else None


def stated_letter(text: str) -> str | None:
    """The letter that a text clearly states as its answer, or None.

    Looked for in this order: "the answer is (C)" and its kin, "I choose C", "C is correct", one letter in bold, a
    last or first line of the form "C" or "C. …". "A or B" and "not A" state nothing.
    """
    for statement in _STATEMENTS:
        found = [match[1] for match in statement.finditer(text)]
        if found:
            return found[-1].upper()
    bold = {match[1] for match in _BOLD.finditer(text)}
    if len(bold) == 1:
        return bold.pop()
    lines = text.strip().split("\n")
    for line in (lines[-1], lines[0]):
        match = _LINE.match(line)
        if match:
            return match[1]
    return None


def named_option(text: str, options: Sequence[str]) -> int | None:
    """Index of the only option whose text stands in ``text`` as whole words, in any case; None for none or several.

    An option inside a longer one that stands there ("iron" in "iron deficiency") does not count.
    """
    rest = _fold(text)
    named = []
    for index in sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True):
        option = _fold(options[index]).rstrip(".")
        if not option:
            continue
        parts = re.split(rf"(?<!\w){re.escape(option)}(?!\w)", rest)
        if len(parts) > 1:
            named.append(index)
            rest = "\n".join(parts)
    return named[0] if len(named) == 1 else None


def _fold(text: str) -> str:
    return " ".join(text.lower().split())
