"""Send a run's requests to an API model concurrently, and continue each conversation as soon as a reply arrives.

``TemplateAPI.generate_until`` groups requests by their settings, sends one group after the other, and returns when all
have replies. A run uses :meth:`ApiBatch.replies_to` instead, which keeps the same number of requests in flight, starts
conversations in order, sends each prompt in its own request, and continues each conversation without waiting for other
conversations.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from medtasks_utils.errors import logger
from medtasks_utils.inference.client import Client, run_with
from medtasks_utils.inference.replies import Reply
from medtasks_utils.inference.responses import PromptRefused, ServerError
from medtasks_utils.writing import Settings

from .lm_eval_names import LM, Instance
from .log_likelihoods import log_likelihood
from .progress import Progress
from .server_model import endpoint_of, replies_in, request_body
from .stages import Stages, empty_replies

NextPrompt = Callable[[Instance, Reply], Any]
"""A function that returns a conversation's next prompt, given its first request and last reply, or None to end it."""
Conversing = Callable[[], AbstractContextManager[NextPrompt]]
"""A function that returns a context manager, which yields the :data:`NextPrompt` of a task."""

_MIN_THREADS = 32  # minimum number of threads for tool calls
_REFUSES_TOOLS = (400, 404, 422, 500, 501)  # statuses with which servers refuse tools, or messages with calls
_SILENCE = 30  # seconds without a reply after which the log says so


class ApiBatch:
    """The requests of a run to an API model.

    Attributes:
        conversations: by task with tools, the function that returns the context manager of the task's conversations.

    Args:
        model: a model for which :func:`.server_model.can_be_asked_singly` returns True.
        stages: the stages that each request passes before and after it is sent.
        attempts: the maximum number of attempts per request; None to retry for :data:`.pace.LONGEST_OUTAGE`.
    """

    def __init__(self, model: LM, stages: Stages, attempts: int | None) -> None:
        self._model, self._stages, self._attempts = model, stages, attempts
        self.conversations: dict[str, Conversing] = {}
        self._answered = 0

    def replies_to(self, requests: Sequence[Instance]) -> list[Any]:
        """Complete all conversations, and return the first reply, or the log-likelihood, for each request.

        lm_eval may cache each returned value as the reply to the first prompt, so the last reply of a conversation goes
        to :meth:`.Stages.note_reply` instead.
        """
        endpoint = endpoint_of(self._model, self._attempts)
        with ExitStack() as stack:
            self._writer = stack.enter_context(ThreadPoolExecutor(1))
            threads = stack.enter_context(ThreadPoolExecutor(max(_MIN_THREADS, endpoint.at_once)))
            next_prompts = {task: stack.enter_context(conversing()) for task, conversing in self.conversations.items()}
            # After a failure, no call may start while the tools close.
            stack.callback(threads.shutdown, wait=False, cancel_futures=True)
            return run_with(endpoint, lambda client: self._converse_all(client, requests, next_prompts, threads))

    async def _converse_all(
        self,
        client: Client,
        requests: Sequence[Instance],
        next_prompts: Mapping[str, NextPrompt],
        threads: ThreadPoolExecutor,
    ) -> list[Any]:
        """Run all conversations concurrently, and return their first replies; an error in one cancels the others."""
        loop = asyncio.get_running_loop()
        groups: dict[Any, list[Instance]] = defaultdict(list)  # generations that are requested together
        for request in requests:
            is_shared = isinstance(request.args[1], Mapping) and "n" in request.args[1]
            groups[(request.task_name, request.doc_id) if is_shared else id(request)].append(request)
        first_replies: dict[int, Any] = {}

        async def converse(group: Sequence[Instance]) -> None:
            """Run the conversations that share a first request."""
            first, *_ = group
            replies = first.resps[:1] or await self._replies(client, first, first.args[0])
            for request, reply in zip(group, replies, strict=False):
                first_replies[id(request)] = reply
                next_prompt = next_prompts.get(request.task_name)
                while next_prompt is not None:
                    prompt = await loop.run_in_executor(threads, next_prompt, request, reply)
                    if prompt is None:
                        break
                    (reply,) = await self._replies(client, request, prompt)
                self._stages.note_reply(request, reply)
                progress.count(self._stages.title(request.task_name), getattr(reply, "ended", "") == "length")

        titles = [self._stages.title(request.task_name) for request in requests]
        with Progress(titles, self._stages.store is not None) as progress:
            tasks = [asyncio.ensure_future(converse(group)) for group in groups.values()]
            loop.call_soon(self._stages.explain)  # after each conversation has looked for a kept reply
            try:
                await self._reporting_silence(tasks, client)
            finally:  # otherwise the other conversations would fail too, on closed connections
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        return [first_replies[id(request)] for request in requests]

    async def _reporting_silence(self, conversations: "Collection[asyncio.Future[None]]", client: Client) -> None:
        """Wait until all conversations are over, or raise the first error; warn after every 30 s without a reply.

        While requests fail, the client's pace logs the failures instead.
        """
        while conversations:
            number = self._answered
            over, conversations = await asyncio.wait(
                conversations, timeout=_SILENCE, return_when=asyncio.FIRST_EXCEPTION
            )
            for conversation in over:
                conversation.result()
            if self._answered == number and conversations and not client.pace.failing_for:
                message = "%s has sent no reply for %d s; requests time out after %d s (timeout in --model_args)"
                logger.warning(message, self._model.base_url, _SILENCE, self._model.timeout)

    async def _replies(self, client: Client, request: Instance, prompt: Any) -> list[Any]:
        """Return stored or new replies to a prompt, and store new ones.

        If the prompt is too long or refused, the replies are empty, which ends the conversation.

        Raises:
            ServerError: if the server cannot answer; the message suggests ``tool_format=text`` if it may refuse tools.
        """
        method, settings = request.request_type, request.args[1]
        arguments = (prompt, settings)
        first = None if prompt is request.args[0] else request.args
        known = self._stages.without_model(method, request.task_name, arguments, first)
        if known is not None:
            return known
        try:
            if method == "loglikelihood":
                replies: list[Any] = [await log_likelihood(client, self._model, *arguments)]
            else:
                replies = await self._sent(client, arguments)
        except PromptRefused as error:
            return empty_replies(request.task_name, arguments, error.problem, error.ended)
        except ServerError as error:
            if "tools" in settings and error.status in _REFUSES_TOOLS:
                way_out = f"{error}; if the server does not accept native tool calls, set tool_format=text"
                raise type(error)(way_out, "", error.status, error.body) from None
            raise
        self._answered += 1
        self._stages.cache_hook.add_partial(method, arguments, replies[0])
        loop = asyncio.get_running_loop()
        kept = loop.run_in_executor(self._writer, self._stages.keep, method, arguments, replies)
        kept.add_done_callback(asyncio.Future.exception)  # else asyncio prints it if this conversation is cancelled
        await asyncio.shield(kept)  # also if another conversation fails meanwhile
        return replies

    async def _sent(self, client: Client, arguments: tuple[Any, Settings]) -> list[Reply]:
        """Return the server's replies to a prompt; if one of them is empty, return those to a second request.

        ``arguments`` are the prompt and the generation settings.
        """
        body = request_body(self._model, *arguments) or {}
        for _ in range(2):
            completion = await client.complete(body)
            replies = replies_in(completion, self._model, client.endpoint.url, body.get("n", 1))
            if not any(reply.is_empty for reply in replies):
                break
        return replies
