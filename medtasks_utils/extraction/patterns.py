"""Regular expressions that are compiled at their first use, so that importing a reader costs nothing."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, cast


class _Later:
    def __init__(self, source: str, flags: int) -> None:
        self.compiled = partial(re.compile, source, flags)

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(self.compiled(), name)
        return method


def later(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, not compiled yet.

    >>> later("b+").sub("c", "abba")
    'aca'
    """
    return cast("re.Pattern[str]", _Later(source, flags))


def rewrites(table: str, flags: int = 0) -> tuple[tuple[re.Pattern[str], str], ...]:
    """What is written otherwise: a pattern, ``⟶`` and its replacement a line; ``␠`` is a space, and nothing is nothing.

    >>> [pattern.sub(written, "abba") for pattern, written in rewrites("b+ ⟶ c")]
    ['aca']
    """
    lines = (line.partition(" ⟶") for line in table.strip().splitlines())
    return tuple((later(source, flags), written.strip().replace("␠", " ")) for source, _, written in lines)


def rewritten(text: str, table: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """The text after every rewriting of a table, in their order."""
    for pattern, written in table:
        text = pattern.sub(written, text)
    return text
