"""Errors a user can act on, and how they reach the terminal: as one line, without a traceback."""

import difflib
import logging
import re
import sys
from collections.abc import Iterable
from types import TracebackType

logger = logging.getLogger("lm_eval.medtasks")
"""What is said in passing; shown like the harness's own lines."""

_SHOWN = 1000  # characters of what an error says


_KEY_HINT = "is the right key in OPENAI_API_KEY (a judge's also in JUDGE_API_KEY), and may it use this model?"
HINTS_BY_STATUS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: "does the server serve this model, and is the base URL complete (most end in /v1, a chat model's in "
    "/v1/chat/completions)?",
}
"""What to check when a model's server answers with an HTTP status."""


class MedtasksError(Exception):
    """Something the user can mend; the message says what is wrong, where, and the way out."""


class UsageError(MedtasksError):
    """A command line that cannot be meant: exit code 2."""


class DataError(MedtasksError):
    """Rows that cannot be had, read or understood."""


def reason_of(error: BaseException) -> str:
    """What an error says, in a line; of several lines the first, and the next where that is only a heading."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    is_heading = re.search(r":$|validation errors? for", lines[0])
    return " ".join(lines[: 3 if is_heading else 1])[:_SHOWN]


def meant(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The known name that another is nearly, as the end of a message; empty if there is none."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=likeness)
    return f" (did you mean {near[0]}?)" if near else ""


def show_errors_as_one_line() -> None:
    """Print uncaught :class:`MedtasksError`\\ s as one line; the exit code stays 1.

    The stock ``lm_eval`` lets every exception end in a traceback of forty lines. A chained cause (a bug, not bad
    input) and ``LMEVAL_LOG_LEVEL=DEBUG`` still get the whole traceback.
    """
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if isinstance(error, MedtasksError) and error.__cause__ is None and logger.getEffectiveLevel() > logging.DEBUG:
            print(f"medtasks: error: {error}", file=sys.stderr)
        else:
            previous(kind, error, traceback)

    sys.excepthook = hook
