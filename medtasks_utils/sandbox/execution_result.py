"""Convert a process's output to text, outside the sandbox: decode it, remove paths and limit its length."""

from collections.abc import Sequence
from typing import NamedTuple

from .inside.worker import END


class ExecutionResult(NamedTuple):
    """The result of running a piece of code.

    Attributes:
        text: the code's output and, as in a REPL, the ``repr`` of a last bare expression; then the traceback or the
            error message if it failed. Valid UTF-8 of at most ``max_output`` characters; a longer text is cut in the
            middle, with a note of the number of removed characters.
        failed: True if the code did not compile, raised an exception, exited with an error code, timed out or wrote too
            much, or if its process ended or could not start.
    """

    text: str
    failed: bool


def readable(data: bytes, limit: int, paths: Sequence[str], error: str = "") -> str:
    """Convert a process's output to text of at most ``limit`` characters, with the error message, if any, at the end.

    Longer output is cut in the middle: of the limit, less a note and the error, two thirds are used for the beginning
    and one third for the end.

    Args:
        data: the output.
        limit: the maximum number of characters, including the error.
        paths: paths to remove from the output; a folder must be listed after the paths in it.
        error: the error message, shorter than ``limit``; empty if there is none.
    """
    text = data.decode("utf-8", "replace").rstrip("\n").removesuffix(END)
    for path in paths:
        text = text.replace(f"{path}/", "").replace(path, "")
    if error and text:
        error = f"\n{error}"
    excess = len(text) + len(error) - limit
    if excess <= 0:
        return text + error
    note = f"\n[some {excess:,} characters left out]\n"
    room = limit - len(note) - len(error)
    return text[: room - room // 3] + note + text[len(text) - room // 3 :] + error
