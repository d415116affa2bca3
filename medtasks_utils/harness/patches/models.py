"""What reaches the model behind a task: which it is, its cache, and single requests to API models."""

from __future__ import annotations

import asyncio
import atexit
import logging
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

from lm_eval import evaluator
from lm_eval.api import model as api_model
from lm_eval.api.model import LM, CachingLM

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.server import words_of
from medtasks_utils.tools.native import as_one_text

_model_of_the_run: ContextVar[LM | None] = ContextVar("model", default=None)
Ask = Callable[[Any, dict[str, Any]], Awaitable[str]]
_NAMES = ("pretrained", "model", "peft", "delta", "revision", "dtype", "quantization", "_seed")
"""What models and their arguments call what makes them the model that they are."""


def remember_the_model() -> None:
    """Let tasks know the model that they are run with (:func:`model_of`).

    ``build_all_requests`` is given the model's bound ``apply_chat_template`` with ``--apply_chat_template``, and else
    nothing of the model. Without this, repeats have no seeds then. The model's processes are numbered, too
    (:func:`number_processes`).
    """
    original = evaluator.evaluate

    @wraps(original)
    def evaluate(*arguments: Any, **settings: Any) -> Any:
        model = settings["lm"] if "lm" in settings else arguments[0]
        inner = model.lm if isinstance(model, CachingLM) else model
        number_processes(inner)
        token = _model_of_the_run.set(model)
        try:
            with replies_have_text(inner), cache_of(inner):
                return original(*arguments, **settings)
        finally:
            _model_of_the_run.reset(token)

    evaluator.evaluate = evaluate


@contextmanager
def replies_have_text(model: Any) -> Iterator[None]:
    """A reply of an API model that holds no answer is a failed request, which the harness then makes again.

    ``parse_generations`` makes an empty list of no choices, and of whatever else it cannot read an empty answer that is
    scored, and kept in the cache. Content in parts, as some servers send it, is one text. It drops ``tool_calls``,
    which are made part of the text here.
    """
    if not isinstance(model, _api_type()):
        yield
        return
    from lm_eval.models import openai_completions as openai

    parse = model.parse_generations
    is_openai, is_chat = (isinstance(model, each) for each in (openai.LocalCompletionsAPI, openai.LocalChatCompletion))

    def parse_generations(outputs: Any, **settings: Any) -> list[str]:
        for output in (outputs if isinstance(outputs, list) else [outputs]) if is_openai else ():
            choices = output.get("choices") if isinstance(output, dict) else None
            if not isinstance(choices, list) or not all(_has_text(*each, is_chat) for each in enumerate(choices)):
                raise _no_answer(output, model.base_url)
        texts: list[str] = parse(outputs=outputs, **settings)
        if not texts:
            raise _no_answer(outputs, model.base_url)
        return texts

    with patch.object(model, "parse_generations", parse_generations):
        yield


def _has_text(place: int, choice: Any, is_chat: bool) -> bool:
    """Whether a choice has a text, or none on purpose, and not for want of any; parts of a text are put together."""
    message = choice.get("message") if is_chat and isinstance(choice, dict) else choice
    if not isinstance(message, dict):
        return False
    choice.setdefault("index", place)
    name = "content" if is_chat else "text"
    text = message.get(name)
    if isinstance(text, list) and all(isinstance(part, dict) for part in text):
        message[name] = text = "".join(str(part.get("text") or "") for part in text)
    calls = message.get("tool_calls") if is_chat else None
    if isinstance(calls, list) and calls and (text is None or isinstance(text, str)):
        message[name] = text = as_one_text(text or "", calls)
    return isinstance(text, str) or (is_chat and text is None)


def _no_answer(reply: Any, url: str) -> MedtasksError:
    return MedtasksError(
        f"{url} sends replies without an answer{words_of(reply) or f': {str(reply)[:200]}'}; its own log may say why. "
        "With --use_cache results/cache, the same command goes on where it stopped"
    )


@contextmanager
def cache_of(model: Any) -> Iterator[None]:
    """Answers that ``--use_cache`` keeps are of this model only (``lm_eval.api.model.hash_args``).

    The harness keeps them under the prompt and the settings of its generation. Without this, a second model that is
    given the first one's cache gets its answers, and its score.
    """
    arguments = getattr(model, "model_args", None)
    known = {**vars(model), **(arguments if isinstance(arguments, Mapping) else {})}
    identity = {name: str(known[name]) for name in _NAMES if isinstance(known.get(name), str | int)}
    identity["dtype"] = str(getattr(getattr(model, "_model", None), "dtype", known.get("dtype")))
    original = api_model.hash_args

    def hash_args(attr: str, args: Any) -> str:
        key: str = original(attr, [*args, identity])
        return key

    with patch.object(api_model, "hash_args", hash_args):
        yield


