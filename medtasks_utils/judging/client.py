"""Send requests to the judging model, with a cache, limited concurrency and retries, and parse its replies."""

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import openai

from medtasks_utils.errors import logger
from medtasks_utils.extraction.think import final_text
from medtasks_utils.writing import SECRETS, printable

from .cache import Cache
from .endpoints import HINTS, NO_COMPLETION, TIMEOUT, error_line, explain, parameters, refused_by
from .judge import CallError, Messages, Schema, Value
from .judge_replies import UnreadableError
from .judge_settings import JudgeError, JudgeSettings

MAX_ATTEMPTS = 3
"""Maximum number of attempts to get a readable reply; if none succeeds, the request counts as failed."""

_PATIENCE = 2.0  # seconds without a reply to the check before the log says so
_CHECK: Messages = [{"role": "user", "content": 'Reply with this JSON object and nothing else: {"ready": true}'}]
_CHECK_SCHEMA: Schema = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_refused: dict[tuple[str, str], frozenset[str]] = {}
"""By base URL and model name, the parameters that the model has refused."""


class JudgeClient:
    """A client of one endpoint, with a cache and limits, for use in a single event loop.

    Attributes:
        spent: the cost so far: ``calls`` (requests sent, each retry included), and ``prompt`` and ``completion``
            tokens. Cached replies cost nothing.

    Args:
        settings: the model, the endpoint and the limits.
        check_first: True to run :meth:`check` before the first request whose reply is not in the cache.

    Raises:
        JudgeError: if the cache cannot be written.
    """

    def __init__(self, settings: JudgeSettings, check_first: bool) -> None:
        self.settings = settings
        self.spent = Counter[str]()
        self._check_first = check_first
        self._checking: asyncio.Task[None] | None = None
        self._cache = Cache(settings.cache)
        self._openai = openai.AsyncOpenAI(
            api_key=settings.api_key,
            base_url=settings.base_url,
            timeout=openai.Timeout(TIMEOUT, connect=15.0),  # seconds
            max_retries=settings.max_retries,  # the client honours Retry-After, or backs off exponentially
        )
        # Requests contain the texts and the key, so even verbose logs must not show them.
        for name in ("openai", "httpx2", "httpcore2", "httpx", "httpcore"):
            transport = logging.getLogger(name)
            transport.setLevel(max(transport.getEffectiveLevel(), logging.WARNING))
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._model = settings.base_url, settings.model

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        await self._openai.close()
        self._cache.close()

    async def complete(self, messages: Messages, read: Callable[[str], Value], schema: Schema = None) -> Value:
        """Get a reply to messages, from the cache if possible, and parse it with ``read``.

        Raises:
            CallError: if a request failed, or no attempt gave a readable reply.
            JudgeError: if the endpoint fails the check that precedes the first request.
        """
        messages = [{**message, "content": printable(message["content"])} for message in messages]
        key = self._key(messages, schema)
        cached = self._cache.get(key)
        if cached is not None:
            with suppress(UnreadableError):  # a damaged reply, or one from a version that parsed replies differently
                return read(final_text(cached))
        if self._check_first:
            self._checking = self._checking or asyncio.ensure_future(self.check())
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

    async def _request(self, messages: Messages, schema: Schema, client: openai.AsyncOpenAI | None = None) -> str:
        """Send a request; if the endpoint refuses a parameter, send it again without it (``max_tokens``: renamed).

        Without ``client``, a request that fails is retried as often as the settings say.

        Returns:
            The reply's text, without secrets.

        Raises:
            CallError: if the request fails.
            UnreadableError: if the judge refused to reply, replied without text, or reached the token limit.
        """
        refused = _refused.get(self._model, frozenset())
        requests = (client or self._openai).chat.completions.with_raw_response
        await self._slots.acquire()
        try:
            while True:
                self.spent["calls"] += 1
                sent = parameters(refused, self.settings.max_tokens, schema)
                try:
                    answer = await requests.create(
                        model=self.settings.model,
                        messages=messages,  # type: ignore[arg-type]
                        extra_body=sent,  # a typed argument would be validated recursively
                    )
                    self.spent["calls"] += answer.retries_taken
                    break
                except openai.OpenAIError as error:
                    name = refused_by(error, sent)
                    if name is None:
                        raise explain(error) from None
                    refused |= {name}
        finally:  # the slot is free again after ``pause`` seconds, during which the reply is parsed and stored
            asyncio.get_running_loop().call_later(self.settings.pause, self._slots.release)
        _refused[self._model] = refused
        try:  # the client library does not check types, and endpoints differ
            completion: Any = answer.parse()
            choice, usage = completion.choices[0], completion.usage
            text: str = SECRETS.scrub(printable(choice.message.content or ""))
            if usage:
                self.spent.update(prompt=usage.prompt_tokens or 0, completion=usage.completion_tokens or 0)
            refusal, finish = choice.message.refusal, choice.finish_reason
        except (AttributeError, IndexError, TypeError, ValueError):
            raise UnreadableError("the endpoint's response is not a chat completion", NO_COMPLETION) from None
        if finish == "length":
            raise UnreadableError(f"the reply was cut off at max_tokens={self.settings.max_tokens}")
        if refusal or finish == "content_filter":
            raise UnreadableError(f"the judge refused to reply: {refusal or finish}", "refusal")
        if not final_text(text).strip():
            raise UnreadableError(f"the judge's reply has no text outside its reasoning ({finish})", "refusal")
        return text

    async def check(self) -> None:
        """Send a small request with the parameters that judges use.

        Raises:
            JudgeError: if the endpoint cannot be reached, or rejects the key, the model or the parameters.
        """
        judge = f"the judge {self.settings.model} at {self.settings.base_url}"
        retries = min(self.settings.max_retries, 2)  # so that an unreachable server ends the run within seconds
        message = "%s has not responded yet; making up to %d attempts"
        remark = asyncio.get_running_loop().call_later(_PATIENCE, logger.warning, message, judge, retries + 1)
        try:
            await self._request(_CHECK, _CHECK_SCHEMA, self._openai.with_options(max_retries=retries))
        except CallError as error:
            # an unreadable reply still shows that the endpoint works
            if not isinstance(error, UnreadableError) or error.kind == NO_COMPLETION:
                problem = "; ".join(filter(None, (str(error), HINTS.get(error.kind))))
                raise JudgeError(f"{judge} cannot be used: {problem}") from None
        finally:
            remark.cancel()

    def _key(self, messages: Messages, schema: Schema) -> str:
        """Return the key of a reply in the cache: a hash of everything that the reply depends on.

        Two constants in it stand for the version of the format in which replies are stored. ``max_tokens`` is left out,
        since replies that were cut off are never cached.
        """
        parts = [1, self.settings.base_url, self.settings.model, messages, schema, 0]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
