r"""``\boxed{…}`` and the formatting that models put around a token."""

from __future__ import annotations

import re

_BRACE = re.compile(r"(?P<box>\\boxed\s{0,8}\{)|\\.|(?P<open>\{)|(?P<close>\})", re.DOTALL)

_WRAPPERS = re.compile(r"\\(?:text|textbf|textit|textrm|texttt|mathrm|mathbf|mathsf|mathit|boldsymbol|bm|rm|bf)\s?\{")
_EDGES = " \t\r\n*$"
_MAX_TOKEN = 1000  # characters; nothing longer is a token with formatting around it


def boxes(text: str) -> list[str]:
    r"""Contents of all ``\boxed{…}`` with balanced braces, in the order in which they open.

    Escaped braces count as text; a box that is never closed is no box. Of nested boxes only the innermost count, so
    that the total is no longer than the text.
    """
    opened: list[tuple[int, bool]] = []
    found: list[tuple[int, int]] = []
    for brace in _BRACE.finditer(text):
        if brace["close"]:
            if opened:
                start, is_box = opened.pop()
                if is_box and not (found and found[-1][0] > start):
                    found.append((start, brace.start()))
        elif brace["box"] or brace["open"]:
            opened.append((brace.end(), bool(brace["box"])))
    return [text[start:end] for start, end in found]


def last_box(text: str) -> str | None:
    r"""Content of the last closed ``\boxed{…}``, or None."""
    found = boxes(text)
    return found[-1] if found else None


def unwrap(token: str) -> str:
    r"""Remove ``\text{}``, ``\mathrm{}``, ``\mathbf{}``, ``**``, ``$``, spaces, parentheses and a trailing full stop.

    Text longer than a token could be comes back stripped of white space only.
    """
    token = token.strip()
    if len(token) > _MAX_TOKEN:
        return token
    while True:
        before = token
        token = token.strip(_EDGES).removesuffix(".").removeprefix("\\(").removesuffix("\\)").strip(_EDGES)
        if token.startswith("(") and token.endswith(")"):
            token = token[1:-1]
        elif "(" not in token[1:] and token.startswith("(") and ")" not in token:
            token = token[1:]
        elif token.endswith(")") and "(" not in token:
            token = token[:-1]
        wrapper = _WRAPPERS.match(token)
        if wrapper and token.endswith("}"):
            token = token[wrapper.end() : -1]
        if token == before:
            return token
