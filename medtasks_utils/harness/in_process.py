"""Determine why replies of transformers and vLLM models in this process ended, from their tokens.

These models return only texts. They call their cache hook with each prompt and text, in the order of generation,
so each text can be matched with its tokens.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from medtasks_utils.inference.replies import Reply
from medtasks_utils.writing import JsonObject

from .lm_eval_names import LM, Instance
from .models import Asking, is_one_of
from .server_model import without_thoughts


class Ends:
    """A recorder of the finish reasons of a transformers or vLLM model; for other models, it records nothing.

    Args:
        model: the model of a run, of any kind.
    """

    def __init__(self, model: LM) -> None:
        kinds = {"HFLM": replies_of_transformers, "VLLM": replies_of_vllm}
        self._model = model
        self._read = next((read for kind, read in kinds.items() if is_one_of(model, kind)), None)
        token = getattr(model, "think_end_token", None) if self._read else None
        self._token = model.tok_decode([token], skip_special_tokens=False) if isinstance(token, int) else token or ""
        self._generated: deque[Reply] = deque()  # with their reasoning, which lm_eval drops
        self._replies: dict[tuple[str, str], list[Reply]] = defaultdict(list)

    def replies(self, ask: Asking, requests: Sequence[Instance]) -> Sequence[Any]:
        """Return the replies to requests, with finish reasons for a transformers or vLLM model.

        ``ask`` is the method of the model that generates the replies.
        """
        if self._read is None:
            return ask(requests)
        with self._watching():
            texts = ask(requests)
        replies = []
        for request, text in zip(requests, texts, strict=True):
            equal = self._replies[request.args[0], text]
            replies.append(equal.pop(0) if equal else text)
        self._replies.clear()
        return replies

    def of(self, prompt: str, text: Any) -> Any:
        """Return a text that the model has just generated as a reply, with its finish reason and number of tokens.

        Anything else is returned unchanged.
        """
        if not self._generated or not isinstance(text, str):
            return text
        whole = self._generated.popleft()
        answer = without_thoughts(whole, self._token) if self._token else whole
        reply = Reply(text if answer else "", whole.ended, whole.tokens, answer.reasoning)
        self._replies[prompt, text].append(reply)
        return reply

    @contextmanager
    def keeping_marks(self) -> Iterator[None]:
        """Make causal transformers models keep special tokens, some of which mark reasoning; undo this on exit."""
        model = self._model
        if not is_one_of(model, "HFLM") or getattr(model, "backend", "") != "causal":
            yield
            return
        model.tok_decode = partial(model.tok_decode, skip_special_tokens=False)
        try:
            yield
        finally:
            del model.tok_decode

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """Record the replies that the model generates; stop recording, and discard the records left, on exit."""
        generate = self._model._model_generate

        def model_generate(**of_batch: Any) -> Any:
            output = generate(**of_batch)
            self._generated.extend(self._read(self._model, output, of_batch))  # type: ignore[misc]
            return output

        self._model._model_generate = model_generate
        try:
            yield
        finally:
            del self._model._model_generate
            self._generated.clear()  # something may be left after an error


def replies_of_transformers(model: LM, output: Any, settings: JsonObject) -> Iterator[Reply]:
    """Yield each reply in a batch; from its end token on, overwrite its row of ``output`` with end-of-text tokens.

    A reply without an end token may also end at a stop string or before the limit; the number of its tokens is then
    unknown.
    """
    start = settings["context"].shape[1] if model.backend == "causal" else 0
    configured = model.model.generation_config.eos_token_id
    ends = {model.eot_token_id, *(configured if isinstance(configured, list) else [configured])}
    for number, row in enumerate(output.tolist()):
        tokens = row[start:]
        text = model.tok_decode(tokens)
        place = next((place for place, token in enumerate(tokens) if token in ends), None)
        if place is not None:
            output[number, start + place :] = model.eot_token_id  # before which lm_eval cuts the text
            yield Reply(text, "stop", place + 1)
        elif len(tokens) < settings["max_length"] - start or any(
            stop and stop in text for stop in settings.get("stop") or ()
        ):
            yield Reply(text, "stop")
        else:
            yield Reply(text, "length", len(tokens))


def replies_of_vllm(model: LM, output: Any, settings: JsonObject) -> Iterator[Reply]:
    """Yield each reply with vLLM's finish reason; reasons other than ``stop`` and ``length`` become ``unknown``."""
    for request in output:
        (reply,) = request.outputs
        known = reply.finish_reason in ("stop", "length")
        yield Reply(reply.text, reply.finish_reason if known else "unknown", len(reply.token_ids))
