"""Compile regular expressions when they are first used, so that importing the package stays fast."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast


class _Later:
    """A placeholder for a pattern, which is compiled when one of its attributes is first accessed."""

    def __init__(self, source: str | Callable[[], str], flags: int) -> None:
        self.source, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        source = self.source if isinstance(self.source, str) else self.source()
        method = self.__dict__[name] = getattr(re.compile(source, self.flags), name)
        return method


def later(source: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use; if ``source`` is a function, it is called then.

    >>> later("b+").sub("c", "abba")
    'aca'
    """
    return cast("re.Pattern[str]", _Later(source, flags))


def rewriter(replacements: Mapping[str, str | tuple[str, str]], flags: int = 0) -> Callable[[str], str]:
    """Return a function that makes all replacements in a text, in order; its patterns are compiled at the first call.

    A replacement may be paired with strings, separated by "|", one of which occurs in every match; texts without any of
    them are not searched.

    >>> rewriter({"b+": "c", "a$": ""})("abba"), rewriter({"(?<=A)ns[.]": ("nswer:", "ns.|Ns.")})("Ans. A")
    ('ac', 'Answer: A')
    """
    pairs = [
        (later(source, flags), (made,) if isinstance(made, str) else made) for source, made in replacements.items()
    ]

    def rewritten(text: str) -> str:
        for pattern, (replacement, *needed) in pairs:
            if not needed or any(part in text for part in needed[0].split("|")):
                text = pattern.sub(replacement, text)
        return text

    return rewritten
