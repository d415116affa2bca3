"""Query the judge model for replies that are not cached, with retries for unreadable replies and refused parameters."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Set
from contextlib import suppress

from medtasks_utils.errors import HINTS_BY_STATUS, logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.inference.client import Client, Endpoint
from medtasks_utils.inference.responses import (
    NoConnection,
    NoResponse,
    PromptFiltered,
    PromptRefused,
    RequestRefused,
    ServerError,
)
from medtasks_utils.writing import SECRETS, JsonObject, Settings, printable, quoted

from .cache import Cache
from .judge import CallError, Messages, Schema, Value
from .judge_replies import UnreadableError
from .judge_settings import JudgeError, JudgeSettings

TIMEOUT = 180.0
"""Seconds to wait for a reply before an attempt counts as failed."""

_LONGEST_LINE = 300
_SERVER = "is the server running, and is the base URL right?"
HINTS = {
    "unreachable": _SERVER,
    "timeout": _SERVER,
    "http_200": HINTS_BY_STATUS[404],
    **{f"http_{status}": hint for status, hint in HINTS_BY_STATUS.items()},
}
"""What the user should check, by kind of failure."""

MAX_ATTEMPTS = 3
"""Maximum number of attempts to get a readable reply; after that, the request has failed."""

_PATIENCE = 2.0  # seconds without a reply to the check before the log says so
_CHECK: Messages = [{"role": "user", "content": 'Reply with this JSON object and nothing else: {"ready": true}'}]
_CHECK_SCHEMA: Schema = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_unsupported: dict[tuple[str, str], frozenset[str]] = {}
"""The parameters that a model has refused, by its base URL and name."""


class JudgeClient:
    """A judge model with a cache, for use in a single event loop.

    Args:
        settings: the model and the limits.
        client: the client of its endpoint.
        cache: the replies of earlier requests.
        check_first: True to call :meth:`check_endpoint` before the first request whose reply is not in the cache.
    """

    def __init__(self, settings: JudgeSettings, client: Client, cache: Cache, check_first: bool) -> None:
        self.settings = settings
        self._client, self._cache = client, cache
        self._tokens = Counter[str]()
        self._check_first = check_first
        self._checking: asyncio.Task[None] | None = None

    @property
    def spent(self) -> Counter[str]:
        """The cost so far: ``calls`` (requests sent, including retries), and ``prompt`` and ``completion`` tokens.

        Cached replies cost nothing.
        """
        return self._tokens + Counter(calls=self._client.sent)

    async def complete(self, messages: Messages, read: Callable[[str], Value], schema: Schema = None) -> Value:
        """Get a reply to messages, from the cache if possible, and parse it with ``read``.

        Raises:
            CallError: if a request failed, or if no attempt yielded a readable reply.
            JudgeError: if the endpoint fails the check that precedes the first request.
        """
        messages = [{**message, "content": printable(message["content"])} for message in messages]
        key = self._key(messages, schema)
        cached = self._cache.get(key)
        if cached is not None:
            with suppress(UnreadableError):  # from a version that parsed replies differently
                return read(final_text(cached))
        if self._check_first:
            self._checking = self._checking or asyncio.ensure_future(self.check_endpoint())
            await asyncio.shield(self._checking)
        *before, last = messages
        asked, problem = messages, UnreadableError()
        for _ in range(MAX_ATTEMPTS):
            try:
                text = await self._request(asked, schema)
                value = read(final_text(text))
                self._cache.put(key, text)
                return value
            except UnreadableError as error:
                problem = error
            # At temperature 0 the same messages get the same reply, so say what was wrong.
            reason = error_line(str(problem))
            reminder = f"(An earlier reply could not be used: {reason}. Keep exactly to the form that is asked for.)"
            asked = [*before, {**last, "content": f"{last['content']}\n\n{reminder}"}]
        raise CallError(error_line(f"{problem} (in {MAX_ATTEMPTS} attempts)"), problem.kind)

    async def _request(self, messages: Messages, schema: Schema, attempts: int | None = None) -> str:
        """Send a request; if the endpoint refuses a parameter, send the request again without it.

        ``max_tokens`` is renamed to ``max_completion_tokens`` instead. ``attempts`` is the maximum number of attempts;
        None for the client's own limit.

        Returns:
            The reply's text, without secrets.

        Raises:
            CallError: if the request fails.
            UnreadableError: if the judge refused to reply, replied without text, or reached the token limit.
        """
        settings = self.settings
        model = settings.base_url, settings.model
        unsupported = _unsupported.get(model, frozenset())
        while True:
            sent = parameters(unsupported, settings.max_tokens, schema, dict(settings.sampling))
            body = {"model": settings.model, "messages": messages, **sent}
            try:
                completion = await self._client.complete(body, attempts)
                break
            except ServerError as error:
                name = unsupported_parameter(error, sent) if isinstance(error, RequestRefused) else None
                if name is None:
                    raise explain(error) from None
                unsupported |= {name}
        _unsupported[model] = unsupported
        self._tokens.update(completion.usage)
        reply = completion.replies[0]
        text: str = SECRETS.scrub(str(reply))
        if reply.ended == "length":
            limit = "the endpoint's own limit" if settings.sampling else f"max_tokens={settings.max_tokens}; raise it"
            raise UnreadableError(f"the reply was cut off at {limit}")
        if completion.refusal or reply.ended == "filter":
            reason = completion.refusal or "content_filter"
            raise UnreadableError(f"the judge refused to reply: {reason}", "refusal")
        if not final_text(text).strip():
            raise UnreadableError(f"the judge's reply has no text outside its reasoning ({reply.ended})", "refusal")
        return text

    async def check_endpoint(self) -> None:
        """Send a small request with the parameters that judges use.

        Raises:
            JudgeError: if the endpoint cannot be reached, or rejects the key, the model or the parameters.
        """
        judge = f"the judge {self.settings.model} at {self.settings.base_url}"
        message = "%s has not responded yet; making up to %d attempts"
        # An unreachable server ends the run within seconds.
        attempts = min(3, endpoint_of(self.settings).attempts or 3)
        remark = asyncio.get_running_loop().call_later(_PATIENCE, logger.warning, message, judge, attempts)
        try:
            await self._request(_CHECK, _CHECK_SCHEMA, attempts)
        except UnreadableError:  # it still shows that the endpoint works
            pass
        except CallError as error:
            problem = "; ".join(filter(None, (str(error), HINTS.get(error.kind))))
            raise JudgeError(f"{judge} cannot be used: {problem}") from None
        finally:
            remark.cancel()

    def _key(self, messages: Messages, schema: Schema) -> str:
        """Return the key of a reply in the cache: a hash of everything that the reply depends on.

        The constants 1 and 0 are the version of the storage format. ``max_tokens`` is left out, since replies that were
        cut off are never cached.
        """
        parts = [1, self.settings.base_url, self.settings.model, messages, schema, 0]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


# ---- differences between endpoints


def endpoint_of(settings: JudgeSettings) -> Endpoint:
    """Return the endpoint of a judge model, with its limits."""
    return Endpoint(
        url=f"{settings.base_url}/chat/completions",
        model=settings.model,
        headers={"Authorization": f"Bearer {settings.api_key}"},
        at_once=settings.concurrency,
        attempts=None if settings.max_retries is None else settings.max_retries + 1,
        timeout=TIMEOUT,
        pause=settings.pause,
    )


def parameters(
    unsupported: Set[str], max_tokens: int, schema: Schema, sampling: JsonObject | None = None
) -> JsonObject:
    """Return the parameters of a request for a chat completion, without those that the endpoint has refused.

    Newer OpenAI models need ``max_completion_tokens`` instead of ``max_tokens``, and some reasoning models refuse a
    temperature. ``sampling`` replaces the limit and the temperature.
    """
    limit = "max_completion_tokens" if "max_tokens" in unsupported else "max_tokens"
    arguments: JsonObject = sampling or {limit: max_tokens, "temperature": 0.0}
    if schema:
        form = {"name": "reply", "strict": True, "schema": schema}
        arguments["response_format"] = {"type": "json_schema", "json_schema": form}
    return {name: value for name, value in arguments.items() if name not in unsupported}


def unsupported_parameter(error: RequestRefused, sent: Settings) -> str | None:
    """Return the name of the parameter that the endpoint seems to refuse; None if the error has a different cause."""
    if error.status not in (400, 422) or isinstance(error, PromptRefused):
        return None
    complaint = error.body.lower()
    # Endpoints word this in many ways, so any other complaint is taken to be about structured output.
    hints = {"max_tokens": "max_completion_tokens", "temperature": "temperature", "response_format": ""}
    return next((name for name, hint in hints.items() if name in sent and hint in complaint), None)


def explain(error: ServerError) -> CallError:
    """Convert an error of the client into a :class:`CallError` of one line, without the key."""
    if isinstance(error, NoResponse):
        return CallError(f"no response within {TIMEOUT:g} s", "timeout")
    kind = "unreachable" if isinstance(error, NoConnection) else f"http_{error.status}"
    if isinstance(error, PromptFiltered):
        kind = "refusal"
    return CallError(error_line(error.problem), kind)


def error_line(text: str) -> str:
    """Shorten a text to one line of 300 characters, without secrets."""
    return quoted(text, _LONGEST_LINE)
