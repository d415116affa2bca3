"""The requests of a run to an API model, asked concurrently; each conversation goes on as soon as its reply is there.

``TemplateAPI.generate_until`` asks one group of equal settings after the other, and returns when all is answered. In a
run it is replaced by :meth:`ApiBatch.generate_until`, which makes the same requests over as many connections, first
come, first served, and asks on in every conversation whose reply came.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from tqdm import tqdm

from medtasks_utils.errors import logger

from . import server
from .answer_store import AnswerStore
from .lm_eval_names import Instance
from .models import request_body

Ask = Callable[[Any, dict[str, Any]], Awaitable[str]]
NextPrompt = Callable[[Any, str], Any]
"""Given a request and the reply to its last prompt: the next prompt, None if the conversation is over."""

spent: Counter[str] = Counter()
"""Tokens that servers reported in this process: ``prompt``, ``completion``, and the ``replies`` that had them."""

_THREADS = 32  # for calls of tools, at least


class ApiBatch:
    """The requests of a run to an API model.

    Args:
        model: one that :func:`.models.can_be_asked_singly`.
        answers: the replies that an earlier run stored; None where nothing is stored.
    """

    def __init__(self, model: Any, answers: AnswerStore | None) -> None:
        self._model = model
        self._answers = answers
        self._tasks: dict[str, Any] = {}

    def join(self, name: str, task: Any) -> None:
        """Ask on in the conversations of a task's :class:`.tool_turns.ToolTurns` too."""
        self._tasks[name] = task

    def generate_until(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[str]:
        """The first reply to each request; the conversations that begin with them are over by then."""
        if any(len(request.args) != 2 for request in requests):  # such as pictures
            return type(self._model).generate_until(self._model, requests, disable_tqdm)  # type: ignore[no-any-return]
        with ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(max(_THREADS, self._model._concurrent)))
            nexts = {name: stack.enter_context(task.conversing()) for name, task in self._tasks.items()}
            stack.callback(threads.shutdown, wait=False, cancel_futures=True)  # if it fails: before the tools close
            return asyncio.run(self._converse_all(requests, nexts, threads))

    async def _converse_all(
        self, requests: Sequence[Instance], nexts: Mapping[str, NextPrompt], threads: ThreadPoolExecutor
    ) -> list[str]:
        """The first replies, once all conversations are over; the first failure ends all."""
        loop = asyncio.get_running_loop()
        with tqdm(total=len(requests), desc="Requesting API") as bar:
            async with _asking(self._model) as ask:

                async def converse(request: Instance) -> str:
                    prompt = request.args[0]
                    next_prompt = nexts.get(str(request.task_name))
                    first = reply = request.resps[0] if request.resps else await self._reply(ask, request, prompt)
                    while next_prompt is not None:
                        prompt = await loop.run_in_executor(threads, next_prompt, request, reply)
                        if prompt is None:
                            break
                        reply = await self._reply(ask, request, prompt)
                    bar.update()
                    return first

                tasks = [asyncio.ensure_future(converse(request)) for request in requests]
                try:
                    return await asyncio.gather(*tasks)
                finally:  # or each of the others fails for itself, on connections that are closed
                    for task in tasks:
                        task.cancel()

    async def _reply(self, ask: Ask, request: Any, prompt: Any) -> str:
        """The reply to a prompt; none, which ends a conversation, where the server says that it does not fit."""
        settings = request.args[1]
        stored = self._answers and self._answers.take("generate_until", (prompt, settings))
        if stored is not None:
            return str(stored)
        try:
            return await ask(prompt, settings)
        except server.DoesNotFit as refusal:
            logger.info("%s: %s", request.task_name, refusal)
            request.refusal = str(refusal)
            return ""


@asynccontextmanager
async def _asking(model: Any) -> AsyncIterator[Ask]:
    """A function that asks an API model one prompt; however often it is called at once, no connection is added.

    Body, headers, reading of the reply and cache are the model's own; connections and tries are as in
    ``TemplateAPI.get_batched_requests``.
    """
    from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector
    from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

    connector = TCPConnector(limit=model._concurrent, ssl=model.verify_certificate)
    slots = asyncio.Semaphore(max(model._concurrent, 1))
    async with ClientSession(connector=connector, timeout=ClientTimeout(model.timeout), trust_env=True) as session:

        @retry(
            stop=stop_after_attempt(model.max_retries),
            wait=wait_exponential(multiplier=0.5, min=1, max=10),
            retry=retry_if_exception_type((ClientError, asyncio.TimeoutError, server.UnableError)),
            reraise=True,
        )
        async def ask(prompt: Any, settings: dict[str, Any]) -> str:
            body = request_body(model, prompt, settings)
            async with slots, session.post(model.base_url, json=body, headers=model.header) as response:
                said = await response.text(errors="replace")
            server.check(response.status, said, model.base_url, model.model)
            outputs = server.body_of(said, model.base_url)
            reply = str(next(iter(model.parse_generations(outputs=[outputs])), None) or "")
            if usage := outputs.get("usage"):
                spent.update(replies=1, **{name: usage.get(f"{name}_tokens") or 0 for name in ("prompt", "completion")})
            model.cache_hook.add_partial("generate_until", (prompt, settings), reply)
            return reply

        yield ask
