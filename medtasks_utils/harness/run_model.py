"""Wrap the model of a run, so that all requests pass through the stages of :mod:`.stages`."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from medtasks_utils.inference.client import explaining_failures
from medtasks_utils.inference.reply_store import Arguments, ReplyStore
from medtasks_utils.writing import Settings

from .api_batch import ApiBatch
from .in_process import Ends
from .lm_eval_names import LM, Instance, TemplateAPI
from .models import ask_in_step, is_one_of, number_processes, seed_of
from .server_model import attempts_of, can_be_asked_singly, endpoint_of, learn_context
from .stages import Stages

_SWITCH_INTERVAL = 0.0005  # seconds; by default, a thread that reads holds up requests for ten times as long
_FIRST_PIECE = 64  # number of requests in the first batch
_PIECE_SECONDS = 120.0  # about the time that a crash loses, for a model that returns the replies to a batch together


class RunModel(Stages):
    """The model of a run, with the stages of its requests; attributes that it lacks are those of the original model.

    Attributes:
        thread: an executor that reads replies while the model answers other requests.
        batch: the requests to a server, if the model sends them as lm_eval's API models do; else None.

    Args:
        model: the original model.
        store: the store of replies; None to store nothing.
        ours: our tasks' titles by name.
        arguments: the arguments of the model, if they are known.
    """

    def __init__(
        self, model: LM, store: ReplyStore | None, ours: Mapping[str, str], arguments: Settings | None = None
    ) -> None:
        super().__init__(model, store, ours)
        self.thread = ThreadPoolExecutor(1)
        self._ends = Ends(model)
        self.batch = None
        if can_be_asked_singly(model):
            self.batch = ApiBatch(model, self, attempts_of(model, arguments))
        # vLLM calls its cache hook with settings that no request had; other models call it at the end or never.
        self._calls_hook = is_one_of(model, "TemplateAPI", "HFLM")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """Set the model's context length and rank, and receive its new replies; restore its cache hook on exit."""
        model, store = self.model, self.store
        number_processes(model)
        learn_context(model)
        has_several_processes = model.world_size > 1
        if store:
            store.begin(seed_of(model, {}), has_several_processes)
        model.set_cache_hook(self)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        try:
            with self._ends.keeping_marks():
                yield
        finally:
            model.set_cache_hook(self.cache_hook)
            self.thread.shutdown(wait=False, cancel_futures=True)
            sys.setswitchinterval(interval)
            if store and has_several_processes:  # the first process ends the run for all
                store.close()

    # ---- what lm_eval calls

    def generate_until(self, requests: Sequence[Instance]) -> list[Any]:
        """Return the replies to requests, from the store where possible."""
        has_pictures = any(len(request.args) != 2 for request in requests)
        if self.batch is None or has_pictures:
            return self._answer("generate_until", requests)
        return self.batch.replies_to(requests)

    def loglikelihood(self, requests: Sequence[Instance]) -> list[Any]:
        """Return the log-likelihood of each continuation, and whether greedy decoding produces the continuation."""
        # Prompts of other tasks may be empty, or longer than the context.
        has_others = not self.ours.keys() >= {request.task_name for request in requests}
        if self.batch is None or has_others or type(self.model).loglikelihood is not TemplateAPI.loglikelihood:
            return self._answer("loglikelihood", requests)
        return self.batch.replies_to(requests)

    def add_partial(self, method: str, arguments: Arguments, reply: Any) -> None:
        """Pass a new reply to the cache of ``--use_cache``, and store it; the model calls this as its cache hook.

        Replies of models such as vLLM, which call the hook with other settings than the request's, are stored later.
        """
        reply = self._ends.of(arguments[0], reply)
        self.cache_hook.add_partial(method, arguments, reply)
        if self._calls_hook and method in ("generate_until", "loglikelihood"):
            self.keep(method, arguments, [reply])

    # ---- requests that are sent together

    def _answer(self, method: str, requests: Sequence[Instance]) -> list[Any]:
        """Return stored replies to requests, or those of a model that takes many requests at once.

        The model receives the requests in batches of about two minutes, and their replies are stored after each batch.
        Without a store, or if the model calls its cache hook itself, it receives all requests in one batch.
        """
        known = [
            self.without_model(method, request.task_name, request.args, getattr(request, "first", None))
            for request in requests
        ]
        self.explain()
        replies = [of_request and of_request[0] for of_request in known]
        for request, reply in zip(requests, replies, strict=True):
            if reply is not None:
                self.note_reply(request, reply)
        to_send = [place for place, of_request in enumerate(known) if of_request is None]
        for piece in pieces_of(to_send) if self.store and not self._calls_hook else [to_send]:
            new_replies = self._ask(method, [requests[place] for place in piece], requests)
            for place, reply in zip(piece, new_replies, strict=True):
                replies[place] = reply
                if not self._calls_hook:
                    self.keep(method, requests[place].args, [reply])
                self.note_reply(requests[place], reply)
        return replies

    def _ask(self, method: str, requests: Sequence[Instance], others: Sequence[Instance]) -> list[Any]:
        """Return the replies of the model's own method, called with equally many requests in every process.

        If ``requests`` is empty, but those of a different process are not, the last of ``others`` is sent as padding.
        """
        model, ask = self.model, getattr(self.model, method)
        is_server = isinstance(model, TemplateAPI)
        with explaining_failures(model.base_url, endpoint_of(model, None).if_silent) if is_server else nullcontext():
            return ask_in_step(model, lambda padded: self._ends.replies(ask, padded), requests, others)


current_run: ContextVar[RunModel | None] = ContextVar("current_run", default=None)
"""The model of the current run; None outside a run."""


def pieces_of(places: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield indices in batches that take about :data:`_PIECE_SECONDS`, estimated from the previous batch."""
    size, begin = _FIRST_PIECE, 0
    while begin < len(places):
        start = time.monotonic()
        yield places[begin : begin + size]
        begin += size
        size_in_time = size * _PIECE_SECONDS / max(time.monotonic() - start, 1e-3)
        size = int(min(max(size_in_time, 1), 8 * size))
