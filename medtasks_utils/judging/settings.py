"""Which judge is asked, and how: endpoint, model, key, limits, cache."""

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

_NO_KEY = "none"  # what an endpoint without keys is sent, since the client library insists on one
_URL = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")


class JudgeError(MedtasksError, ValueError):
    """A judge that cannot be asked; known before the model runs."""


@dataclass(frozen=True)
class JudgeSettings:
    """How judges are called. The key shows in no ``repr``.

    Attributes:
        model: the judge's name at the endpoint.
        base_url: an OpenAI-compatible endpoint, as in ``http://localhost:8000/v1``.
        api_key: sent to the endpoint and kept nowhere.
        cache: file of answered calls, shared by any number of processes.
        concurrency: calls in flight at once, at most.
        max_tokens: of a reply, reasoning included.
        max_retries: further tries of a call that failed for a passing reason.
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
        """Settings with the key and the defaults that the environment holds.

        Args:
            model: the judge's name at the endpoint.
            base_url: the endpoint; ``OPENAI_BASE_URL``, else the provider's, if None.
            key_variable: the name of the variable with the key; ``JUDGE_API_KEY``, else ``OPENAI_API_KEY``, if None.
            cache: a file; in ``$XDG_CACHE_HOME/medtasks`` if None.
            limits: the other attributes.

        Raises:
            JudgeError: for a URL that is none or has credentials in it, or a key that is missing or malformed.
        """
        url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or PROVIDER)
        key = find_key(key_variable, os.environ)
        if key is None and url == PROVIDER:
            raise JudgeError(
                f"the judge at {url} needs a key: set {' or '.join(KEY_VARIABLES)}, name the variable that holds it, "
                "or name another endpoint"
            )
        SECRETS.learn({"api_key": key})
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        file = Path(cache or f"{home}/medtasks/judge.sqlite3").expanduser()
        return cls(model, url, SecretStr(key or _NO_KEY), file, **limits)


def endpoint(url: str) -> str:
    """The base URL in one form; the address of ``chat/completions`` itself is understood too.

    Raises:
        JudgeError: if it is no http(s) URL, or holds credentials or a query, which would end up in results and logs.
    """
    if not _URL.fullmatch(url.strip()):
        raise JudgeError(
            "the judge's base URL must look like http://localhost:8000/v1, with no user, password, query or fragment, "
            "since it is written to results: pass the key through an environment variable"
        )
    return url.strip().rstrip("/").removesuffix("/chat/completions")


def find_key(variable: str | None, environment: Mapping[str, str]) -> str | None:
    """The key from the variable of this name, else from the first of :data:`KEY_VARIABLES` that holds one.

    Raises:
        JudgeError: if the variable is not set (its name is not repeated: it may be a key, pasted in the wrong place).
    """
    for name in KEY_VARIABLES if variable is None else (variable,):
        if key := environment.get(name, "").strip():
            return key
    if variable is not None:
        raise JudgeError(
            "the judge's key variable must be the name of an environment variable that holds the key, such as "
            "JUDGE_API_KEY; no variable of the given name is set (the name is not shown, in case it is a key)"
        )
    return None
