"""Provide what the other modules need to know about a model: its kind, its requests, its context, its processes."""

import asyncio
import atexit
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

import requests

from medtasks_utils.errors import MedtasksError, UsageError, logger, reason_of

from .lm_eval_names import LM, TemplateAPI, get_model
from .model_server import CONNECTION_TIMEOUT, ServerUnavailable, context_of, pause_before, read
from .replies import Completion, Reply

model_of_the_run: ContextVar[LM | None] = ContextVar("model_of_the_run", default=None)
"""The model of the current run, without the wrapper of ``--use_cache``; None outside a run."""
HF = ("hf", "hf-auto", "huggingface")
"""The values of ``--model`` for transformers models."""


# ---- kinds of models


def can_be_asked_singly(model: Any) -> bool:
    """Return whether a model is an API model that sends requests and parses replies by lm_eval's own methods."""
    kind = type(model)
    return (
        isinstance(model, TemplateAPI)
        and kind.parse_generations.__module__.startswith("lm_eval.")
        and kind.generate_until is TemplateAPI.generate_until
        and kind.amodel_call is TemplateAPI.amodel_call
    )


def is_one_of(model: Any, *classes: str) -> bool:
    """Return whether a model is an object of one of lm_eval's classes, which need not be importable here."""
    return any(kind.__name__ in classes for kind in type(model).__mro__)


def runs_in_process(model: Any) -> bool:
    """Return whether a model generates in this process, with a known tokenizer and context."""
    return is_one_of(model, "HFLM", "VLLM", "SGLangLM")


# ---- processes


def number_processes(model: Any) -> None:
    """Set a model's rank to the number of its process among all machines, under ``accelerate launch``.

    ``HFLM`` uses the number on its own machine and, on a machine with fewer than two GPUs, ignores other machines.
    """
    accelerator = getattr(model, "accelerator", None)
    if accelerator is not None and accelerator.num_processes > 1:
        model._rank, model._world_size = accelerator.process_index, accelerator.num_processes
        atexit.register(_leave_the_group)


