"""Determine how replies of transformers and vLLM models in this process ended, from the tokens that they generate.

These models return only texts. They call their cache hook with each prompt and text, in the order of generation. To
each text, the hook attaches what the generated tokens show.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from .replies import Reply


@contextmanager
def knowing_ends(model: Any) -> Iterator[None]:
    """Return a context in which a transformers or vLLM model returns :class:`.replies.Reply` objects."""
    kinds = {kind.__name__ for kind in type(model).__mro__}
    read = _facts_of_transformers if "HFLM" in kinds else _facts_of_vllm if "VLLM" in kinds else None
    if read is None:
        yield
        return
    generated: deque[dict[str, Any]] = deque()
    known: dict[tuple[str, str], list[Reply]] = defaultdict(list)
    generate, ask, set_hook = model._model_generate, model.generate_until, model.set_cache_hook
    hook = model.cache_hook

    def model_generate(*arguments: Any, **settings: Any) -> Any:
        output = generate(*arguments, **settings)
        generated.extend(read(model, output, settings))
        return output

    def set_cache_hook(outer: Any) -> None:
        def add_partial(method: str, request: Sequence[Any], reply: Any) -> None:
            if method == "generate_until" and generated:
                reply = Reply(reply, **generated.popleft())
                known[request[0], reply].append(reply)
            outer.add_partial(method, request, reply)

        set_hook(SimpleNamespace(add_partial=add_partial, dbdict=outer.dbdict))

    def generate_until(requests: Sequence[Any], **settings: Any) -> list[Reply]:
        generated.clear()
        known.clear()
        texts = ask(requests, **settings)
        pairs = ((known.get((request.args[0], text)), text) for request, text in zip(requests, texts, strict=True))
        return [replies.pop(0) if replies else text for replies, text in pairs]

    replaced = {"_model_generate": model_generate, "generate_until": generate_until, "set_cache_hook": set_cache_hook}
    vars(model).update(replaced)
    set_cache_hook(hook)
    try:
        yield
    finally:
        for name in replaced:
            vars(model).pop(name, None)
        set_hook(hook)


def _facts_of_transformers(model: Any, output: Any, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each reply in a batch. Tokens after an end-of-text token are padding.

    A stop string also ends a reply; the number of tokens before it is not known.
    """
    if "context" not in settings:  # log-likelihoods
        return
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
    for request in output if settings.get("generate") else ():
        (reply,) = request.outputs
        known = reply.finish_reason in ("stop", "length")
        yield {"ended": reply.finish_reason if known else "unknown", "tokens": len(reply.token_ids)}
