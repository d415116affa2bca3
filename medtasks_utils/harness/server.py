"""Whether an API model's server is there and means it: one cheap request before anything is built."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

import requests

from medtasks_utils.errors import MedtasksError, UsageError, logger

_CONNECTED_WITHIN = 5  # seconds
_ANSWERED_WITHIN = 30  # seconds; a server that takes longer is busy, and alive
_LATER = "try again later; the server's own log may say why"
_SHOWN = 200  # characters of what a server says
_REASONS = (
    "Connection refused",
    "Name or service not known",
    "timed out",
    "certificate verify failed",
    "wrong version number",
    "Remote end closed connection",
)


class NoServerError(MedtasksError):
    """No server is there, or it cannot answer anything now."""


def ask(request: dict[str, Any], model: str, by_proxy: bool = True) -> None:
    """Ask for one token of a model, by the name that the server knows it by.

    Whatever tells nothing for sure lets the run go on: no answer in time, a rate limit, or a complaint about the
    request itself, which some servers make of so few tokens. ``by_proxy`` says whether the run will heed ``http_proxy``
    and its like; aiohttp does not.

    Raises:
        NoServerError: where there is none, or none that can answer.
        MedtasksError: where no request of this run can be answered.
    """
    url = request["url"]
    session = requests.Session()
    session.trust_env = by_proxy
    try:
        reply = session.post(**request, timeout=(_CONNECTED_WITHIN, _ANSWERED_WITHIN))
    except requests.exceptions.ReadTimeout:
        logger.warning("%s has not answered within %d s; going on", url, _ANSWERED_WITHIN)
        return
    except (requests.exceptions.InvalidSchema, requests.exceptions.MissingSchema, requests.exceptions.InvalidURL):
        raise UsageError(
            f"--model_args: base_url={url} is no address; it looks like http://localhost:8000/v1/chat/completions"
        ) from None
    except requests.exceptions.SSLError as error:
        raise MedtasksError(
            f"{url}: its certificate is not accepted ({_reason(error)}); add ca_cert_path=FILE to --model_args, or "
            "verify_certificate=false"
        ) from None
    except requests.exceptions.InvalidHeader:  # its text has the key in it
        raise MedtasksError(
            "the key in OPENAI_API_KEY has a line end, or another character that no header may have: set it without"
        ) from None
    except requests.exceptions.ProxyError as error:
        raise NoServerError(
            f"{url} is asked by the proxy that {_proxy_variable(url)} names, which does not answer ({_reason(error)}): "
            "unset it, or name the server in no_proxy"
        ) from None
    except requests.exceptions.TooManyRedirects:
        raise MedtasksError(f"{url} redirects without end: is base_url right, and is no login needed?") from None
    except requests.exceptions.ChunkedEncodingError:
        raise NoServerError(f"{url} breaks off in the middle of its answer: {_LATER}") from None
    except (requests.exceptions.RequestException, ValueError) as error:
        proxy = "" if by_proxy else _proxy_variable(url)
        unused = f" ({proxy} is not heeded with num_concurrent above 1)" if proxy else ""
        raise NoServerError(
            f"no server answers at {url} ({_reason(error)}): start it, or correct base_url in --model_args{unused}"
        ) from None
    explain(reply.status_code, _said(reply), url, model, request)
    _check_body(reply, url)


def explain(status: int, said: str, url: str, model: str, request: dict[str, Any] | None = None) -> None:
    """Raise what a status means for a run.

    Raises:
        NoServerError: for 5xx.
        MedtasksError: for 401, 403, 404 and 405.
    """
    answer = f"{url} answers {status}{said}"
    if status in (401, 403):
        raise MedtasksError(f"{answer}: set OPENAI_API_KEY to a key that the server takes")
    if status in (404, 405):
        known = _models(request) if request else []
        if known and model not in known:
            raise MedtasksError(f"{answer}: there is no model {model!r}; there is {', '.join(known[:10])}")
        raise MedtasksError(f"{answer}: is base_url right, and does the server know the model {model!r}?{_whole(url)}")
    if status >= 500:
        raise NoServerError(f"{answer}: the server is not able to answer yet, or at all; its own log says why")


def _proxy_variable(url: str) -> str:
    """The environment variable that names a proxy for an address; empty where none does."""
    if not requests.utils.get_environ_proxies(url, None):
        return ""
    names = (f"{urlsplit(url).scheme}_proxy", "all_proxy")
    return next((each for name in names for each in (name, name.upper()) if os.environ.get(each)), "")


def _whole(url: str) -> str:
    """The address that was probably meant, where a part of it was given."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if path.endswith("completions"):
        return ""
    base = path if path.endswith("/v1") else f"{path}/v1"
    return f" The whole address is needed, as in {parts.scheme}://{parts.netloc}{base}/chat/completions"


def _check_body(reply: requests.Response, url: str) -> None:
    if not reply.ok:
        return
    try:
        body = reply.json()
    except ValueError:
        if reply.text.lstrip().startswith("{"):
            raise NoServerError(f"{url} answers with JSON that is cut short: {_LATER}") from None
        kind = reply.headers.get("Content-Type", "something").partition(";")[0]
        raise MedtasksError(f"{url} answers with {kind}, not with JSON: is base_url right?{_whole(url)}") from None
    if not isinstance(body, dict) or not body.get("choices"):
        said = _said(reply)
        otherwise = f" If it is, {_LATER}" if said else ""
        raise MedtasksError(f"{url} answers without choices{said}: is base_url right?{_whole(url)}{otherwise}")


def _said(reply: requests.Response) -> str:
    """The server's own words, if they are any for people."""
    try:
        return words_of(reply.json())
    except ValueError:
        return words_of({"error": "" if "html" in reply.headers.get("Content-Type", "") else reply.text})


def words_of(body: Any) -> str:
    """What a reply says for people, in brackets; empty if it says nothing."""
    words = body.get("error", body.get("message", body.get("detail", ""))) if isinstance(body, dict) else ""
    words = words.get("message", words) if isinstance(words, dict) else words
    text = " ".join(str(words).split())
    return f" ({text[:_SHOWN]})" if text else ""


def _models(request: dict[str, Any]) -> list[str]:
    """The models that the server says it has; none where it does not say."""
    base = request["url"].partition("/chat/completions")[0].removesuffix("/completions")
    try:
        reply = requests.get(
            f"{base}/models", headers=request["headers"], verify=request["verify"], timeout=_CONNECTED_WITHIN
        )
        return [str(entry["id"]) for entry in reply.json()["data"]] if reply.ok else []
    except (requests.exceptions.RequestException, ValueError, LookupError, TypeError):
        return []


def _reason(error: Exception) -> str:
    """What is at the bottom of an error of requests: ``Connection refused`` and its like."""
    text = str(getattr(error.args[0] if error.args else error, "reason", error))
    for known in _REASONS:
        if known in text:
            return known
    return text.rpartition(": ")[2].strip("'\"()> ") or type(error).__name__
