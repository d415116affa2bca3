"""Determine how replies of transformers and vLLM models in this process ended, from the tokens that they generate.

These models return only texts. They call their cache hook with each prompt and text, in the order of generation. To
each text, the hook attaches what the generated tokens show.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .models import is_one_of
from .replies import Reply


def learn_ends(model: Any) -> None:
    """Replace ``generate_until`` of a transformers or vLLM model, so that it returns :class:`.replies.Reply` objects.

    Other models remain as they are.
    """
    for kind, read in (("HFLM", _facts_of_transformers), ("VLLM", _facts_of_vllm)):
        if is_one_of(model, kind):
            model.generate_until = partial(_replies_with_ends, model, read, model.generate_until)


def _replies_with_ends(
    model: Any, read: Callable[..., Any], ask: Callable[..., Any], requests: Sequence[Any]
) -> list[Reply]:
    """Return the replies to requests, each with what the tokens that the model generated say about its end.

    Args:
        model: the model.
        read: a function of the model, its output for a batch and its settings that yields the attributes of replies.
        ask: the model's own method.
        requests: the requests.
    """
    generated: deque[dict[str, Any]] = deque()
    known: dict[tuple[str, str], list[Reply]] = defaultdict(list)
    generate, hook = model._model_generate, model.cache_hook
    add_to_cache = hook.add_partial

    def model_generate(**of_batch: Any) -> Any:
        output = generate(**of_batch)
        generated.extend(read(model, output, of_batch))
        return output

    def add_partial(method: str, request: Sequence[Any], reply: Any) -> None:
        if generated:
            reply = Reply(reply, **generated.popleft())
            known[request[0], reply].append(reply)
        add_to_cache(method, request, reply)

    model._model_generate = model_generate
    hook.add_partial = add_partial
    try:
        texts = ask(requests)
    finally:
        del model._model_generate
        hook.add_partial = add_to_cache
    pairs = ((known.get((request.args[0], text)), text) for request, text in zip(requests, texts, strict=True))
    return [replies.pop(0) if replies else text for replies, text in pairs]


def _facts_of_transformers(model: Any, output: Any, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each reply in a batch. Tokens after an end-of-text token are padding.

    A stop string also ends a reply; the number of tokens before it is not known.
    """
    start = settings["context"].shape[1] if model.backend == "causal" else 0
    configured = model.model.generation_config.eos_token_id
    ends = {model.eot_token_id, *(configured if isinstance(configured, list) else [configured])}
    for row in output.tolist():
        tokens = row[start:]
        place = next((place for place, token in enumerate(tokens) if token in ends), None)
        if place is not None:
            yield {"ended": "stop", "tokens": place + 1}
        elif len(tokens) < settings["max_length"] - start or any(
            stop and stop in model.tok_decode(tokens) for stop in settings.get("stop") or ()
        ):
            yield {"ended": "stop"}
        else:
            yield {"ended": "length", "tokens": len(tokens)}


def _facts_of_vllm(model: Any, output: Any, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each reply as vLLM reports them."""
    for request in output:
        (reply,) = request.outputs
        known = reply.finish_reason in ("stop", "length")
        yield {"ended": reply.finish_reason if known else "unknown", "tokens": len(reply.token_ids)}
