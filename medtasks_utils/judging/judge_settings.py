"""Define the settings of the judge model: its name, endpoint, API key, limits and cache."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import SECRETS

DEFAULT_MODEL = "gpt-4o-mini"
PROVIDER = "https://api.openai.com/v1"
KEY_VARIABLES = ("JUDGE_API_KEY", "OPENAI_API_KEY")

_URL = re.compile(r"https?://[^/@?#\s]+(/[^@?#\s]*)?")


class JudgeError(MedtasksError, ValueError):
    """A judge that cannot be used, because of its settings, its endpoint or its cache."""


def model_names(names: str) -> str:
    """Remove white space around the names of models, which are separated by commas.

    Raises:
        ValueError: if a name is empty.
    """
    models = [name.strip() for name in names.split(",")]
    if not all(models):
        raise ValueError("must name a model, or several separated by commas")
    return ",".join(models)


@dataclass(frozen=True)
class JudgeSettings:
    """The settings of requests to the judge model. Their ``repr`` hides the API key.

    Attributes:
        model: the name of the model at the endpoint, or several separated by commas.
        base_url: the base URL of an OpenAI-compatible endpoint, such as ``http://localhost:8000/v1``.
        api_key: the API key, which is sent to the endpoint and stored nowhere.
        cache: the file that caches replies; any number of processes may share it.
        concurrency: the maximum number of concurrent requests.
        max_tokens: the maximum number of tokens in a reply, including reasoning.
        max_retries: the maximum number of retries after transient failures of a request; None to retry for as long as
            :data:`.pace.LONGEST_OUTAGE`.
        sampling: request parameters that replace ``max_tokens`` and a temperature of 0.
        pause: seconds after each request during which its slot stays occupied, for endpoints with a rate limit.
    """

    model: str
    base_url: str
    api_key: str = field(repr=False)
    cache: Path
    concurrency: int = 16
    max_tokens: int = 4096
    max_retries: int | None = None
    pause: float = 0.0
    sampling: tuple[tuple[str, Any], ...] = ()

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
            model: the name of the model at the endpoint.
            base_url: the base URL of the endpoint; None for ``OPENAI_BASE_URL`` or, if that is not set, OpenAI's.
            key_variable: the name of the environment variable with the API key; None for ``JUDGE_API_KEY`` or, if that
                is not set, ``OPENAI_API_KEY``.
            cache: the cache file; None for ``judge.jsonl`` in ``$XDG_CACHE_HOME/medtasks`` (by default,
                ``~/.cache/medtasks``).
            limits: values of the other attributes.

        Raises:
            JudgeError: for a malformed URL, a URL with credentials or a query, a named variable that is not set, or no
                key for OpenAI's endpoint.
        """
        url = endpoint(base_url or os.environ.get("OPENAI_BASE_URL") or PROVIDER)
        key = find_key(key_variable)
        if key is None and url == PROVIDER:
            raise JudgeError(
                f"the judge at {url} needs an API key: set {' or '.join(KEY_VARIABLES)}, name another variable "
                "(judge_api_key_env or --key_var), or choose another endpoint"
            )
        SECRETS.learn({"api_key": key})
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        file = Path(cache or f"{home}/medtasks/judge.jsonl").expanduser()
        return cls(model, url, key or "none", file, **limits)


def endpoint(url: str) -> str:
    """Normalise a base URL; a URL that ends in ``chat/completions`` is accepted too.

    Raises:
        JudgeError: if ``url`` is not an http(s) URL, or has credentials or a query, which would appear in results and
            logs.
    """
    if not _URL.fullmatch(url.strip()):
        raise JudgeError(
            "the judge's base URL must look like http://localhost:8000/v1, without user, password, query or fragment "
            "(the URL given is not shown, in case it contains a key); pass a key in an environment variable"
        )
    return url.strip().rstrip("/").removesuffix("/chat/completions")


def find_key(variable: str | None) -> str | None:
    """Return the API key from an environment variable, or None if no variable is named and none is set.

    Args:
        variable: the name of the variable; None for the first of :data:`KEY_VARIABLES` that is set.

    Raises:
        JudgeError: if the named variable is not set. The message does not repeat the name, since it may be a key that
            was pasted in the wrong place.
    """
    for name in KEY_VARIABLES if variable is None else (variable,):
        if key := os.environ.get(name, "").strip():
            return key
    if variable is not None:
        raise JudgeError(
            "the environment variable that judge_api_key_env or --key_var names is not set (its name is not shown, in "
            "case it is a key); name the variable that contains the judge's key, such as JUDGE_API_KEY"
        )
    return None
