"""Compile regular expressions when they are first used, so that importing the package stays fast."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast


class _Later:
    """A stand-in for a compiled pattern, which compiles it when an attribute is first accessed."""

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self.source, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        source = self.source if isinstance(self.source, str) else self.source()
        method = self.__dict__[name] = getattr(re.compile(source, self.flags), name)
        return method


def later(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; a function returns its source then.

    >>> later("b+").sub("c", "abba")
    'aca'
    """
    return cast("re.Pattern[str]", _Later(source, flags))


def rewriter(replacements: Mapping[str, str | tuple[str, ...]], flags: int = 0) -> Callable[[str], str]:
    """Return a function that makes all replacements in a text, in order; its patterns are compiled at the first call.

    After a replacement may follow the strings of which each match has one: a text without them is not searched.

    >>> rewriter({"b+": "c", "a$": ""})("abba"), rewriter({r"\\bans\\.": ("answer:", "ns.")})("ans. A")
    ('ac', 'answer: A')
    """
    compiled = [
        (later(source, flags), rest[0], rest[1:])
        for source, written in replacements.items()
        for rest in [(written,) if isinstance(written, str) else written]
    ]

    def rewritten(text: str) -> str:
        for pattern, replacement, needed in compiled:
            if not needed or any(part in text for part in needed):
                text = pattern.sub(replacement, text)
        return text

    return rewritten
