"""Compile regular expressions when they are first used, so that importing the package stays fast."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, cast


class _Later:
    """A stand-in for a compiled pattern, which compiles it when an attribute is first accessed."""

    def __init__(self, source: str, flags: int) -> None:
        self.compiled = partial(re.compile, source, flags)

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(self.compiled(), name)
        return method


def later(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used.

    >>> later("b+").sub("c", "abba")
    'aca'
    """
    return cast("re.Pattern[str]", _Later(source, flags))


def rewrites(table: str, flags: int = 0) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Parse a table of patterns and their replacements.

    Args:
        table: on each line a pattern, ``⟶`` and its replacement, in which ``␠`` stands for a space. If nothing follows
            ``⟶``, matches are deleted.
        flags: flags for all patterns.

    >>> [pattern.sub(replacement, "abba") for pattern, replacement in rewrites("b+ ⟶ c")]
    ['aca']
    """
    lines = (line.partition(" ⟶") for line in table.strip().splitlines())
    return tuple((later(source, flags), replacement.strip().replace("␠", " ")) for source, _, replacement in lines)


def rewritten(text: str, table: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """Apply all replacements of a table to a text, in order."""
    for pattern, replacement in table:
        text = pattern.sub(replacement, text)
    return text
