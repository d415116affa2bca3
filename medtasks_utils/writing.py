"""What leaves the program: the results of commands, whole files, tables for terminals; never a secret."""

import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from medtasks_utils.errors import MedtasksError


class CommandResult(Protocol):
    """What a command hands to the command line, which prints it as text or, with ``--json``, as JSON."""

    @property
    def failed(self) -> bool:
        """True if the thing asked for failed, which makes the exit code 1."""

    def to_text(self) -> str:
        """Return the result for people; an empty text prints nothing."""

    def to_data(self) -> Any:
        """Return the result as lists, dicts and scalars that ``json.dumps`` takes."""


def write_whole(path: Path, content: str | bytes, make_folder: bool = False) -> None:
    """Write beside the place and move it there in one step; nothing is left behind where that fails.

    Text is written in UTF-8. A link stays one; devices and pipes are written to as they are.

    Raises:
        MedtasksError: with the reason.
    """
    data = content.encode() if isinstance(content, str) else content
    place = path.resolve()
    beside = place.with_name(f".{uuid.uuid4().hex}.part")
    try:
        if make_folder:
            place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and not place.is_file():
            place.write_bytes(data)
            return
        try:
            beside.write_bytes(data)
            if place.exists():
                shutil.copymode(place, beside)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise MedtasksError(f"{path} cannot be written: {error.strerror or error}") from None


# ---- the terminal


def plain(text: object) -> str:
    """A text on one line, without control characters, which come from data and models and would reach the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in str(text))


def one_line(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.split())


def shortened(text: str, length: int) -> str:
    """Return the text, or its beginning and an ellipsis, in at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def table(rows: Sequence[Sequence[object]], head: Sequence[str] = (), left: int = 1) -> str:
    """A table of fixed width, the first ``left`` columns to the left and the others to the right."""
    from tabulate import tabulate

    written = [[plain(cell) for cell in row] for row in rows]
    columns = max(map(len, [*rows, head]), default=0)
    align = ["left"] * left + ["right"] * (columns - left)
    return tabulate(written, head, tablefmt="plain", colalign=align if rows else None, disable_numparse=True)


def printable(text: str) -> str:
    """The text with lone surrogates as U+FFFD; surrogates that make a pair become the character they mean."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# ---- secrets


_NAMED = re.compile(r"(.*_)?(api_?key|password|secret|headers?|auth_token|authorization)|((use_)?auth|hf|hub)?_?token")
_SHORTEST = 6  # characters; less is no secret, and would be found in words


class Secrets:
    """Texts that are to be shown nowhere: those under names such as ``api_key``, in the environment too."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def learn(self, *settings: Mapping[str, Any]) -> None:
        """Take note of the secrets among settings by name, and of those in the environment."""
        for each in (os.environ, *settings):
            for name, value in each.items():
                if _NAMED.fullmatch(str(name).lower()):
                    self._known.update(text.strip() for text in _texts(value) if len(text.strip()) >= _SHORTEST)

    def scrub(self, value: Any) -> Any:
        """A value that JSON can hold, without secrets."""
        if isinstance(value, str):
            for secret in self._known:
                value = value.replace(secret, "[secret]")
            return value
        if isinstance(value, dict):
            return {name: self.scrub(each) for name, each in value.items()}
        return [self.scrub(each) for each in value] if isinstance(value, list) else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)


SECRETS = Secrets()
"""Those of this process."""
