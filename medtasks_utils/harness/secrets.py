"""Keys and tokens among a run's arguments, which the harness writes to its log and into results."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAMED = re.compile(r"(.*_)?(api_?key|password|secret|headers?|auth_token|authorization)|((use_)?auth|hf|hub)?_?token")
_SHORTEST = 4  # characters; less is no secret, and would be found in words


class Scrubber(logging.Filter):
    """Replaces the texts under names such as ``token``, ``api_key`` and ``header``, wherever they stand."""

    def __init__(self, *settings: Mapping[str, Any]) -> None:
        super().__init__()
        named = (value for each in settings for name, value in each.items() if _NAMED.fullmatch(str(name).lower()))
        self._secrets = [text for value in named for text in _texts(value) if len(text) >= _SHORTEST]

    def __call__(self, value: Any) -> Any:
        """A value that JSON can hold, without secrets."""
        if isinstance(value, str):
            for secret in self._secrets:
                value = value.replace(secret, "[secret]")
            return value
        if isinstance(value, dict):
            return {name: self(each) for name, each in value.items()}
        return [self(each) for each in value] if isinstance(value, list) else value

    def filter(self, record: logging.LogRecord) -> bool:
        """Scrub a line of a log."""
        text = record.getMessage()
        if self(text) != text:
            record.msg, record.args = self(text), ()
        return True


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
