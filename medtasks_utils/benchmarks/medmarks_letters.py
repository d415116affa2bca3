"""Read letters by the rule of Medmarks (github.com/MedARC-AI/Medmarks at 154710b), which uses the right choice.

The rule does not read an answer and then compare it: the right letter and the text of the right choice affect which
words are considered. Its limits and oddities are reproduced exactly, since published numbers depend on them.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, pairwise

from .answers import Answer
from .facts import Example

_SAME = (
    {ord(dash): "-" for dash in "‐‑‒–—―−"} | {ord(quote): "'" for quote in "‘’"} | {ord(quote): '"' for quote in "“”"}
)
_AROUND = (
    ("<answer>", "</answer>"),
    ("\\boxed{", "}"),
    *((mark, mark) for mark in ("**", "__", "*", "_", "`")),
    *((first, last) for first, last in ('""', "''", "“”", "‘’", "()", "[]", "{}", "<>", "【】")),
)
"""Patterns of wrappers around a text: tags, a box, emphasis, quotes and brackets; removed in this order."""

# ---- the grammar

_MD = r"[*_`~]+\s*"
_BOX = r"(?:\\boxed\{\s*)?"
_OPT = r"(?P<opt>[a-z]|\d{1,2})"
_OPTION = rf"{_BOX}[(\[{{<【]*\s*{_OPT}\s*[)\]}}>】]*\s*(?:\}}\s*)?"
_WORD = r"(?:(?:option|choice)\s+)?"
_BULLET = r"(?:[-*+]\s+|\d{1,3}[.)]\s+)"
_HEAD = rf"^\s*(?:>\s*)?{_BULLET}?"
_EDGE, _FRONT = r"(?![\w+\-/])", r"(?<![\w+\-/])"
_END = r"\s*[.!?]?\s*\Z"
_PHRASE = r"\b(?:final\s+answer|the\s+correct\s+answer|correct\s+answer|the\s+answer|answer|therefore|i\s+choose)\b"
_NOT = r"(?P<no>(?:not|isn'?t)\s+)?"

_EXACT = re.compile(rf"\s*{_WORD}{_OPT}{_END}", re.I)
_LEAD = re.compile(
    rf"{_HEAD}(?:{_MD})?{_OPTION}\s*[).:\-]?\s*(?:[*_`~]\s*)*\s+(?P<rest>.+?)\s*\Z",
    re.I,
)
_COMMIT = re.compile(
    rf"{_PHRASE}\s*[:\-]?\s*(?:is\s+)?{_NOT}{_WORD}(?:[*_`~]\s*)*{_OPTION}(?:{_MD})?{_EDGE}",
    re.I,
)
_LINE = re.compile(rf"{_HEAD}(?:{_MD})?{_WORD}{_OPTION}(?:{_MD})?{_END}", re.I)
_TAIL = re.compile(rf"{_FRONT}{_WORD}{_OPTION}(?:{_MD})?{_END}", re.I)
_SENTENCE = re.compile(rf"{_HEAD}(?:[*_`~]\s*)*{_OPTION}\s*[).:\-]", re.I)
_ANY = re.compile(rf"{_FRONT}{_OPT}{_EDGE}", re.I)
_NEGATED = re.compile(r"\b(?:not|isn'?t|wrong|incorrect|false)\b(?:\s+\w+){0,3}\s*\Z", re.I)
_LISTED = re.compile(rf"\s*(?:>\s*)?{_BULLET}", re.I)
_AFTER_LABEL = re.compile(r"[*_`~)\]}>】\s]*[:\-–—]")
_SEPARATED = re.compile(r"[)\]}>】.:\-*_`~\\]")
_BEGINS_APART = re.compile(r"[(\[{<【\"']|\\boxed\{")
_HARMLESS_I = re.compile(r"(?:^|(?<=[ \n\t,;.(\[]))i(?=[ \n\t,;.!?)\]]|\Z)")
_SENTENCE_END = re.compile(r"[.!?]\s+")
_JOINING = {"", *["and", "or", "ou", "y", "e", "nor", "plus", "versus", "vs", "instead"]}

# ---- forms of texts


def _without_latex(text: str) -> str:
    """Convert any LaTeX in a text to plain text; return the text unchanged if this fails."""
    if not re.search(r"\\[A-Za-z]|\$", text):
        return text
    from pylatexenc.latex2text import LatexNodes2Text  # takes a tenth of a second

    try:
        return str(LatexNodes2Text(math_mode="text").latex_to_text(text))
    except Exception:  # of any kind, for LaTeX that is malformed; the protocol then compares the text as it is
        return text


def _structured(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("\xa0", " ").translate(_SAME).casefold()


def _flat(text: str) -> str:
    return " ".join(_structured(text).split())


def _unwrapped(text: str) -> str:
    """Remove tags, boxes, emphasis, quotes and brackets around the whole text."""
    text = text.strip()
    while (inner := _once_unwrapped(text)) is not None:
        text = inner.strip()
    return text


def _once_unwrapped(text: str) -> str | None:
    for first, last in _AROUND:
        if len(text) > len(first + last) and text.startswith(first) and text.endswith(last):
            return text[len(first) : -len(last)]
    return None


def _as_text(text: str) -> str:
    return _flat(_unwrapped(text)).rstrip(".,:;!?").strip()


def _prepared(text: str) -> str:
    """Return an answer without reasoning, tags and LaTeX, in lower case; empty if its reasoning is not closed."""
    closing = [*re.finditer(r"</\s*think\s*>", text, re.I)]
    if closing:
        text = text[closing[-1].end() :].lstrip()
    elif re.search(r"<\s*think\b[^>]*>", text, re.I):
        return ""
    text = re.sub(r"</?\s*answer\s*>", " ", text, flags=re.I)
    return _structured(_without_latex(text)).strip()


# ---- the rule


def tagged(text: str, name: str = "answer") -> list[str]:
    """Return the contents of all closed ``<name>`` tags, without surrounding white space."""
    return [content.strip() for content in re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)]


def medmarks_letter(text: str, gold: str, answer_text: str) -> str | None:
    """Return the letter that Medmarks' rule finds in a text; None if it finds none.

    The text is scored as right if the letter is ``gold``. The letter may belong to no choice.

    Args:
        text: the content of an answer tag.
        gold: the right letter.
        answer_text: the text of the right choice.

    >>> medmarks_letter("**B**", "B", "liver"), medmarks_letter("The liver", "B", "Liver")
    ('B', 'B')
    """
    whole, truth = _prepared(text), _as_text(_without_latex(answer_text))
    if not whole:
        return None
    exact = _EXACT.fullmatch(_unwrapped(whole))
    letter = _counted(exact)
    if letter == gold.lower() or (truth and _as_text(whole) == truth):
        return gold
    letter = letter or _before_its_text(whole, truth) or _committed(whole[-_LONG:]) or _last(whole)
    if letter:
        return letter.upper()
    return gold if _names(whole, truth) else None


def letter_in_tag(text: str, example: Example, which: int) -> Answer:
    """Read an answer tag of a response by Medmarks' rule; a response without a tag or a letter is unanswered.

    If the right choice is unknown, only stated letters are used.

    Args:
        text: the response.
        example: the example.
        which: the index of the tag: 0 for the first, -1 for the last.
    """
    contents = tagged(text) or [""]
    place = example.get("answer_idx")
    right_text = "" if place is None else example["options"][place]
    letter = medmarks_letter(contents[which], example.get("answer_letter", ""), right_text)
    return Answer(letter, text, found_by="tag")


_LONG = 4000


def _counted(match: re.Match[str] | None) -> str | None:
    """Return a match's letter in lower case; None for a digit or no match."""
    return match["opt"].lower() if match and match["opt"].isalpha() else None


