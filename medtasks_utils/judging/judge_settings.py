"""Settings of a judge: model, endpoint, key, limits, cache."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import SECRETS

DEFAULT_MODEL = "gpt-4o-mini"
PROVIDER = "https://api.openai.com/v1"
KEY_VARIABLES = ("JUDGE_API_KEY", "OPENAI_API_KEY")

_NO_KEY = "none"  # sent to endpoints without keys, since the client library requires one
_URL = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")


class JudgeError(MedtasksError, ValueError):
    """Raised before the model runs, when a judge cannot be used."""


@dataclass(frozen=True)
class JudgeSettings:
    """Settings for calling a judge. No ``repr`` shows the key.

    Attributes:
        model: name of the model at the endpoint.
        base_url: an OpenAI-compatible endpoint, such as ``http://localhost:8000/v1``.
        api_key: sent to the endpoint, stored nowhere.
        cache: file of answered calls; any number of processes may share it.
        concurrency: maximum number of calls in flight.
        max_tokens: maximum tokens of a reply, reasoning included.
        max_retries: further attempts after a transient failure.
        timeout: seconds until a call counts as failed.
        pause: seconds that a slot rests after each call, for endpoints with a rate limit.
    """

    model: str
    base_url: str
    api_key: SecretStr
    cache: Path
    concurrency: int = 16
    max_tokens: int = 4096
    max_retries: int = 6
    timeout: float = 180.0
    pause: float = 0.0

    @classmethod
    def from_environment(
        cls,
        *,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        key_variable: str | None = None,
        cache: str | Path | None = None,
        **limits: Any,
    ) -> "JudgeSettings":
        """Build settings with the key and the defaults from environment variables.

        Args:
            model: name of the model at the endpoint.
            base_url: the endpoint; if None, ``OPENAI_BASE_URL`` or else OpenAI's.
            key_variable: name of the variable that holds the key; if None, ``JUDGE_API_KEY`` or else
                ``OPENAI_API_KEY``.
            cache: cache file; if None, one in ``$XDG_CACHE_HOME/medtasks``.
            limits: the other attributes.

        Raises:
            JudgeError: for a malformed URL, a URL with credentials, or a missing key.
        """
        url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or PROVIDER)
        key = find_key(key_variable, os.environ)
        if key is None and url == PROVIDER:
            raise JudgeError(
                f"the judge at {url} needs a key: set {' or '.join(KEY_VARIABLES)}, name the variable that holds it, "
                "or choose another endpoint"
            )
        SECRETS.learn({"api_key": key})
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        file = Path(cache or f"{home}/medtasks/judge.sqlite3").expanduser()
        return cls(model, url, SecretStr(key or _NO_KEY), file, **limits)


def endpoint(url: str) -> str:
    """Return the base URL in its normal form; a URL that ends in ``chat/completions`` is accepted too.

    Raises:
        JudgeError: if it is not an http(s) URL, or has credentials or a query, which would end up in results and logs.
    """
    if not _URL.fullmatch(url.strip()):
        raise JudgeError(
            "the judge's base URL must look like http://localhost:8000/v1, without user, password, query or fragment, "
            "since results show it; pass the key through an environment variable"
        )
    return url.strip().rstrip("/").removesuffix("/chat/completions")


def find_key(variable: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the key from the named variable or, without a name, from the first of :data:`KEY_VARIABLES` that is set.

    Raises:
        JudgeError: if the named variable is not set. The message does not repeat the name, which may be a key pasted in
            the wrong place.
    """
    for name in KEY_VARIABLES if variable is None else (variable,):
        if key := environment.get(name, "").strip():
            return key
    if variable is not None:
        raise JudgeError(
            "the judge's key variable must name an environment variable that holds the key, such as JUDGE_API_KEY; "
            "no variable of the given name is set (the name is not shown, in case it is a key)"
        )
    return None