def _leave_the_group() -> None:
    """Leave the process group when this process ends.

    Torch may abort a process that ends inside the group. The launcher then kills the others, although the first
    process is still scoring and saving.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def most_in_any_process(model: Any, count: int) -> int:
    """Return the largest ``count`` of all processes; every process must call this.

    Some models exchange data while they generate, so every process must send the same number of requests.
    """
    if model.world_size == 1:
        return count
    import torch

    return int(model.all_gather(torch.tensor(count, device=model.device)).max().item())


def ask_in_step(
    model: Any, ask: Callable[[Sequence[Any]], Sequence[Any]], requests: Sequence[Any], others: Sequence[Any]
) -> list[Any]:
    """Return the replies to requests, with equally many requests in every process; every process must call this.

    Args:
        model: the model.
        ask: the function that returns the replies to requests.
        requests: the requests of this process.
        others: requests of this process. To reach the number of other processes, the last of ``requests`` is repeated
            or, if there are none, the last of these; replies to repetitions are dropped.
    """
    size = most_in_any_process(model, len(requests))
    padding = [(requests or others)[-1]] * (size - len(requests))
    replies = ask([*requests, *padding]) if size else ()
    return list(replies)[: len(requests)]


# ---- tools in chat templates


_rendering = threading.Lock()  # conversations continue in threads


@contextmanager
def tools_in_template(model: Any, schemas: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Return a context in which a model's tokenizer renders chats with tools, which ``HFLM`` does not pass to it.

    Args:
        model: a model in this process, with a tokenizer.
        schemas: the JSON schemas of the tools.
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

    Only ``TemplateAPI._create_payload`` determines whether a backend takes a seed, and which seed and temperature are
    sent.
    """
    if not isinstance(model, TemplateAPI):
        return None
    if model.tokenized_requests:
        (prompt,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
    message = model.create_message([prompt])
    body: dict[str, Any] = model._create_payload(message, generate=True, gen_kwargs=dict(settings), seed=model._seed)
    if not body.get("stop", True):  # some servers answer 400 or 500 to an empty list
        del body["stop"]
    return body


def seed_of(model: Any, settings: Mapping[str, Any]) -> int | None:
    """Return the seed that a model uses for a request; None if it takes no seed, or draws one at random."""
    if isinstance(model, TemplateAPI):
        usual = model._seed
    elif is_one_of(model, "VLLM"):  # its sampling parameters have a seed
        usual = model.model_args.get("seed")
    else:
        return None
    seed = settings.get("seed", usual)
    return seed if isinstance(seed, int) else None


def without_thoughts(model: Any, reply: Reply) -> Reply:
    """Move the text up to the last ``think_end_token``, an argument of some models, from a reply to its reasoning."""
    token = getattr(model, "think_end_token", None)
    if not token or token not in reply:
        return reply
    thoughts, _, text = reply.rpartition(token)
    return Reply(text.lstrip(), reply.ended, reply.tokens, reply.reasoning or thoughts)


# ---- prompts that fit


_UNSET = 2047  # TemplateAPI.max_length, if no argument sets it
NO_LIMIT = 1 << 40
"""The context length, in tokens, of an API model if only its server knows it."""


def is_api(kind: type) -> bool:
    """Return whether a class is one of lm_eval's own models behind an HTTP API."""
    return issubclass(kind, TemplateAPI) and kind.__module__.startswith("lm_eval.")


def context_in_process(kind: str, arguments: Mapping[str, Any]) -> int | None:
    """Return the context in tokens of a model that will run in this process, before its weights are loaded.

    It is taken from the model's arguments, or else from its configuration; None if neither states it.
    """
    if kind not in (*HF, "vllm"):
        return None
    given = arguments.get("max_length") or arguments.get("max_model_len")
    if given:
        return int(given)
    with suppress(OSError, ValueError, ImportError, AttributeError):  # loading the model explains these better
        from transformers import AutoConfig

        name, revision = arguments.get("pretrained"), arguments.get("revision")
        config = AutoConfig.from_pretrained(name, revision=revision, trust_remote_code=False)
        return getattr(config.get_text_config(), "max_position_embeddings", None)
    return None


def check_tokenizer(kind: str, arguments: Mapping[str, Any], needs_template: bool) -> None:
    """Check that a model's tokenizer can be loaded and, if necessary, has a chat template.

    Args:
        kind: the value of ``--model``.
        arguments: the model's arguments.
        needs_template: True if the run applies a chat template.

    Raises:
        MedtasksError: if the tokenizer cannot be loaded.
        UsageError: if it has no chat template.
    """
    model_class = get_model(kind)
    argument = next(filter(arguments.get, ("tokenizer", "pretrained")), "model")
    name = arguments.get(argument)
    try:
        if is_api(model_class) and not kind.endswith("chat-completions"):
            tokenizer = model_class.create_from_arg_obj(arguments).tokenizer
        elif kind in HF and "gguf_file" not in arguments:
            from transformers import AutoTokenizer

            revision = arguments.get("revision")
            tokenizer = AutoTokenizer.from_pretrained(name, revision=revision, trust_remote_code=False)
        else:
            return
    except OSError as error:
        raise MedtasksError(
            f"--model_args: {argument}={name} cannot be loaded ({reason_of(error)}). Name a folder or a model on the "
            "hub (without network access, one in the hub's cache), and its tokenizer as tokenizer=NAME if it is "
            "elsewhere; a server needs no tokenizer with tokenizer_backend=none"
        ) from None
    except (ValueError, ImportError):  # loading the model explains these better
        return
    if needs_template and getattr(tokenizer, "chat_template", "") is None:
        raise UsageError(
            f"--apply_chat_template: the tokenizer {name} has no chat template: omit the flag, as for base models, or "
            "name the tokenizer of a chat model as tokenizer=NAME"
        )


def learn_context(model: Any) -> None:
    """Set an API model's context length as its server reports it, if it has a tokenizer; lm_eval assumes 2,047."""
    if isinstance(model, TemplateAPI) and model.tokenizer is not None and model.max_length == _UNSET:
        model.max_length = context_of(model) or NO_LIMIT


def refusal_of(model: Any, prompt: Any, reply: Mapping[str, Any] | str) -> str | None:
    """Return the reason not to send a prompt, if prompt and reply exceed the model's context; else None.

    Return None too if only the server can count the tokens.

    Args:
        model: the model.
        prompt: the prompt.
        reply: the generation settings, or the continuation whose log-likelihood is requested.
    """
    is_api = isinstance(model, TemplateAPI)
    if not isinstance(prompt, str) or not prompt or not (is_api or runs_in_process(model)):
        return None
    if isinstance(reply, str):
        tokens = sum(map(len, model._encode_pair(prompt, reply)))
        # Transformers do not read the last token; other engines generate one more.
        for_reply = 1 if is_api or not hasattr(model, "_model_call") else -1
        what = f"a prompt and its continuation, {tokens:,} tokens together, are"
    elif is_api and not model.tokenized_requests:
        return None
    else:
        for_reply = reply.get("max_gen_toks", model._max_gen_toks if is_api else model.max_gen_toks)
        tokens = len(model.tok_encode([prompt])[0] if is_api else model.tok_encode(prompt))
        what = f"a prompt of {tokens:,} tokens and max_gen_toks={for_reply:,} are"
    if tokens + for_reply <= model.max_length:
        return None
    return f"{what} more than the model's context of {model.max_length:,} tokens"


def asking_what_fits(model: Any, method: str, tasks: Collection[str]) -> Callable[..., list[Any]]:
    """Return a replacement for a model's method that sends no prompt of these tasks that exceeds the context."""
    ask = getattr(model, method)

    def answer(requests: Sequence[Any]) -> list[Any]:
        refusals = [refusal_of(model, *each.args[:2]) if each.task_name in tasks else None for each in requests]
        fitting = [request for request, refusal in zip(requests, refusals, strict=True) if refusal is None]
        replies = iter(ask_in_step(model, ask, fitting, requests))
        return [Reply(refusal=refusal) if refusal else next(replies) for refusal in refusals]

    return answer


# ---- trying a server


_PROBE_TIMEOUT = 30  # seconds; a slower server is assumed to be busy
_TOO_FEW_TOKENS = re.compile(r"max_(completion_|output_)?tokens|max_new_tokens", re.I)


@contextmanager
def explaining_failures(model: Any) -> Iterator[None]:
    """Return a context that turns an API model's connection errors into :class:`.model_server.ServerUnavailable`."""
    if not isinstance(model, TemplateAPI):
        yield
        return
    from aiohttp import ClientError

    try:
        yield
    except (ClientError, requests.RequestException, asyncio.TimeoutError) as error:
        message = f": {reason_of(error)}" if str(error) else ""
        raise ServerUnavailable(
            f"{model.base_url} does not respond ({type(error).__name__}{message}): see the server's log; with "
            f"--model_args, you can increase timeout (now {model.timeout} s) and max_retries (now {model.max_retries})"
        ) from None


def model_to_probe(kind: str, arguments: Mapping[str, Any]) -> Any:
    """Return a model, without a tokenizer, with which to probe the server; None if the server cannot be probed.

    Args:
        kind: the value of ``--model``.
        arguments: the model's arguments.

    Raises:
        MedtasksError: if the API key is missing.
    """
    model_class = get_model(kind)
    if not issubclass(model_class, TemplateAPI) or model_class.amodel_call is not TemplateAPI.amodel_call:
        return None  # for example litellm, which sends requests itself
    without_tokenizer = {"tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    model = model_class.create_from_arg_obj({**arguments, **without_tokenizer}, {"batch_size": 1})
    try:
        model.header  # noqa: B018 - reads the key, which lm_eval keeps from then on
    except ValueError as error:
        raise MedtasksError(f"--model {kind}: {reason_of(error)}") from None
    return model


def probe(model: Any, settings: Mapping[str, Any], tokens: int = 1, question: str = "Hi") -> Completion | None:
    """Send a short request in the form that the run will use.

    Args:
        model: an API model.
        settings: the generation settings.
        tokens: the maximum number of tokens in the reply.
        question: the user's message.

    Returns:
        The completion, which has no reply if so few tokens are refused, as for a reasoning model. None if the server is
        slow or busy; the run may then start.

    Raises:
        MedtasksError: if the server cannot answer any request of this run.
    """
    url = model.base_url
    is_chat = "Chat" in type(model).__name__
    prompt = model.apply_chat_template([{"role": "user", "content": question}]) if is_chat else question
    body = request_body(model, prompt, {**settings, "max_gen_toks": tokens})
    verify = model.ca_cert_path or model.verify_certificate
    timeouts = (CONNECTION_TIMEOUT, _PROBE_TIMEOUT)
    problem = ServerUnavailable("")
    for attempt in range(1, model.max_retries + 1):
        if attempt > 1:
            time.sleep(pause_before(attempt, problem))
        try:
            reply = requests.post(url, json=body, headers=model.header, verify=verify, timeout=timeouts)
            if reply.status_code == 400 and _TOO_FEW_TOKENS.search(reply.text):
                return Completion([], {})
            retry_after = reply.headers.get("Retry-After")
            return read(reply.status_code, reply.text, url, model.model, 1, retry_after)
        except requests.ReadTimeout:
            logger.warning("%s did not respond within %d s; the run starts anyway", url, _PROBE_TIMEOUT)
            return None
        except requests.RequestException as error:
            cause = reason_of(error).rpartition(": ")[2].strip("'\")")
            problem = ServerUnavailable(f"no server responds at {url} ({cause}): start the server, or correct base_url")
        except ServerUnavailable as error:
            problem = error
    if problem.is_busy:
        return None
    raise problem from None
