"""Calls to the judging model: cached, limited, retried, read."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, TypeVar

import openai

from medtasks_utils.extraction.printable import printable
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging.cache import Cache
from medtasks_utils.judging.case import Tokens
from medtasks_utils.judging.dialect import Dialect
from medtasks_utils.judging.judge import CallError
from medtasks_utils.judging.replies import UnreadableError
from medtasks_utils.judging.retries import ERRORS, endpoint_message, explain, one_line, retrying, unusable
from medtasks_utils.judging.settings import JudgeSettings

Value = TypeVar("Value")
Messages = list[dict[str, str]]

ASKED = 3
"""Times a question is put, at most, until the reply can be read."""

CONNECTED_WITHIN = 15.0
"""Seconds until an endpoint that takes no connection counts as unreachable."""

CHECK_HOLDS = 3600.0
"""Seconds for which a check need not be repeated."""

_FORMAT = 1  # of what the cache holds; another number is another question
_CHECK_SCHEMA = {
    "title": "check",
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_CHECK = 'Reply with this JSON object and nothing else: {"ready": true}'


@dataclass
class Tally:
    """What one case has cost so far; tokens count for answers from the cache too, calls do not."""

    tokens: Tokens = field(default_factory=Tokens)
    calls: int = 0


@dataclass(frozen=True)
class _Answer:
    """One completion: its text, think block included, or why there is none to read."""

    text: str
    tokens: Tokens
    problem: tuple[str, str] | None = None


class JudgeClient:
    """An endpoint with its limits and its cache; used as ``async with``, in one event loop.

    Args:
        settings: which model, where, and the limits.
        check_first: whether :meth:`check` comes before the first call that the cache does not answer.

    Raises:
        JudgeError: if the cache cannot be written.

    Attributes:
        spent: tokens of the calls made so far.
    """

    def __init__(self, settings: JudgeSettings, check_first: bool = False) -> None:
        self.settings = settings
        self._check_first = check_first
        self._checking: asyncio.Task[None] | None = None
        self.spent = Tokens()
        self._cache = Cache(settings.cache)
        self._openai = openai.AsyncOpenAI(
            api_key=settings.api_key.get_secret_value(),
            base_url=settings.base_url,
            timeout=openai.Timeout(settings.timeout, connect=min(settings.timeout, CONNECTED_WITHIN)),
            max_retries=0,  # ours, which honour longer waits and are counted
        )
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        learned = self._cache.get(self._check_key)
        self._dialect = Dialect(**learned) if learned else Dialect()

    async def __aenter__(self) -> JudgeClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._openai.close()
        self._cache.close()

    async def complete(
        self,
        messages: Messages,
        read: Callable[[str], Value],
        schema: dict[str, Any] | None = None,
        tally: Tally | None = None,
    ) -> Value:
        """Ask as :class:`.Ask` does, and add the cost to the tally; the same question twice at a time is one call."""
        messages = [{**message, "content": printable(message["content"])} for message in messages]
        key = self._key(messages, schema)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.ensure_future(self._complete(key, messages, read, schema, tally or Tally()))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        value: Value = await task
        return value

    async def _complete(
        self, key: str, messages: Messages, read: Callable[[str], Value], schema: dict[str, Any] | None, tally: Tally
    ) -> Value:
        cached = self._cache.get(key)
        if cached is not None:
            try:
                value = read(final_text(cached["text"]))
            except UnreadableError:
                pass  # written by a version that read it otherwise
            else:
                tally.tokens = tally.tokens.plus(Tokens(*cached["tokens"]))
                return value
        if self._check_first:
            await self._checked()
        attempt = retrying(self.settings.max_retries)
        asked = messages
        for _ in range(ASKED):
            answer: _Answer = await attempt(self._request, asked, schema, tally)
            kind, problem = answer.problem or ("", "")
            if not problem:
                try:
                    value = read(final_text(answer.text))
                except UnreadableError as error:
                    kind, problem = "unreadable", str(error)
                else:
                    self._cache.put(key, {"text": answer.text, "tokens": answer.tokens})
                    return value
            asked = _with_reminder(messages, problem)
        raise CallError(kind, one_line(f"{problem} (asked {ASKED} times)", self.settings))

    async def _request(self, messages: Messages, schema: dict[str, Any] | None, tally: Tally) -> _Answer:
        """One request in one slot, repeated only while the endpoint refuses parameters it can be spared."""
        dialect = self._dialect
        while True:
            parameters = dialect.parameters(self.settings.max_tokens, schema)
            try:
                completion = await self._send(messages, parameters, tally)
            except ERRORS as error:
                if isinstance(error, openai.APIStatusError) and error.status_code in (400, 422):
                    spared = dialect.without(f"{error.param or ''} {endpoint_message(error)}", schema)
                    if spared:
                        dialect = spared
                        continue
                raise explain(error, self.settings) from None
            answer = self._read_completion(completion)
            tally.tokens = tally.tokens.plus(answer.tokens)
            self.spent = self.spent.plus(answer.tokens)
            self._dialect = dialect
            return answer

    async def _send(self, messages: Messages, parameters: dict[str, Any], tally: Tally) -> Any:
        await self._slots.acquire()
        try:
            tally.calls += 1
            call: Any = self._openai.chat.completions.create(
                model=self.settings.model,
                messages=messages,  # type: ignore[arg-type]
                extra_body=parameters,  # as they are: else the library walks the schema at every call
            )
            # The library's timeout starts anew with every byte; this one does not.
            return await asyncio.wait_for(call, self.settings.timeout)
        finally:
            if self.settings.pause:  # the slot rests; the answer is read and written meanwhile
                asyncio.get_running_loop().call_later(self.settings.pause, self._slots.release)
            else:
                self._slots.release()

    def _read_completion(self, completion: Any) -> _Answer:
        """What a completion says. The library checks no types and endpoints differ, so it is done here."""
        try:
            choice = completion.choices[0]
            text, finish = choice.message.content or "", choice.finish_reason
            refusal = getattr(choice.message, "refusal", None)
            if not isinstance(text, str):
                raise TypeError("content is no text")
        except (AttributeError, IndexError, TypeError):
            raise CallError("unreadable", "the endpoint's answer is no chat completion", transient=True) from None
        text = self.settings.scrub(printable(text))
        problem = None
        if refusal or finish == "content_filter":
            problem = ("refusal", f"the judge refused: {refusal or finish}")
        elif finish == "length":
            problem = ("unreadable", f"the reply was cut off at {self.settings.max_tokens} tokens")
        elif not final_text(text).strip():
            problem = ("refusal", "the reply was empty")
        return _Answer(text, _tokens(getattr(completion, "usage", None)), problem)

    async def check(self) -> None:
        """One small call with all parameters of the real ones, unless one succeeded within the hour.

        Raises:
            CallError: if the endpoint cannot be reached, or refuses the key, the model or the parameters.
        """
        if self._cache.get(self._check_key, youngest=CHECK_HOLDS) is not None:
            return
        self._dialect = Dialect()
        question = [{"role": "user", "content": _CHECK}]
        await retrying(self.settings.max_retries)(self._request, question, _CHECK_SCHEMA, Tally())
        self._cache.put(self._check_key, asdict(self._dialect))

    async def _checked(self) -> None:
        """Wait for the one check of this client.

        Raises:
            JudgeError: if it failed.
        """
        if self._checking is None:
            self._checking = asyncio.ensure_future(self.check())
        try:
            await asyncio.shield(self._checking)
        except CallError as error:
            raise unusable(error, self.settings) from None

    @property
    def _check_key(self) -> str:
        return self._key([{"role": "user", "content": _CHECK}], _CHECK_SCHEMA)

    def _key(self, messages: Messages, schema: dict[str, Any] | None) -> str:
        """A hash of all that an answer depends on; the limit on tokens is not, since cut-off replies are not kept."""
        parts = [_FORMAT, self.settings.base_url, self.settings.model, messages, schema, self.settings.repeat]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _tokens(usage: Any) -> Tokens:
    counts = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    return Tokens(*(count if isinstance(count, int) else 0 for count in counts))


def _with_reminder(messages: Messages, problem: str) -> Messages:
    """The same chat, saying what was wrong: at temperature 0 the same question would get the same reply."""
    last = messages[-1]
    reminder = f"(An earlier reply could not be used: {problem}. Keep exactly to the form that is asked for.)"
    return [*messages[:-1], {**last, "content": f"{last['content']}\n\n{reminder}"}]
