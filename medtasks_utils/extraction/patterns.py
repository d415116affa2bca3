"""Compile regular expressions at their first use, so that importing a reader costs nothing."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, cast


class _Later:
    """Stands for a compiled pattern, and compiles it when a method is first looked up."""

    def __init__(self, source: str, flags: int) -> None:
        self.compiled = partial(re.compile, source, flags)

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(self.compiled(), name)
        return method


def later(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern, which is compiled at its first use.

    >>> later("b+").sub("c", "abba")
    'aca'
    """
    return cast("re.Pattern[str]", _Later(source, flags))


def rewrites(table: str, flags: int = 0) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of a table with their replacements.

    Args:
        table: on each line a pattern, ``⟶`` and its replacement, in which ``␠`` is a space. Nothing after ``⟶``
            deletes what matches.
        flags: of all the patterns.

    >>> [pattern.sub(replacement, "abba") for pattern, replacement in rewrites("b+ ⟶ c")]
    ['aca']
    """
    lines = (line.partition(" ⟶") for line in table.strip().splitlines())
    return tuple((later(source, flags), replacement.strip().replace("␠", " ")) for source, _, replacement in lines)


def rewritten(text: str, table: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """Return the text after all replacements of a table, in their order."""
    for pattern, replacement in table:
        text = pattern.sub(replacement, text)
    return text
