r"""``\boxed{…}`` and the formatting that models put around a token."""

from __future__ import annotations

import re
from functools import lru_cache

from medtasks_utils.extraction.weighing import bounded

# A doubled backslash is a line break in LaTeX, except before "boxed", which some models write with two.
_BRACE = re.compile(r"(?P<box>\\boxed\s{0,8}\{)|\\\\(?!boxed)|\\[{}]|(?P<open>\{)|(?P<close>\})")

_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|texttt|mathrm|mathbf|mathsf|mathit|boldsymbol|bm|rm|bf)\s?\{")
_EDGES = " \t\r\n*$"
_MAX_TOKEN = 1000  # characters; nothing longer is a token with formatting around it


def boxes(text: str) -> list[str]:
    r"""Contents of all ``\boxed{…}`` with balanced braces, in the order in which they open.

    Escaped braces count as text; a box that is never closed is no box. Of nested boxes only the innermost count, so
    that the total is no longer than the text.
    """
    return [text[start:end] for start, end in spans(text)[0]]


def last_box(text: str) -> str | None:
    r"""Content of the last closed ``\boxed{…}``, or None."""
    found = boxes(text)
    return found[-1] if found else None


def spans(text: str) -> tuple[list[tuple[int, int]], int | None]:
    """Where the contents of the closed boxes stand, and where the first box begins that is never closed."""
    if "\\boxed" not in text:
        return [], None
    opened: list[tuple[int, int | None]] = []
    closed: list[tuple[int, int]] = []
    for brace in _BRACE.finditer(text):
        if brace["close"]:
            if opened:
                start, box = opened.pop()
                if box is not None and not (closed and closed[-1][0] > start):
                    closed.append((start, brace.start()))
        elif brace["box"] or brace["open"]:
            opened.append((brace.end(), brace.start() if brace["box"] else None))
    return closed, next((box for _, box in opened if box is not None), None)


def unwrap(token: str) -> str:
    r"""Remove ``\text{}``, ``\mathrm{}``, ``\mathbf{}``, ``**``, ``$``, spaces, parentheses and a trailing full stop.

    Text longer than a token could be comes back stripped of white space only.

    >>> unwrap(r"$\text{(B).}$"), unwrap("(A) or (B)")
    ('B', '(A) or (B)')
    """
    token = token.strip()
    if len(token) > _MAX_TOKEN:
        return token
    while True:
        before = token
        token = token.strip().strip(_EDGES).removesuffix(".").removeprefix("\\(").removesuffix("\\)").strip(_EDGES)
        if token.startswith("(") and (_is_closed_by_last(token, 0) or ")" not in token):
            token = token[1:].removesuffix(")")
        elif token.endswith(")") and "(" not in token and not token.endswith("\\)"):
            token = token[:-1]
        wrapper = _WRAPPER.match(token)
        if wrapper and _is_closed_by_last(token, wrapper.end() - 1):
            token = token[wrapper.end() : -1]
        if token == before:
            return token


def _is_closed_by_last(token: str, at: int) -> bool:
    """Whether the bracket that opens at a position is closed by the last character."""
    opening, closing = token[at], {"(": ")", "{": "}"}[token[at]]
    depth = 0
    for position in range(at, len(token)):
        depth += (token[position] == opening) - (token[position] == closing)
        if depth == 0:
            return position == len(token) - 1
    return False


_NUMBER = re.compile(r"\\f?box(?:ed)?\s?(\{\s?(-?[\d.,/]{1,16})[^{}\n]{0,40}\})")
_OPERAND_BEFORE = re.compile(r"(?:\\sqrt\s?\{|\\frac\s?\{|\d\s?(?:\\times|\\cdot|[×*/]))\s?$")
_OPERAND_AFTER = re.compile(r"\s?(?:\\times|\\cdot|\\div|[×*/])\s?\d")
_WORKED_ON = re.compile(r"(?<![\d.])(-?\d[\d.]{0,12})\s?(?:\\times|\\cdot|[×*+−-])(?=[^=\n]{1,60}=\s?(\d[\d.]{0,12}))")


@lru_cache(maxsize=2)
def without_operands(text: str) -> str:
    r"""The text without the boxes around numbers that a calculation goes on with.

    >>> without_operands(r"\sqrt{\boxed{2.993}} \approx 1.73"), without_operands(r"\boxed{1.73}")
    ('\\sqrt{{2.993}} \\approx 1.73', '\\boxed{1.73}')
    """
    looked_at = {box.start() for box in bounded(_NUMBER.finditer(text))}

    def opened(box: re.Match[str]) -> str:
        if box.start() not in looked_at:
            return box[0]
        before, after = text[max(0, box.start() - 12) : box.start()], text[box.end() : box.end() + 20]
        is_operand = _OPERAND_BEFORE.search(before) or _OPERAND_AFTER.match(after) or _is_worked_on(box, text)
        return box[1] if is_operand else box[0]

    return _NUMBER.sub(opened, text)


def _is_worked_on(box: re.Match[str], text: str) -> bool:
    """Whether the number in a box is an operand later on, of a result that is stated again."""
    later = (match for match in _WORKED_ON.finditer(text, box.end(), box.end() + 600) if match[1] == box[2])
    return any(match[2][:3].rstrip(".") in text[match.end(2) :][:600] for match in later)
