"""Keys and tokens among the model's arguments, which the harness writes to its log and into results."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_NAMED = re.compile(r"(.*_)?(api_?key|password|secret|headers?|auth_token|authorization)|((use_)?auth|hf|hub)?_?token")
_SHORTEST = 4  # characters; less is no secret, and would be found in words


def secrets_in(settings: Mapping[str, Any]) -> set[str]:
    """The texts under names such as ``token``, ``api_key`` and ``header``, however deep."""
    return {
        text
        for name, value in settings.items()
        for text in (_texts(value) if _NAMED.fullmatch(str(name).lower()) else ())
        if len(text) >= _SHORTEST
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)


def without(secrets: Collection[str], value: Any) -> Any:
    """A value that JSON can hold, with the secrets in its texts replaced."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[secret]")
        return value
    if isinstance(value, dict):
        return {name: without(secrets, each) for name, each in value.items()}
    return [without(secrets, each) for each in value] if isinstance(value, list) else value


@contextmanager
def not_logged(secrets: Collection[str]) -> Iterator[None]:
    """Within this, the harness's log shows no secret."""

    def scrub(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        scrubbed = without(secrets, text)
        if scrubbed != text:
            record.msg, record.args = scrubbed, ()
        return True

    handlers = logging.getLogger("lm_eval").handlers
    for handler in handlers:
        handler.addFilter(scrub)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(scrub)
