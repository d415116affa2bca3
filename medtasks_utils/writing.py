"""Read and write files, format texts and tables, and remove secrets from what is printed or saved."""

import codecs
import csv
import hashlib
import io
import json
import logging
import os
import re
import shutil
import textwrap
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from medtasks_utils.errors import MedtasksError

JsonObject = dict[str, Any]
"""A JSON object."""
Settings = Mapping[str, Any]
"""A read-only mapping by name, such as the settings of a request or the fields of a YAML file."""

_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?%?")


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file atomically: write and sync a temporary file in the same folder, then rename it.

    If this fails, the temporary file is removed. A missing folder is created. Strings are encoded as UTF-8; those of an
    iterable are written one by one. Symbolic links are followed, the permissions of an existing file are kept, and
    devices and pipes are written to directly.

    Raises:
        MedtasksError: if the file cannot be written, with the reason.
    """
    texts = [content] if isinstance(content, str) else content
    parts = [texts] if isinstance(texts, bytes) else map(str.encode, texts)
    target = path.resolve()
    temporary = target.with_name(f".{uuid.uuid4().hex}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(parts)
            return
        try:
            with temporary.open("wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise MedtasksError(f"{path} cannot be written: {error.strerror or error}") from None


def read_json(path: Path) -> JsonObject:
    """Load the object in a JSON file; return an empty dict if there is no such file."""
    content: JsonObject = json.loads(path.read_bytes()) if path.exists() else {}
    return content


def json_lines(rows: Iterable[JsonObject]) -> str:
    """Encode rows as JSON lines; values that JSON cannot represent are converted by ``str``."""
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def digest(value: Any, length: int = 8) -> str:
    """Return the first ``length`` hexadecimal digits of a hash of a JSON value.

    The order of keys does not matter. Values that JSON cannot represent are converted by ``str``.
    """
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


# ---- the terminal

SIMPLER = "medtasks.simpler"
"""The name of the error handler for streams that cannot encode our symbols, such as in a locale without UTF-8."""

_SIMPLER_SIGNS = {"−": "-", "–": "-", "…": ".", "°": "o", "×": "x", "█": "#", "░": "."}


def _simpler(error: UnicodeError) -> tuple[str, int]:
    """Return replacements of the same width for characters that a stream cannot encode, and the index to resume at."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_SIMPLER_SIGNS.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error(SIMPLER, _simpler)


def plain(text: object) -> str:
    """Replace unprintable characters, such as line breaks and control characters, with U+FFFD.

    This keeps texts from data and models from controlling the terminal when they are printed.
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in str(text))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with a noun, such as ``1 run`` or ``1,200 runs``; ``plural`` is for irregular nouns."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """Replace each run of white space in a text with one space, and remove it at both ends."""
    return " ".join(text.split())


def shortened(text: str, length: int) -> str:
    """Return a text of at most ``length`` characters: the text itself, or its beginning with an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


WIDTH = 80
"""The maximum width of printed lines, in columns; only a single longer name or path exceeds it."""


