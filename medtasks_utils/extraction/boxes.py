r"""Read ``\boxed{…}``, and remove the formatting that models put around a token."""

from .patterns import later

# A double backslash is a line break in LaTeX, except before "boxed", which some models write with two backslashes.
_BRACE = later(r"(?P<box>\\boxed\s{0,8}\{)|\\\\(?!boxed)|\\[{}]|(?P<open>\{)|(?P<close>\})")

_WRAPPER = later(r"\\(?:text|textbf|textit|textrm|texttt|mathrm|mathbf|mathsf|mathit|boldsymbol|bm|rm|bf)\s?\{")
_EDGES = " \t\r\n*$"
_MAX_TOKEN = 1000  # maximum characters of a token, including formatting


def boxes(text: str) -> list[str]:
    r"""Return the contents of all ``\boxed{…}`` with balanced braces, in the order in which they open.

    Escaped braces are text, and unclosed boxes are ignored. Of nested boxes only the innermost counts, so that the
    contents together are no longer than the text.
    """
    return [text[start:end] for start, end in spans(text)]


def last_box(text: str) -> str | None:
    r"""Return the contents of the last box, by the rules of :func:`boxes`; None if there is none."""
    contents = boxes(text)
    return contents[-1] if contents else None


def spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each box's contents, in the order of :func:`boxes`."""
    if "\\boxed" not in text:
        return []
    opened: list[tuple[int, bool]] = []
    closed: list[tuple[int, int]] = []
    for brace in _BRACE.finditer(text):
        if brace["box"] or brace["open"]:
            opened.append((brace.end(), bool(brace["box"])))
        elif brace["close"] and opened:
            start, is_box = opened.pop()
            if is_box and not (closed and closed[-1][0] > start):
                closed.append((start, brace.start()))
    return closed


def unwrap(token: str) -> str:
    r"""Strip a token of its wrappers, such as ``\text{}``, ``**``, ``$``, ``\(…\)``, parentheses and a full stop.

    A text of more than 1,000 characters is not a token; only surrounding white space is removed.

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
    """Return whether the last character closes the bracket at position ``at``."""
    opening, closing = token[at], {"(": ")", "{": "}"}[token[at]]
    depth = 0
    for position in range(at, len(token)):
        depth += (token[position] == opening) - (token[position] == closing)
        if depth == 0:
            return position == len(token) - 1
    return False