def _before_its_text(whole: str, truth: str) -> str | None:
    """Return the letter in a text that consists of a letter and the text of the right choice; else None."""
    lead = _LEAD.match(_unwrapped(whole))
    return _counted(lead) if lead and _as_text(lead["rest"]) == truth else None


def _committed(text: str) -> str | None:
    """Return the last valid letter stated by a phrase such as "the answer is"; None without one."""
    stated = [match for match in _COMMIT.finditer(text) if not match["no"] and _is_valid(match, text)]
    return _counted(stated[-1]) if stated else None


def _last(whole: str) -> str | None:
    """Return the letter that begins the last line, is alone on it, or ends the last sentence; None without one."""
    text = whole if len(whole) <= _LONG else whole[-2000:]
    line = _last_line(text)
    lead = _LEAD.match(line) if text == whole else None
    if lead and _is_apart(lead) and not _has_several(whole) and _is_valid(lead, whole, whole.rfind(line)):
        return _counted(lead)
    piece = re.split(r"\n+|[.!?]\s+", text.strip())[-1].strip()
    is_short = len(piece.split()) <= 16 and not _is_compact(piece)
    for match, part in ((_LINE.match(line), line), (_TAIL.search(piece) if is_short else None, piece)):
        if match and _is_valid(match, text, text.rfind(part)):
            return _counted(match)
    return None


def _last_line(text: str) -> str:
    return text.rstrip().splitlines()[-1].strip()


def _is_apart(lead: re.Match[str]) -> bool:
    """Return whether a mark separates a letter from the words after it, as in "B. liver"."""
    between = lead.string[lead.end("opt") : lead.start("rest")]
    return bool(_SEPARATED.search(between) or _BEGINS_APART.match(lead["rest"]))


