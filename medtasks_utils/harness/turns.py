"""The harness's model as further turns ask it: through the cache of ``--use_cache``, with all processes in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from medtasks_utils.harness.patches.models import cache_key, response_cache


class Model:
    """A model that is asked again after the harness has asked it.

    The evaluator gives all processes of ``accelerate launch`` equally many requests, since some models exchange data
    while they generate; what the cache answers never gets that far. Both are done here for every further batch: a
    process without a request of its own asks ``spare`` in step with the others. Chats are rendered in ``rendering``.
    """

    def __init__(
        self, model: LM, spare: Instance, rendering: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self._model = model
        self._spare = spare
        self._rendering = rendering
        self._cache = response_cache(model)

    @property
    def is_first_process(self) -> bool:
        """Whether this process logs for all."""
        return bool(self._model.rank == 0)

    def prompt(self, chat: list[dict[str, Any]]) -> Any:
        """A chat as the model is asked it."""
        with self._rendering():
            return self._model.apply_chat_template(chat, add_generation_prompt=True)

    def most_in_any_process(self, count: int) -> int:
        """The largest of all processes' counts; every process has to call it."""
        if self._model.world_size == 1:
            return count
        import torch

        counts = self._model.all_gather(torch.tensor(count, device=self._model.device))
        return int(counts.max().item())

    def generate(self, requests: Sequence[Instance]) -> list[str | None]:
        """The responses to a batch, the longest prompts asked first; every process has to call it, if with none."""
        keys = [self._key(request) for request in requests]
        responses: list[str | None] = [None if key is None else self._cache.get(key) for key in keys]
        asked = [index for index, response in enumerate(responses) if response is None]
        asked.sort(key=lambda index: -len(str(requests[index].args[0])))
        batch = [requests[index] for index in asked]
        padding = [batch[-1] if batch else self._spare] * (self.most_in_any_process(len(batch)) - len(batch))
        if batch or padding:
            found = self._model.generate_until([*batch, *padding])
            for index, response in zip(asked, found[: len(batch)], strict=True):
                responses[index] = response
                if keys[index] is not None and response is not None:
                    self._cache[keys[index]] = response
        return responses

    def _key(self, request: Instance) -> str | None:
        """What a response is kept under; None for sampled ones, which are not read by the harness: all would be one."""
        sampled = self._cache is None or request.args[1].get("do_sample", False)
        return None if sampled else cache_key(request.args)
