"""Read what this package needs to know of a model: its kind, what it sends, and how many processes share it."""

import atexit
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from .lm_eval_names import LM, TemplateAPI, get_model

model_of_the_run: ContextVar[LM | None] = ContextVar("model_of_the_run", default=None)
"""The model of the current run, without the wrapper of ``--use_cache``; None outside a run."""


# ---- kinds of models


def can_be_asked_singly(model: Any) -> bool:
    """Return whether a model is an API model that sends one prompt a request by lm_eval's own methods."""
    kind = type(model)
    return (
        isinstance(model, TemplateAPI)
        and model._batch_size == 1
        and kind.generate_until is TemplateAPI.generate_until
        and kind.amodel_call is TemplateAPI.amodel_call
    )


# ---- processes


def number_processes(model: Any) -> None:
    """Give each process of ``accelerate launch`` its number among the processes of all machines.

    ``HFLM`` takes the number on its own machine, and on a machine with fewer than two GPUs behaves as if it were alone.
    """
    accelerator = getattr(model, "accelerator", None)
    if accelerator is not None and accelerator.num_processes > 1:
        model._rank, model._world_size = accelerator.process_index, accelerator.num_processes
        atexit.register(_leave_the_group)


def _leave_the_group() -> None:
    """Leave the process group when this process ends.

    Torch may abort a process that ends within the group, and the launcher then kills the others, of which the first is
    still scoring and saving.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def most_in_any_process(model: Any, count: int) -> int:
    """Return the largest count of all processes, each of which must call this.

    Some models exchange data while they generate, so that every process must send equally many requests.
    """
    if model.world_size == 1:
        return count
    import torch

    return int(model.all_gather(torch.tensor(count, device=model.device)).max().item())


# ---- tools in chat templates


_rendering = threading.RLock()


@contextmanager
def tools_in_template(model: Any, schemas: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Within this context, make a model's tokenizer render chats with tools, which ``HFLM`` does not pass on to it.

    Args:
        model: a model in this process, with a tokenizer.
        schemas: the tools, as native calls declare them.
    """
    tokenizer = model.tokenizer
    with _rendering:
        before = tokenizer.apply_chat_template
        tokenizer.apply_chat_template = partial(before, tools=list(schemas))
        try:
            yield
        finally:
            tokenizer.apply_chat_template = before


# ---- what API models send


def request_body(model: Any, prompt: Any, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the body that an API model would send for a prompt; None for any other model.

    Only ``TemplateAPI._create_payload`` knows whether a backend takes a seed, and which seed and temperature it sends.
    """
    if not isinstance(model, TemplateAPI):
        return None
    if model.tokenized_requests:  # cut on the left, as TemplateAPI.generate_until does
        (tokens,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
        prompt = tokens[-(model.max_length - settings.get("max_gen_toks", model._max_gen_toks)) :]
    message = model.create_message([prompt])
    body: dict[str, Any] = model._create_payload(message, generate=True, gen_kwargs=dict(settings), seed=model._seed)
    if not body.get("stop", True):  # some servers answer 400 or 500 to an empty list
        del body["stop"]
    return body


def model_to_probe(kind: str, arguments: Mapping[str, Any]) -> Any:
    """Return a model with which to probe the server, loaded without tokenizer; None if the server cannot be probed.

    Args:
        kind: the name that ``--model`` takes.
        arguments: the model's arguments.
    """
    model_class = get_model(kind)
    if not issubclass(model_class, TemplateAPI) or model_class.amodel_call is not TemplateAPI.amodel_call:
        return None  # such as litellm, which sends requests by itself
    without_tokenizer = {"tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    return model_class.create_from_arg_obj({**arguments, **without_tokenizer}, {"batch_size": 1})


def probe_of(model: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``requests.post`` that ask an API model for one token, as the run will ask it."""
    is_chat = "Chat" in type(model).__name__
    prompt = model.apply_chat_template([{"role": "user", "content": "Hi"}]) if is_chat else "Hi"
    return {
        "url": model.base_url,
        "json": request_body(model, prompt, {**settings, "max_gen_toks": 1}),
        "headers": model.header,
        "verify": model.ca_cert_path or model.verify_certificate,
    }