def _has_several(text: str) -> bool:
    """Return whether different lines or sentences begin with different letters, as in a list of choices."""
    pieces = text.splitlines() if "\n" in text else _SENTENCE_END.split(text)
    return len({*map(_counted, map(_SENTENCE.match, map(str.strip, pieces)))} - {None}) > 1


def _is_compact(text: str) -> bool:
    """Return whether a text of at most 40 characters lists letters, such as "A or B"."""
    letters = list(filter(_counted, _ANY.finditer(text)))
    between = (text[letter.end() : following.start()] for letter, following in pairwise(letters))
    return len(letters) > 1 and len(text) <= 40 and all(map(_joins, between))


def _joins(between: str) -> bool:
    words = re.sub(r"\b(?:option|choice)\b", " ", _flat(between))
    return words.strip(r",;:./&+()[]{}<>-\ ") in _JOINING


def _is_denied(before: str, tail: int) -> bool:
    """Return whether the words before a letter or text negate it.

    Words such as "wrong diagnosis is" are considered only in the last ``tail`` characters.
    """
    diagnosis = ("wrong diagnosis is", "incorrect diagnosis is")
    return (
        _NEGATED.search(before) is not None
        or before.endswith(("rather than", "except"))
        or any(words in before[-tail:] for words in diagnosis)
    )


def _is_valid(match: re.Match[str], text: str, offset: int = 0) -> bool:
    """Return whether a letter is a valid answer: not negated, not one of several, and not retracted.

    Args:
        match: the match with the letter.
        text: the text around the match.
        offset: the index in ``text`` at which the match's string begins.
    """
    letter = _counted(match)
    if letter is None:
        return False
    start, end = offset + match.start("opt"), offset + match.end("opt")
    before, after = _near_lines(text[max(0, start - 160) : start], text[end : end + 240])
    if _is_denied(_flat(before[-48:]).rstrip("([{<【 "), 32):
        return False
    start, context = len(before), before + text[start:end] + after
    end = len(context) - len(after)
    for other in _others(context, letter):
        between = context[end : other.start()] if other.start() >= end else context[other.end() : start]
        if not _is_harmless(other) and len(_flat(between)) <= 24 and _joins(between):
            return False
    after = _flat(after[:80])
    is_taken_back = any(f" {word} " in after for word in ("but", "however", "instead", "actually", "rather"))
    return not (is_taken_back and any(_others(after, letter)))


def _near_lines(before: str, after: str) -> tuple[str, str]:
    """Cut the text before and after a place down to its line, and the nearest line with text above and below."""
    above = before[: before.rfind("\n") + 1].rstrip()
    below = after.partition("\n")[2].lstrip()
    return before[above.rfind("\n") + 1 :], after[: len(after) - len(below)] + below.partition("\n")[0]


def _others(text: str, letter: str) -> Iterator[re.Match[str]]:
    return (match for match in _ANY.finditer(text) if _counted(match) not in (None, letter))


def _is_harmless(match: re.Match[str]) -> bool:
    """Return whether a letter is the pronoun I, or part of a word with an apostrophe."""
    text, start, end = match.string, match.start(), match.end()
    is_word = _HARMLESS_I.match(text, start) is not None
    return is_word or text[end : end + 1] in ("'", "’") or (start > 0 and text[start - 1] in "'’")


def _names(whole: str, truth: str) -> bool:
    """Return whether a text contains the text of the right choice, neither negated nor in a list."""
    if not truth or re.fullmatch(r"[a-z]|\d+", truth):
        return False
    words = r"\s+".join(map(re.escape, truth.split(" ")))
    pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.I)
    return not all(map(_is_void, chain.from_iterable(map(pattern.finditer, _regions(whole, truth)))))


def _regions(whole: str, truth: str) -> Iterator[str]:
    """Yield the parts of a text that are searched for the choice's text.

    These are the whole of a short text, both ends of a longer one, and the end of a very long one.
    """
    if len(whole) > _LONG:
        yield whole[-_LONG:]
        return
    if len(whole) <= 800:
        yield whole
        return
    width = min(1400, max(600, len(truth) + 400))
    start = max(0, len(whole) - width)
    newline = whole.rfind("\n", max(0, start - 200), start)
    yield whole[newline + 1 if newline >= 0 else start :]
    newline = whole.find("\n", width, width + 201)
    yield whole[: newline if newline >= 0 else width]


def _is_void(match: re.Match[str]) -> bool:
    """Return whether a mention of the right choice's text is negated, or is part of a list."""
    text, start, end = match.string, match.start(), match.end()
    if _is_denied(text[max(0, start - 64) : start].rstrip(), 40):
        return True
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    if _counted(_LEAD.match(line.strip())):
        return True
    listed = _LISTED.match(line)
    before, after = line[: start - first], line[end - first :]
    is_label = ":" in before or " - " in before or _AFTER_LABEL.match(after)
    return bool(listed and is_label)