def filled(text: str, indent: str = "") -> str:
    """Wrap a text into lines of at most :data:`WIDTH` columns; all but the first begin with ``indent``.

    A single longer word is not broken. Unprintable characters are replaced, as by :func:`plain`.
    """
    return textwrap.fill(plain(text), WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def caution(text: str) -> str:
    """Wrap a caution about a result, prefixed with an exclamation mark."""
    return filled(f"! {text}", "  ")


def table(rows: Iterable[Sequence[object]], left: Collection[int] = (0,)) -> str:
    """Return a table as text. A name in the first column that is too long for its row gets its own line above.

    Args:
        rows: the cells. A row with fewer cells than the first is a note on the previous row, and does not widen
            columns.
        left: the columns that are aligned to the left; spaces at the beginning of their cells are kept.

    >>> table([["", "%"], ["a" * 78, "5.0"]]) == "    %" + chr(10) + "a" * 78 + chr(10) + "  5.0"
    True
    >>> table([(chr(27), 1), ("bb", 10)]).splitlines()
    ['�    1', 'bb  10']
    """
    cells = [[*map(plain, row)] for row in rows]
    whole = [row for row in cells if len(row) == len(cells[0])]
    _, *widths = (max(map(len, column)) for column in zip(*whole, strict=True))
    room = WIDTH - sum(width + 2 for width in widths)
    names = [len(name) for name, *_ in cells]
    widths.insert(0, max([width for width in names if width <= room] or names))
    lines = []
    for name, *others in cells:
        if len(name) > widths[0]:
            lines.append(name)
            name = ""
        all_left = len(others) + 1 < len(widths)
        aligned = [
            cell.ljust(width) if all_left or place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip([name, *others], widths, strict=False))
        ]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def defused(cell: object) -> object:
    """Return a cell for a CSV file, with an apostrophe before a text that a spreadsheet would treat as a formula.

    >>> [defused(cell) for cell in ("=1+1", "@SUM(A1)", "-5.2", -5.2, "B")]
    ["'=1+1", "'@SUM(A1)", '-5.2', -5.2, 'B']
    """
    is_formula = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def csv_of(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return the text of a CSV file in which no cell looks like a formula to a spreadsheet."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([head, *(map(defused, row) for row in rows)])
    return text.getvalue()


def printable(text: str) -> str:
    """Join surrogate pairs into single characters, and replace lone surrogates with U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# ---- secrets


_SECRET_NAME = re.compile(
    r"(.*[_-])?((api[_-]?|(access|private|secret|subscription)[_-])key|password|passwd|secret|credentials?|cookie"
    r"|authorization)|((.*[_-])?(access|api|auth|bearer|hf|hub|refresh|session))?[_-]?token",
    re.I,
)
_CONTAINER = re.compile(r"(.*[_-])?headers?", re.I)  # of values each of which may be a secret
_HARMLESS_HEADER = re.compile(r".*(model|type|accept|agent|organi[sz]ation|project|title|referer|version|region)", re.I)
_SECRET_IN_QUERY = re.compile(
    r"[?&](?:[\w-]*(?:key|token|secret|sig|signature|code|auth|password|credential))=([^&#\s]+)", re.I
)
_USER_IN_URL = re.compile(r"://(?:[^/@\s:]*:)?([^/@\s]+)@")
_SHORTEST = 6  # minimum characters of a secret; anything shorter may be part of a word
_CONTROL = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def without_secrets(settings: Settings) -> JsonObject:
    """Return settings without those whose names suggest a secret, and without empty mappings.

    Nested mappings are treated in the same way; mappings within lists are not. A setting named like ``headers`` is kept
    only if its value is a mapping.

    >>> without_secrets({"api_key": "k", "header": {"X-Api-Key": "k"}, "extra": {"Authorization": "k", "X-Model": "m"}})
    {'extra': {'X-Model': 'm'}}
    """
    kept = {}
    for name, value in settings.items():
        inner = without_secrets(value) if isinstance(value, Mapping) else value
        is_kept = isinstance(value, Mapping) or not _CONTAINER.fullmatch(str(name))
        if is_kept and inner != {} and not _SECRET_NAME.fullmatch(str(name)):
            kept[name] = inner
    return kept


def secrets_in(value: Any, name: str = "", within: bool = False) -> Iterator[str]:
    """Yield the secrets in settings, in every form in which a server may echo them.

    Secrets are values whose names suggest a secret, header values, passwords in URLs (or user names, if there is no
    password), and keys in the query of ``base_url``. Not secret are the values of harmless headers such as
    ``Content-Type``, and header values that are lower-case words, which prompts may contain. Each secret is yielded
    with and without a scheme such as ``Bearer``, as it is, URL-encoded and decoded.

    Args:
        value: settings, or one setting.
        name: the name of the setting.
        within: True inside a setting whose parts are secret, such as headers.
    """
    is_named = bool(_SECRET_NAME.fullmatch(name))
    within = is_named or bool(_CONTAINER.fullmatch(name)) or (within and not _HARMLESS_HEADER.fullmatch(name))
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from secrets_in(item, str(key), within)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, name, within)
    elif value is not None and not isinstance(value, bool):
        text = str(value)
        is_word = not is_named and text.isalpha() and text.islower()  # which prompts may contain
        secrets = [text.strip(), *text.split()[-1:]] if within and not is_word else _USER_IN_URL.findall(text)
        if name.endswith("base_url"):
            secrets += _SECRET_IN_QUERY.findall(text)
        for secret in secrets:
            yield from {secret, unquote(secret), quote(unquote(secret), safe="")}


class Secrets:
    """The secrets known to this process, which are removed from whatever it prints or saves."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def learn(self, *settings: Settings) -> None:
        """Remember the secrets of 6 or more characters in the given settings and in the environment."""
        for secret in chain.from_iterable(map(secrets_in, (os.environ, *settings))):
            if len(secret) >= _SHORTEST:
                self.known.add(secret)

    def shown(self, message: str) -> str:
        """Return a message without secrets and control characters, ready to print."""
        return _CONTROL.sub("\ufffd", self.scrub(message))

    def filter(self, record: logging.LogRecord) -> bool:
        """Remove secrets and control characters from a log record's message; return True to keep the record."""
        record.msg, record.args = self.shown(record.getMessage()), ()
        return True

    def scrub(self, value: Any) -> Any:
        """Return a copy of a JSON-compatible value in which each secret is replaced by ``[secret]``, except in keys."""
        if isinstance(value, str):
            for secret in sorted(self.known, key=len, reverse=True):  # one may be the beginning of another
                value = value.replace(secret, "[secret]")
            return value
        if isinstance(value, dict):
            return {name: self.scrub(item) for name, item in value.items()}
        return [self.scrub(item) for item in value] if isinstance(value, list | tuple) else value


SECRETS = Secrets()
"""The secrets of this process."""


def quoted(text: str, length: int) -> str:
    """Return a server's text for use in a message: on one line, shortened, without secrets and control characters."""
    return shortened(plain(one_line(SECRETS.scrub(printable(text)))), length)
