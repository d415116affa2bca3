"""Send a run's requests to an API model concurrently, and continue each conversation as soon as its reply arrives.

``TemplateAPI.generate_until`` groups requests by their settings, sends one group after the other, and returns when all
have replies. A run replaces it with :meth:`ApiBatch.generate_until`, which sends the same number of prompts at a time,
in order and each in a request of its own, and continues each conversation without waiting for the others.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from tqdm import tqdm

from medtasks_utils.errors import MedtasksError, logger

from .lm_eval_names import Instance
from .model_server import PromptTooLong, ServerUnavailable, pause_before, read
from .models import explaining_failures, refusal_of, request_body, without_thoughts
from .replies import MAX_BODY, Reply
from .reply_store import ReplyStore

Ask = Callable[[Any, dict[str, Any]], Awaitable[list[Reply]]]
"""A function that sends a prompt with generation settings, and returns ``n`` replies if they set ``n``, else one."""
NextPrompt = Callable[[Any, Reply], Any]
"""A function of a request and its last reply that returns the next prompt, or None if the conversation is over."""

spent: Counter[str] = Counter()
"""Numbers of tokens that servers reported (``prompt``, ``completion``), and of ``replies`` for which they did so."""

_MIN_THREADS = 32  # minimum number of threads for tool calls
_SILENCE = 30  # seconds without a reply after which the log says so


class ApiBatch:
    """The requests of a run to an API model.

    Args:
        model: a model for which :func:`.models.can_be_asked_singly` returns True.
        store: the store of replies; None to store nothing.
    """

    def __init__(self, model: Any, store: ReplyStore | None) -> None:
        self._model = model
        self._store = store
        self._add_to_cache = model.cache_hook.add_partial  # the cache of --use_cache
        self._conversations: dict[str, Any] = {}
        self._answered = 0

    def join(self, task: str, turns: Any) -> None:
        """Register a task with tools; its :class:`.tool_turns.ToolTurns` continue the conversations."""
        self._conversations[task] = turns

    def generate_until(self, requests: Sequence[Instance]) -> list[Reply]:
        """Hold all conversations to their end, and return the first reply to each request."""
        if any(len(request.args) != 2 for request in requests):  # for example, pictures
            return type(self._model).generate_until(self._model, requests)  # type: ignore[no-any-return]
        with ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(max(_MIN_THREADS, self._model._concurrent)))
            next_prompts = {
                task: stack.enter_context(turns.conversing()) for task, turns in self._conversations.items()
            }
            # After a failure, no call may start while the tools close.
            stack.callback(threads.shutdown, wait=False, cancel_futures=True)
            return asyncio.run(self._converse_all(requests, next_prompts, threads))

    async def _converse_all(
        self, requests: Sequence[Instance], next_prompts: Mapping[str, NextPrompt], threads: ThreadPoolExecutor
    ) -> list[Reply]:
        """Hold all conversations concurrently, and return the first replies; the first failure ends all of them."""
        loop = asyncio.get_running_loop()
        groups: dict[Any, list[Instance]] = defaultdict(list)  # generations that are requested together
        for request in requests:
            groups[(request.task_name, request.doc_id) if "n" in request.args[1] else id(request)].append(request)
        first_replies: dict[int, Reply] = {}
        with tqdm(total=len(requests), desc="Requesting API") as bar:
            async with _asking(self._model) as ask:

                async def converse(group: Sequence[Instance]) -> None:
                    first, *_ = group
                    replies = first.resps[:1] or await self._replies(ask, first, first.args[0])
                    for request, reply in zip(group, replies, strict=False):
                        first_replies[id(request)] = reply
                        next_prompt = next_prompts.get(request.task_name)
                        while next_prompt is not None:
                            prompt = await loop.run_in_executor(threads, next_prompt, request, reply)
                            if prompt is None:
                                break
                            (reply,) = await self._replies(ask, request, prompt)
                        bar.update()

                tasks = [asyncio.ensure_future(converse(group)) for group in groups.values()]
                if self._store is not None:
                    loop.call_soon(self._store.explain)  # after each conversation has looked for a kept reply
                try:
                    await self._reporting_silence(asyncio.gather(*tasks))
                finally:  # otherwise the other conversations would fail too, on closed connections
                    for task in tasks:
                        task.cancel()
        return [first_replies[id(request)] for request in requests]

    async def _reporting_silence(self, conversations: "asyncio.Future[Any]") -> None:
        """Wait until the conversations are over; log each half minute in which no reply arrives."""
        while not conversations.done():
            number = self._answered
            await asyncio.wait([conversations], timeout=_SILENCE)
            if self._answered == number and not conversations.done():
                message = "%s has sent no reply for %d s; requests time out after %d s (timeout in --model_args)"
                logger.warning(message, self._model.base_url, _SILENCE, self._model.timeout)
        await conversations

    async def _replies(self, ask: Ask, request: Any, prompt: Any) -> list[Reply]:
        """Return the replies to a prompt, kept or new; if it is too long, empty replies, which end the conversation."""
        settings = request.args[1]
        arguments = (prompt, settings)
        if self._store is not None:
            kept = self._store.take("generate_until", arguments, None if prompt is request.args[0] else request.args)
            if kept is not None:
                return kept
        refusal = refusal_of(self._model, prompt, settings)
        if refusal is None:
            try:
                replies = await ask(prompt, settings)
                self._answered += 1
            except PromptTooLong as error:
                refusal = str(error)
        if refusal is not None:
            logger.info("%s: %s", request.task_name, refusal)
            return [Reply(refusal=refusal)] * settings.get("n", 1)
        self._add_to_cache("generate_until", arguments, replies[0])
        if self._store is not None:
            self._store.put("generate_until", arguments, replies)
        return replies


@asynccontextmanager
async def _asking(model: Any) -> AsyncIterator[Ask]:
    """Yield a function that sends one prompt to an API model over a fixed number of connections.

    The model determines the body, the headers, and the numbers of attempts and of connections.
    """
    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    at_once = max(model._concurrent * model._batch_size, 1)
    connector = TCPConnector(limit=at_once, ssl=model.verify_certificate)
    slots = asyncio.Semaphore(at_once)
    url = model.base_url
    async with ClientSession(connector=connector, timeout=ClientTimeout(model.timeout), trust_env=True) as session:

        async def ask_once(body: dict[str, Any]) -> list[Reply]:
            with explaining_failures(model):
                async with slots, session.post(url, json=body, headers=model.header) as response:
                    sent = await _read_bounded(response, url)
            return read_replies(model, url, response.status, sent, body, response.headers.get("Retry-After"))

        async def ask_again(body: dict[str, Any]) -> list[Reply]:
            for attempt in range(2, model.max_retries + 1):
                try:
                    return await ask_once(body)
                except ServerUnavailable as error:
                    await asyncio.sleep(pause_before(attempt, error))
            return await ask_once(body)

        async def ask(prompt: Any, settings: dict[str, Any]) -> list[Reply]:
            body = request_body(model, prompt, settings) or {}
            replies = await ask_again(body)
            return await ask_again(body) if any(reply.is_empty for reply in replies) else replies

        yield ask


def read_replies(
    model: Any, url: str, status: int, sent: str, body: Mapping[str, Any], retry_after: str | None = None
) -> list[Reply]:
    """Return the replies in a server's response, as many as were requested, and count their tokens.

    Args:
        model: the model of the run.
        url: the URL of the request, for messages.
        status: the HTTP status.
        sent: the body of the response.
        body: the body of the request.
        retry_after: the header ``Retry-After`` of the response.

    Raises:
        MedtasksError: as :func:`.model_server.read` does, and for fewer replies than requested.
    """
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    replies, usage = read(status, sent, url, model.model, limit, retry_after)
    if usage:
        spent.update(replies=len(replies), **usage)
    number = body.get("n", 1)
    if len(replies) < number:
        raise MedtasksError(f"{url} sent {len(replies)} of n={number} replies")
    return [without_thoughts(model, reply) for reply in replies[:number]]


async def _read_bounded(response: Any, url: str) -> str:
    """Return the body of a response as text.

    Raises:
        ServerUnavailable: if the body is longer than :data:`.replies.MAX_BODY`.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            raise ServerUnavailable(f"{url} sends more than {MAX_BODY >> 20} MiB; check that base_url is right")
    return body.decode(errors="replace")