def number_processes(model: Any) -> None:
    """Give each process of ``accelerate launch`` its number among those of all machines.

    ``HFLM`` takes its number on its own machine, and on a machine with fewer than two GPUs thinks that it is alone.
    Without this, each machine scores the same documents, some more than once and others never, or all of them, and each
    saves results of its own.
    """
    accelerator = getattr(model, "accelerator", None)
    if accelerator is not None and accelerator.num_processes > 1:
        model._rank, model._world_size = accelerator.process_index, accelerator.num_processes
        atexit.unregister(_leave_the_group)
        atexit.register(_leave_the_group)


def _leave_the_group() -> None:
    """Before this process ends: torch may abort one that is still in the group, and the launcher then kills the others.

    The first process is still scoring and saving when the others are done.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def model_of(chat_template: Callable[..., Any] | None) -> LM | None:
    """The model itself, without the wrapper of ``--use_cache``; None where a task is built without any.

    ``build_all_requests`` is given a method of the model as its chat template, or nothing. Without this there are no
    turns with tools.
    """
    model = getattr(chat_template, "__self__", None) or _model_of_the_run.get()
    return model.lm if isinstance(model, CachingLM) else model if isinstance(model, LM) else None


def response_cache(model: LM) -> Any:
    """The dictionary on disk behind ``--use_cache``, by :func:`cache_key`; None without that flag.

    The wrapper of ``--use_cache`` asks its cache for whole batches of the harness's own. Without this, a run with tools
    that dies asks every further turn again.
    """
    return model.cache_hook.dbdict


def cache_key(arguments: tuple[Any, ...]) -> str:
    """What an answer to ``generate_until`` is kept under (``lm_eval.api.model.hash_args``)."""
    key: str = api_model.hash_args("generate_until", arguments)
    return key


def can_be_asked_singly(model: LM | None) -> bool:
    """Whether :func:`asking` can ask the model: an API model with several connections and one prompt a request.

    One that generates in a way of its own cannot. With a single connection there is nothing to be gained.
    """
    api = _api_type()
    return (
        isinstance(model, api)
        and type(model).generate_until is api.generate_until
        and model._concurrent > 1
        and model._batch_size == 1
    )


def is_chat_server(model: LM | None) -> bool:
    """Whether the model is an OpenAI-compatible server that is sent messages (``LocalChatCompletion``)."""
    openai = sys.modules.get("lm_eval.models.openai_completions")
    return isinstance(model, getattr(openai, "LocalChatCompletion", ()))


def has_chat_template(model: LM | None) -> bool:
    """Whether prompts are rendered in this process, by a tokenizer's chat template."""
    return hasattr(getattr(model, "tokenizer", None), "apply_chat_template")


_rendering = threading.RLock()


