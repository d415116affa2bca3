"""What is read of models behind a task: which kind they are, what they send, and how many processes share them."""

import atexit
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from .lm_eval_names import LM, TemplateAPI, get_model

model_of_the_run: ContextVar[LM | None] = ContextVar("model_of_the_run", default=None)
"""The model itself, without the wrapper of ``--use_cache``; None where a task is built without any."""


# ---- kinds of models


def can_be_asked_singly(model: Any) -> bool:
    """Whether it is an API model with one prompt a request and no way of its own to ask."""
    kind = type(model)
    return (
        isinstance(model, TemplateAPI)
        and model._batch_size == 1
        and kind.generate_until is TemplateAPI.generate_until
        and kind.amodel_call is TemplateAPI.amodel_call
    )


# ---- processes


def number_processes(model: Any) -> None:
    """Give each process of ``accelerate launch`` its number among those of all machines.

    ``HFLM`` takes its number on its own machine, and on a machine with fewer than two GPUs thinks that it is alone.
    """
    accelerator = getattr(model, "accelerator", None)
    if accelerator is not None and accelerator.num_processes > 1:
        model._rank, model._world_size = accelerator.process_index, accelerator.num_processes
        atexit.register(_leave_the_group)


def _leave_the_group() -> None:
    """Before this process ends: torch may abort one that is still in the group, and the launcher then kills the others.

    The first process is still scoring and saving when the others are done.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def most_in_any_process(model: Any, count: int) -> int:
    """The largest of all processes' counts; every process has to call it.

    Some models exchange data while they generate, so that every process has to ask equally often.
    """
    if model.world_size == 1:
        return count
    import torch

    return int(model.all_gather(torch.tensor(count, device=model.device)).max().item())


# ---- tools in chat templates


_rendering = threading.RLock()


@contextmanager
def tools_in_template(model: Any, schemas: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Within this, the model's tokenizer renders chats with tools, which ``apply_chat_template`` of ``HFLM`` does not
    pass on.
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
    """What an API model would send for a prompt; None for any other model.

    ``TemplateAPI._create_payload`` alone knows whether a backend takes a ``seed``, which it is, and the temperature.
    """
    if not isinstance(model, TemplateAPI):
        return None
    if model.tokenized_requests:  # cut on the left, as TemplateAPI.generate_until does
        (tokens,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
        prompt = tokens[-(model.max_length - settings.get("max_gen_toks", model._max_gen_toks)) :]
    message, own = model.create_message([prompt]), dict(settings)
    body: dict[str, Any] = model._create_payload(message, generate=True, gen_kwargs=own, seed=model._seed)
    if not body.get("stop", True):  # some servers answer 400 or 500 to an empty list
        del body["stop"]
    return body


def model_to_probe(kind: str, arguments: Mapping[str, Any]) -> Any:
    """A model to probe its server with, which loads no tokenizer; None for one whose server is not to be probed."""
    found = get_model(kind)
    if not issubclass(found, TemplateAPI) or found.amodel_call is not TemplateAPI.amodel_call:
        return None  # litellm asks in a way of its own
    given = {**arguments, "tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    return found.create_from_arg_obj(given, {"batch_size": 1})


def probe_of(model: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What ``requests.post`` is given to ask an API model's server for one token, as the run will ask it."""
    is_chat = "Chat" in type(model).__name__
    prompt = model.apply_chat_template([{"role": "user", "content": "Hi"}]) if is_chat else "Hi"
    return {
        "url": model.base_url,
        "json": request_body(model, prompt, {**settings, "max_gen_toks": 1}),
        "headers": model.header,
        "verify": model.ca_cert_path or model.verify_certificate,
    }
