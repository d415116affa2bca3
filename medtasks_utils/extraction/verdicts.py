"""Whether a text says that an answer is factual (0), hallucinated (1), or that it cannot be decided (2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from medtasks_utils.extraction import nothing
from medtasks_utils.extraction.boxes import unwrap
from medtasks_utils.extraction.holders import held, without_instructions
from medtasks_utils.extraction.plain import own_parts, stated, tidied, unformatted, without_steps
from medtasks_utils.extraction.weighing import NOTHING, Candidate, Reading, Row, choose, noted, weighed
from medtasks_utils.extraction.words import Found, Symbols, pattern, symbols_of

# Candidates here: "cand" is a digit, "text" a name of a class, "weak" a word that says as much of an answer or a part.
_L = "[the fill option open about]*"
TABLE = (
    Row("answer", 70, "answer ~6 [is colon eq arrow dash]+ [the fill option open so about right]* @@"),
    Row("answer", 66, "answer [is colon open dash option fill about]* @"),
    Row("labelled", 60, "<text> (?=open cand close)"),
    Row("therefore", 60, f"so ~10 [is colon]* {_L} @"),
    Row("choose", 58, f"choose {_L} [is colon]* {_L} @"),
    Row("alone", 56, f"(?:^|line) {_L} @@ (?=[stop close]* (?:line|$))"),
    Row("class", 40, "<text>"),
    Row("said of it", 36, f"is {_L} @@"),
    Row("digit", 14, "<cand>"),
    Row("word", 12, "<weak>"),
    Row("supposed", -38, "if ~8 @@"),
    Row("conceded", -12, "but ~8 @@"),
    Row("contrasted", -20, "@@ ~8 (?=comma? but)"),
    Row("one of two", -60, f"@ close* (?=[comma or]+ {_L} [cand text])"),
    Row("one of two", -60, f"[cand text] close* [comma or]+ {_L} @"),
)
_DENIED = "not [^ stop line comma but cand text weak]{0,5} [cand text weak]"
_DENIED_AFTER = "[cand text weak] (?:close|the|is){0,2} not"
_VALUES = {"factual": "0", "right": "0", "backed": "0", "hallu": "1", "wrong": "1", "refuted": "1", "unsure": "2"}
_STRONG = ("factual", "hallu", "unsure")
_DIGIT = re.compile(r"(?<![\w.,/%$-])[012](?![\w%/°]|[.,]\d|\s?(?:%|mg|kg|years?|patients|of\s|out\s|weeks|days|points)|\s?[-–/]\s?\d|\)?\s?[+×=<>])")
_ASKED = re.compile(r"\W{0,3}\?")
_FLIPPED = {"0": "1", "1": "0", "2": "2"}


def read_verdict(text: str) -> Reading:
    """The verdict that a text states: "0", "1" or "2", or none.

    >>> read_verdict("The answer is not factual.").value, read_verdict("Either factual or hallucinated?").value
    ('1', None)
    """
    reading = NOTHING
    for part in own_parts(without_instructions(tidied(stated(text)))):
        reading = _read_part(part)
        if reading.value is not None:
            return reading
    return reading


def _read_part(text: str) -> Reading:
    holders, rest = held(text, ("answer", "verdict", "label", "judg", "halluc", "factual", "class", "result", "decision"))
    inside = [one for each in holders if (one := _inside(each.content, each.cue, each.key, each.start, each.end, text))]
    candidates = _candidates(unformatted(without_steps(rest)[1]))
    if inside:
        return replace(choose(inside), candidates=(*inside, *candidates))
    return choose(candidates)


def _inside(content: str, cue: str, key: str, start: int, end: int, text: str) -> Candidate | None:
    token = unwrap(content).strip("\"'. ")
    if key and token.lower() in ("true", "false", "yes", "no"):
        says = "1" if "hall" in key else "0"
        value: str | None = says if token.lower() in ("true", "yes") else _FLIPPED[says]
    elif re.match(r"[012](?![\d.%])", token):
        value = token[0]
    else:
        value = choose(_candidates(unformatted(content))).value
    return Candidate(value, start, end, text, cue, 100.0) if value else None


def _candidates(text: str) -> list[Candidate]:
    bare = symbols_of(text, ())
    symbols = symbols_of(text, sorted([*_classes(bare), *_digits(text)], key=lambda one: one.start))
    denied = {match.end() - 1 for match in pattern(_DENIED).finditer(symbols.symbols)}
    denied |= {match.start() for match in pattern(_DENIED_AFTER).finditer(symbols.symbols)}
    places = {symbols.found[at].start for at in denied}
    until = nothing.retracted_until(symbols)
    weighed_ones = []
    for one in weighed(TABLE, symbols):
        if one.start in places:
            one = noted(replace(one, value=_FLIPPED[one.value]), "denied", -2 if one.cue != "digit" else -60)
        if _ASKED.match(text, one.end):
            one = noted(one, "asked", -60)
        weighed_ones.append(noted(one, "taken back", -60) if one.start < until else one)
    return weighed_ones


def _classes(symbols: Symbols) -> Iterator[Found]:
    for notion, value in _VALUES.items():
        for match in pattern(notion).finditer(symbols.symbols):
            start = symbols.places[match.start()]
            end = symbols.places[match.end()] if match.end() < len(symbols.places) else len(symbols.text)
            word = symbols.text[start:end].rstrip()
            yield Found(value, start, start + max(1, len(word)), "text" if notion in _STRONG else "weak")


def _digits(text: str) -> Iterator[Found]:
    for match in _DIGIT.finditer(text):
        yield Found(match[0], match.start(), match.end())
