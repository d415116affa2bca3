"""Errors that a user can act on, and how they reach the terminal: one line, without a traceback."""

import difflib
import logging
import re
import sys
from collections.abc import Callable, Iterable
from types import TracebackType

logger = logging.getLogger("lm_eval.medtasks")
"""The package's logger; a child of the harness's, so its lines look the same."""

_MOST_SHOWN = 1000  # characters of an error's message

_KEY_HINT = "is the right key in OPENAI_API_KEY (a judge's also in JUDGE_API_KEY), and may it use this model?"
HINTS_BY_STATUS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: "does the server serve this model, and is the base URL complete (most end in /v1, a chat model's in "
    "/v1/chat/completions)?",
}
"""What to check when a model's server answers with an HTTP status."""


class MedtasksError(Exception):
    """An error that the user can fix; the message says what is wrong, where, and the way out."""


class UsageError(MedtasksError):
    """A command line, option or plan that makes no sense: exit code 2."""


class DataError(MedtasksError):
    """Rows that are missing, unreadable or malformed."""


def reason_of(error: BaseException) -> str:
    """Return an error's message on one line: its first line, and the next two where the first is only a heading."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    is_heading = re.search(r":$|validation errors? for", lines[0])
    return " ".join(lines[: 3 if is_heading else 1])[:_MOST_SHOWN]


def call_all(actions: Iterable[Callable[[], object]]) -> None:
    """Call every action, so that all that is missing is named at once.

    Raises:
        MedtasksError: with the messages of the actions that failed.
    """
    messages = []
    for action in actions:
        try:
            action()
        except MedtasksError as error:
            messages.append(str(error))
    if messages:
        raise MedtasksError("; ".join(messages))


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `` (did you mean X?)`` for the known name most like another, or an empty string if none is alike.

    Args:
        name: the name that is not known.
        known: all valid names.
        cutoff: least similarity, from 0 to 1 (``difflib.get_close_matches``).
    """
    closest = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" (did you mean {closest[0]}?)" if closest else ""


def show_errors_as_one_line() -> None:
    """Make Python print an uncaught :class:`MedtasksError` as one line; the exit code stays 1.

    The stock ``lm_eval`` command ends every exception in a traceback of forty lines. The traceback is still printed for
    an error with a cause, which is a bug and not bad input, and with ``LMEVAL_LOG_LEVEL=DEBUG``.
    """
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if isinstance(error, MedtasksError) and error.__cause__ is None and logger.getEffectiveLevel() > logging.DEBUG:
            print(f"medtasks: error: {error}", file=sys.stderr)
        else:
            previous(kind, error, traceback)

    sys.excepthook = hook
