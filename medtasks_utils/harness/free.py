"""An API model asked freely: each conversation goes on as soon as its own reply is there.

The harness asks for the first replies of all tasks as one batch, by the model's ``generate_until``. For the one batch
of a run, that method is replaced by :meth:`FreeBatch.generate_until`, which makes the same requests over as many
connections, first come, first served, and asks on in every conversation whose reply came. What was in the cache of
``--use_cache`` when the batch began is not asked; what is answered goes into it at once, by the model's own hook.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from lm_eval.api.instance import Instance
from tqdm import tqdm

from medtasks_utils.errors import logger
from medtasks_utils.harness.patches import models
from medtasks_utils.harness.server import DoesNotFit

NextPrompt = Callable[[Any, str], tuple[Any, int]]
"""Given a request and the reply to its last prompt: the next prompt, None if the conversation is over; and how many
calls the reply made."""


class Conversing(Protocol):
    """The conversations of a task."""

    def unfinished(self) -> Sequence[Any]:
        """The requests whose conversations are not over, or have not begun."""

    def conversing(self) -> AbstractContextManager[NextPrompt]:
        """How conversations go on one by one, while the tools are open."""


_THREADS = 32  # for calls of tools, at least
_SHOWN_EVERY = 0.2  # seconds


class FreeBatch:
    """The requests of a run to an API model.

    Args:
        model: one that :func:`medtasks_utils.harness.patches.models.can_be_asked_singly`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._tasks: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._give_back = models.take_next_batch(model, self.generate_until)

    @classmethod
    def of(cls, model: Any) -> FreeBatch:
        """The one that is to take the model's next batch."""
        return _waiting.get(model) or _waiting.setdefault(model, cls(model))

    def join(self, name: str, task: Conversing) -> None:
        """Lead a task's conversations too; of two tasks with one name, as in a run begun again, the later's."""
        self._tasks[name] = task

    def generate_until(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[str]:
        """The reply to each request; the conversations that begin with them, or have begun, are over by then."""
        self._begin()
        if any(len(request.args) != 2 for request in requests):  # such as pictures
            return self._model.generate_until(requests, disable_tqdm)  # type: ignore[no-any-return]
        return self._lead(requests)

    def finish(self) -> None:
        """Lead all conversations to their end that are not over: those whose first replies were all in the cache."""
        self._begin()
        if any(task.unfinished() for task in self._tasks.values()):
            self._lead([])

    def _begin(self) -> None:
        _waiting.pop(self._model, None)
        self._give_back()

    def _lead(self, requests: Sequence[Instance]) -> list[str]:
        tasks = dict(self._tasks)
        asked = {id(request) for request in requests}
        more = [request for task in tasks.values() for request in task.unfinished() if id(request) not in asked]
        with ExitStack() as stack:
            threads = stack.enter_context(ThreadPoolExecutor(max(_THREADS, models.connections(self._model))))
            nexts = {name: stack.enter_context(task.conversing()) for name, task in tasks.items()}
            stack.callback(threads.shutdown, wait=False, cancel_futures=True)  # if it fails: before the tools close
            return asyncio.run(_Lines(self._model, nexts, threads).lead([*requests, *more]))[: len(requests)]


_waiting: WeakKeyDictionary[Any, FreeBatch] = WeakKeyDictionary()
"""By model, those that no batch has been asked of yet."""


class _Lines:
    """The conversations of a batch while they are led; requests of tasks that have no next prompt have one reply."""

    def __init__(self, model: Any, nexts: dict[str, NextPrompt], threads: ThreadPoolExecutor) -> None:
        self._model = model
        self._nexts = nexts
        self._threads = threads
        self._cache = models.response_cache(model)
        # What this batch puts there answers no request of it: equal requests are asked as often as they are made.
        self._cached = frozenset(() if self._cache is None else self._cache.keys())
        self._counts = {"in flight": 0, "turns": 0, "calls": 0}
        self._shown = 0.0  # when

    async def lead(self, requests: Sequence[Instance]) -> list[str]:
        """The first reply of each, once all are over; the first failure ends all."""
        self._bar = tqdm(total=len(requests), desc="Conversations" if self._nexts else "Requesting API")
        with self._bar:
            async with models.asking(self._model) as self._ask:
                lines = [asyncio.ensure_future(self._converse(request)) for request in requests]
                try:
                    return await asyncio.gather(*lines)
                finally:  # or each of the others fails for itself, on connections that are closed
                    for line in lines:
                        line.cancel()

    async def _converse(self, request: Instance) -> str:
        prompt, settings = request.args
        first = reply = request.resps[0] if request.resps else await self._reply(request, prompt, settings)
        next_prompt = self._nexts.get(str(request.task_name))
        loop = asyncio.get_running_loop()
        while next_prompt is not None:
            prompt, calls = await loop.run_in_executor(self._threads, next_prompt, request, reply)
            self._count("calls", calls)
            if prompt is None:
                break
            reply = await self._reply(request, prompt, settings)
        self._bar.update()
        return first

    async def _reply(self, request: Any, prompt: Any, settings: dict[str, Any]) -> str:
        """The reply to a prompt; none, which ends a conversation, where the server says that it does not fit."""
        kept = models.take_over(self._model, prompt, settings)
        if kept is not None:
            self._count("turns", 1)
            return kept
        if self._cached and not settings.get("do_sample", False):  # sampled ones are not read, as in the harness
            key = models.cache_key((prompt, settings))
            if key in self._cached:
                self._count("turns", 1)
                return str(self._cache[key])
        self._count("in flight", 1)
        try:
            reply = await self._ask(prompt, settings)
        except DoesNotFit as refusal:
            logger.info("%s: %s", request.task_name, refusal)
            request.refusal, reply = str(refusal), ""
        self._count("in flight", -1)
        self._count("turns", 1)
        return reply

    def _count(self, what: str, number: int) -> None:
        self._counts[what] += number
        now = time.monotonic()
        if now - self._shown > _SHOWN_EVERY:
            self._shown = now
            waiting = self._counts["in flight"]
            own = self._counts if self._nexts else {}  # without conversations, the bar counts the replies
            self._bar.set_postfix({**own, "in flight": min(waiting, models.connections(self._model))})
