"""Define errors that users can correct, and print such errors on one line, without a traceback."""

import argparse
import difflib
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

logger = logging.getLogger("lm_eval.medtasks")
"""The package's logger. It is a child of the harness's logger, so that the lines of both look alike."""

_MOST_SHOWN = 1000  # maximum characters of an error's message

_KEY_HINT = "is the right key in OPENAI_API_KEY (for a judge, JUDGE_API_KEY if set), and may it use this model?"
HINTS_BY_STATUS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: "does the server serve this model, and is the base URL complete (most end in /v1, a chat model's in "
    "/v1/chat/completions)?",
}
"""Questions that help the user, by the HTTP status that a model's server returned."""


class MedtasksError(Exception):
    """An error that the user can correct; the message states what is wrong, where, and what to do."""


class UsageError(MedtasksError):
    """An error in the command line, an option or a plan; ``medtasks`` then exits with code 2."""


class DataError(MedtasksError):
    """An error in the data: rows are missing, unreadable or malformed."""


class NotDownloadedError(DataError):
    """An error for data or a model that is not on this machine and cannot be downloaded, for example offline."""


class Parser(argparse.ArgumentParser):
    """A command-line parser that raises an error for a wrong command line instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError with the message and a reference to ``--help``."""
        raise UsageError(f"{message}; see {self.prog} --help")


def reason_of(error: BaseException) -> str:
    """Return an error's message as one line: its first line and, if that is only a heading, the next two.

    A heading is a line that ends with a colon, or that counts validation errors. Without a message, return the name of
    the error's class. A message that names a line and a column, such as that of a YAML error, keeps all of its lines.
    For a missing key, return a clause that names the key. At most 1,000 characters are returned.
    """
    if isinstance(error, KeyError) and error.args:
        return f"it has no {error.args[0]!r}"
    if re.search(r", line \d+, column", str(error)):
        return " ".join(str(error).split())[:_MOST_SHOWN]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    is_heading = re.search(r":$|validation errors? for", lines[0])
    return " ".join(lines[: 3 if is_heading else 1])[:_MOST_SHOWN]


_WORDS = (
    ("Value error, ", ""),
    (r"\w+ should", "must"),
    (r", unable to .*| after validation", ""),
    ("a valid integer", "a whole number"),
    (r"a valid dictionary.*", "a mapping"),
    ("a valid boolean", "true or false"),
    ("a valid", "a"),
    ("Field required", "is missing"),
    ("Extra inputs are not permitted", "is unknown"),
)


def in_words(problem: Mapping[str, Any]) -> str:
    """Rephrase one of pydantic's error entries as a short predicate about the value.

    >>> in_words({"msg": "Input should be a valid number, unable to parse string as a number"})
    'must be a number'
    """
    message = str(problem["msg"])
    for theirs, ours in _WORDS:
        message = re.sub(theirs, ours, message)
    return message


def install(extra: str) -> str:
    """Return the pip command that installs an extra of this package.

    The extra is installed from the clone that this code belongs to or, without a clone, from the remote repository.
    """
    clone = Path(__file__).parents[1]
    if (clone / "pyproject.toml").exists():
        return f"pip install -e '{clone}[{extra}]'"
    from importlib.metadata import metadata  # imported late: it takes longer than a command's help

    urls = dict(url.split(", ") for url in metadata("medtasks").get_all("Project-URL", []))
    return f"pip install 'medtasks[{extra}] @ git+{urls['Source']}'"


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `` (did you mean X?)`` for the most similar known name, or an empty string if none is similar.

    ``cutoff`` is the minimum similarity, from 0 to 1.
    """
    closest = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" (did you mean {closest[0]}?)" if closest else ""


def show_errors_as_one_line() -> None:
    """Make Python print an uncaught :class:`MedtasksError` or interrupt as one line; the exit code is unchanged.

    Without this, ``lm_eval`` prints a traceback of some forty lines for every exception. The traceback is still printed
    if the error has a cause, which indicates a bug, or if ``LMEVAL_LOG_LEVEL`` is ``DEBUG``.
    """
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        is_expected = isinstance(error, MedtasksError) and error.__cause__ is None
        if kind is KeyboardInterrupt:
            print("medtasks: interrupted", file=sys.stderr)
        elif is_expected and logger.getEffectiveLevel() > logging.DEBUG:
            print(f"medtasks: error: {error}", file=sys.stderr)
        else:
            previous(kind, error, traceback)

    sys.excepthook = hook
