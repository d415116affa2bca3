"""Send a run's requests to an API model concurrently, and continue each conversation as soon as its reply is there.

``TemplateAPI.generate_until`` sends one group of requests with equal settings after the other, and returns when all are
answered. In a run it is replaced by :meth:`ApiBatch.generate_until`, which sends the same requests over as many
connections, in order, and continues every conversation whose reply has come.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from tqdm import tqdm

from medtasks_utils.errors import logger

from . import model_server
from .answer_store import AnswerStore
from .lm_eval_names import Instance
from .models import request_body

Ask = Callable[[Any, dict[str, Any]], Awaitable[str]]
"""Sends a prompt with its generation settings, and returns the reply."""
NextPrompt = Callable[[Any, str], Any]
"""Returns the next prompt of a request, given the reply to the last one; None if the conversation is over."""

spent: Counter[str] = Counter()
"""Tokens that servers reported in this process: ``prompt``, ``completion``; and ``replies``, how many reported them."""

_MIN_THREADS = 32  # for tool calls


class ApiBatch:
    """The requests of a run to an API model.

    Args:
        model: a model for which :func:`.models.can_be_asked_singly` is true.
        answers: the replies that an earlier run stored; None where nothing is stored.
    """

    def __init__(self, model: Any, answers: AnswerStore | None) -> None:
        self._model = model
        self._answers = answers
        self._conversations: dict[str, Any] = {}

    def join(self, task: str, turns: Any) -> None:
        """Continue the conversations of a task too, given its :class:`.tool_turns.ToolTurns`."""
        self._conversations[task] = turns

    def generate_until(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return the first reply to each request, when the conversations that begin with them are over."""
        if any(len(request.args) != 2 for request in requests):  # such as pictures
            return type(self._model).generate_until(self._model, requests, disable_tqdm)  # type: ignore[no-any-return]
        with ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(max(_MIN_THREADS, self._model._concurrent)))
            next_prompts = {
                task: stack.enter_context(turns.conversing()) for task, turns in self._conversations.items()
            }
            # After a failure, no call may start once the tools close.
            stack.callback(threads.shutdown, wait=False, cancel_futures=True)
            return asyncio.run(self._converse_all(requests, next_prompts, threads))

    async def _converse_all(
        self, requests: Sequence[Instance], next_prompts: Mapping[str, NextPrompt], threads: ThreadPoolExecutor
    ) -> list[str]:
        """Return the first replies when all conversations are over; the first failure ends all of them."""
        loop = asyncio.get_running_loop()
        with tqdm(total=len(requests), desc="Requesting API") as bar:
            async with _asking(self._model) as ask:

                async def converse(request: Instance) -> str:
                    prompt = request.args[0]
                    next_prompt = next_prompts.get(str(request.task_name))
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
                finally:  # otherwise each of the others would fail too, on a connection that is closed
                    for task in tasks:
                        task.cancel()

    async def _reply(self, ask: Ask, request: Any, prompt: Any) -> str:
        """Return the reply to a prompt; an empty one, which ends the conversation, if the prompt is too long."""
        settings = request.args[1]
        stored = self._answers and self._answers.take("generate_until", (prompt, settings))
        if stored is not None:
            return str(stored)
        try:
            return await ask(prompt, settings)
        except model_server.PromptTooLong as refusal:
            logger.info("%s: %s", request.task_name, refusal)
            request.refusal = str(refusal)
            return ""


@asynccontextmanager
async def _asking(model: Any) -> AsyncIterator[Ask]:
    """Yield a function that sends one prompt to an API model over a fixed number of connections.

    The model itself makes the body and the headers, reads the reply and fills the cache. Connections and retries are
    those of ``TemplateAPI.get_batched_requests``.
    """
    from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector
    from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

    connector = TCPConnector(limit=model._concurrent, ssl=model.verify_certificate)
    slots = asyncio.Semaphore(max(model._concurrent, 1))
    async with ClientSession(connector=connector, timeout=ClientTimeout(model.timeout), trust_env=True) as session:

        @retry(
            stop=stop_after_attempt(model.max_retries),
            wait=wait_exponential(multiplier=0.5, min=1, max=10),
            retry=retry_if_exception_type((ClientError, asyncio.TimeoutError, model_server.ServerUnavailable)),
            reraise=True,
        )
        async def ask(prompt: Any, settings: dict[str, Any]) -> str:
            body = request_body(model, prompt, settings)
            async with slots, session.post(model.base_url, json=body, headers=model.header) as response:
                text = await response.text(errors="replace")
            model_server.check(response.status, text, model.base_url, model.model)
            outputs = model_server.parse_reply(text, model.base_url)
            reply = str(next(iter(model.parse_generations(outputs=[outputs])), None) or "")
            usage = outputs.get("usage")
            if usage:
                spent["replies"] += 1
                spent["prompt"] += usage.get("prompt_tokens") or 0
                spent["completion"] += usage.get("completion_tokens") or 0
            model.cache_hook.add_partial("generate_until", (prompt, settings), reply)
            return reply

        yield ask
