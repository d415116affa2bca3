"""Lists of the options, which restate the question and choose nothing."""

from __future__ import annotations

import re

from medtasks_utils.extraction import cues
from medtasks_utils.extraction.tokens import ONE_ONLY

CALLED = (
    r"[*_]{0,3}\s(?i:is|ist|est|es|é|è)\s(?i:(?:clearly|also|not|nicht)\s)?(?i:(?:in|un)?(?:correct|true|accurate"
    r"|right)|wrong|false|richtig|falsch|korrekt|(?:in)?(?:correcte|exacte|corre[ct]*[ao])|fausse|fals[ao]"
    r"|verdadeir[ao]|errad[ao])\b"
)
"""What a line calls the option that it begins with."""
LINE = re.compile(
    rf"[\s>#*_=\-•|👉️{cues.TICKS}]{{0,10}}(?:[Qq]?\d{{1,2}}[.):]\s)?(?i:(?:option|choice)\s)?[(\[]?(?P<letter>[A-D]"
    rf"|[a-d](?=[.:)\]])){ONE_ONLY}(?:[)\].:?!]{{1,3}}(?:[\s*_\u3040-\u9fff]|$)|[*_]{{1,3}}[:.)?]|,\s|\s(?:because"
    rf"|since"
    rf"|as)\s|[*_]{{0,3}}\s[\-–—|(→\[]|[*_]{{0,3}}\s[-=]>\s|[*_]{{0,3}}\s\||:?\s?[{cues.TICKS}{cues.CROSSES}○◯×]"
    rf"|[\s*_)\]<=]*$|{CALLED})"
)
_ANNOUNCED = re.compile(r"\W{0,6}(?:[^\W\d]{1,12}\s){0,3}(?i:choices|options)(?:\s(?i:are))?\s?[:=]?\s")
MAX_LINE = 300  # characters of a line that are looked at for its letter

_CONTINUES = re.compile(r" {3}|\t|\|[\s:|-]{3,}$")  # an indented line of an item, or a table's ruler
_OPTIONS_IN_WORDS = re.compile(r"(?:^|[.;]\s)\W{0,4}(?i:option|choice)\s\(?([A-D])\b")
_MARKER = re.compile(
    r"(?<![A-Za-z0-9])[(\[]?(?P<letter>[A-D]|(?<=\()[a-d](?=\)))(?:[\"']?[).:\]][*_]{0,3}|(?<![,и]\s[A-D])\s[–—-])\s"
)


def split_listings(text: str, lettered: str) -> tuple[list[str], list[str]]:
    """The lines of a text without lists of the options, and the lines of those lists.

    ``lettered`` is the text with the options' texts as their letters, line by line.

    A list is two or more lines in a row, blank ones aside, that begin with different letters, or one line with three.
    """
    kept: list[str] = []
    listed: list[str] = []
    run: list[str] = []
    letters: set[str] = set()

    def end_run() -> None:
        (listed if len(letters) > 1 else kept).extend(run)
        run.clear()
        letters.clear()

    lines, lettered_lines = text.split("\n"), lettered.split("\n")
    if len(lines) != len(lettered_lines):  # an option's text ran over the end of a line
        lettered_lines = lines
    for line, as_letter in zip(lines, lettered_lines, strict=True):
        match = LINE.match(as_letter[:MAX_LINE])
        if (match or _ANNOUNCED.match(line)) and lists_options(line[:MAX_LINE]):
            end_run()
            listed.append(line)
            continue
        if line.strip() and (match is None or len(set(_OPTIONS_IN_WORDS.findall(line[:MAX_LINE]))) > 1):
            if run and _CONTINUES.match(line):
                run.append(line)
            else:
                end_run()
                kept.append(line)
            continue
        if match and match["letter"].upper() in letters:
            end_run()
        run.append(line)
        letters.update(match["letter"].upper() if match else ())
    first = next(filter(str.strip, run), "")
    looping = len(letters) == 1 and sum(line.startswith(first) for line in listed) > 1
    if not looping:
        end_run()
    return kept, listed


def lists_options(line: str) -> bool:
    """Whether one line lists three or more options in their order: "A. x B. y C. z".

    >>> lists_options("A) x, B) y, C) z"), lists_options("C. (A) is wrong, (B) too")
    (True, False)
    """
    letters = [match["letter"].upper() for match in _MARKER.finditer(line)]
    return len(letters) > 2 and letters[0] == "A" and letters == sorted(letters)
