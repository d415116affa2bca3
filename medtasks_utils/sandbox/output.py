"""What a process wrote, as text of bounded length: decoded, cleaned and cut on the side that is trusted."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What a call gave.

    Attributes:
        text: what the code printed, and the ``repr`` of a last bare expression, as in a REPL; if it failed, then the
            traceback. Valid UTF-8, at most ``max_output`` characters; of more, both ends and how many are left out.
        failed: whether it ended in an error: an exception, code that does not compile, a timeout, a process that ended.
    """

    text: str
    failed: bool


def readable(data: bytes, limit: int, paths: Sequence[str], error: str = "") -> str:
    """Bytes as text, with an error of ours after it.

    Args:
        data: what a process wrote.
        limit: characters of the text, more than an error has; what is too long is cut in the middle.
        paths: of this machine, which the text must not show; longest first.
        error: the last line, or an empty string.
    """
    text = data.decode("utf-8", "replace").rstrip("\n")
    for path in paths:
        text = text.replace(f"{path}/", "").replace(path, "")
    error = f"\n{error}" if error and text else error
    if len(text) + len(error) <= limit:
        return text + error
    note = f"\n[some {len(text) - limit + len(error):,} characters left out]\n"
    room = limit - len(note) - len(error)
    return text[: room - room // 3] + note + text[len(text) - room // 3 :] + error