@contextmanager
def tools_in_template(model: Any, schemas: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    """Within this, the model's tokenizer renders chats with tools.

    ``apply_chat_template`` of ``HFLM`` and its like passes on no ``tools``. Without this, a model in this process is
    never told of them in the form that it was trained for.
    """
    tokenizer = model.tokenizer
    with (
        _rendering,
        patch.object(tokenizer, "apply_chat_template", partial(tokenizer.apply_chat_template, tools=list(schemas))),
    ):
        yield


def take_next_batch(model: Any, generate_until: Callable[..., list[str]]) -> Callable[[], None]:
    """Have the evaluator ask this function in place of the model; returns what ends that.

    ``evaluate`` calls the model's ``generate_until``, and so does the wrapper of ``--use_cache`` for what is not in its
    cache. Without this, the harness's first batch is a barrier for every conversation.
    """
    model.generate_until = generate_until
    return lambda: vars(model).pop("generate_until", None)


def connections(model: Any) -> int:
    """How many requests an API model may have in flight (``num_concurrent``)."""
    return int(model._concurrent)


def _api_type() -> Any:
    """``TemplateAPI``; nothing is an instance of () where its module, which no other model needs, is not imported."""
    return getattr(sys.modules.get("lm_eval.models.api_models"), "TemplateAPI", ())


def request_body(model: Any, prompt: Any, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an API model would send for a prompt; None for any other model.

    ``TemplateAPI._create_payload`` alone knows whether a backend takes a ``seed`` (Anthropic's refuses it), which it
    is, and the temperature. Without this, the repeats of an example are one answer k times over.
    """
    if not isinstance(model, _api_type()):
        return None
    message = model.create_message([_as_sent(model, prompt, settings)])
    body: dict[str, Any] = model._create_payload(message, generate=True, gen_kwargs=dict(settings), seed=model._seed)
    return body


@asynccontextmanager
async def asking(model: Any) -> AsyncIterator[Ask]:
    """A function that asks an API model one prompt; however often it is called at once, no connection is added.

    ``TemplateAPI.generate_until`` asks a batch and returns when all of it is answered, one group of equal settings
    after the other. This makes the same requests, by the model's own ``amodel_call``: headers, body, timeout, reading
    of the reply and cache are its own; connections and retries are as in ``TemplateAPI.get_batched_requests``. Without
    this, every conversation waits for the slowest of its round.
    """
    from aiohttp import ClientSession, ClientTimeout, TCPConnector
    from tenacity import retry, stop_after_attempt, wait_exponential

    slots = asyncio.Semaphore(model._concurrent)
    connector = TCPConnector(limit=model._concurrent, ssl=model.verify_certificate)
    with_retries = retry(
        stop=stop_after_attempt(model.max_retries), wait=wait_exponential(multiplier=0.5, min=1, max=10), reraise=True
    )(model.amodel_call)
    async with ClientSession(connector=connector, timeout=ClientTimeout(total=model.timeout)) as session:

        async def ask(prompt: Any, settings: dict[str, Any]) -> str:
            replies: list[str] = await with_retries(
                session=session,
                sem=slots,
                messages=[_as_sent(model, prompt, settings)],
                cache_keys=[(prompt, settings)],
                generate=True,
                gen_kwargs=settings,
            )
            return replies[0]

        yield ask


def _as_sent(model: Any, prompt: Any, settings: Mapping[str, Any]) -> Any:
    """A prompt as ``TemplateAPI.generate_until`` hands it on: tokens, cut on the left, where the API takes tokens."""
    if not model.tokenized_requests:
        return prompt
    (tokens,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
    return tokens[-(model.max_length - settings.get("max_gen_toks", model._max_gen_toks)) :]


def room_for_prompts(model: Any, max_gen_toks: int) -> int | None:
    """Tokens of a prompt that a model reads beside an answer of some length; of longer ones it cuts the head.

    ``max_length`` of ``HFLM`` and its like, and of API models that send tokens. Without this, only a line in the log
    would tell of prompts that are not read whole. None for a model that cuts nothing, or does not say where.
    """
    limit = getattr(model, "max_length", None)
    if isinstance(model, _api_type()):
        if not model.tokenized_requests or model.tokenizer_backend not in ("huggingface", "tiktoken"):
            return None
    elif not hasattr(model, "tok_encode"):
        return None
    if not isinstance(limit, int):
        return None
    return limit if getattr(model, "backend", "causal") == "seq2seq" else limit - max_gen_toks


def is_longer(model: Any, prompt: str, room: int) -> bool:
    """Whether a prompt has more tokens than this; few are counted, since none has more tokens than bytes."""
    if len(prompt.encode()) <= room:
        return False
    tokens = model.tok_encode(prompt)
    return len(tokens[0] if tokens and isinstance(tokens[0], list) else tokens) > room


def probe_of(model: Any, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What ``requests.post`` is given to ask an API model's server for one token, as the harness itself would ask.

    ``_create_payload``, ``header`` and ``_seed`` of ``TemplateAPI``. Without this, a server that is down shows after
    the tasks are built, once for every request and try.
    """
    from lm_eval.models.openai_completions import LocalChatCompletion

    is_chat = isinstance(model, LocalChatCompletion)
    message = [{"role": "user", "content": "Hi"}] if is_chat else "Hi"
    given = {**(settings or {}), "max_gen_toks": 1}
    body = model._create_payload(message, generate=True, gen_kwargs=given, seed=model._seed, eos=None)
    return {
        "url": model.base_url,
        "json": body,
        "headers": model.header,
        "verify": model.ca_cert_path or model.verify_certificate,
    }


def without_tokenizer(kind: type[LM], arguments: Mapping[str, Any]) -> LM:
    """An API model that loads no tokenizer and asks no server for one."""
    given = {**arguments, "tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    logging.disable(logging.WARNING)
    try:
        return kind.create_from_arg_obj(given, {"batch_size": 1})
    finally:
        logging.disable(logging.NOTSET)
