"""What reaches the model behind a task: which it is, its cache, and single requests to API models."""

from __future__ import annotations

import asyncio
import atexit
import logging
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

from lm_eval.api import model as api_model
from lm_eval.api.model import LM, CachingLM

from medtasks_utils.harness import server
from medtasks_utils.harness.kept import METHODS, KeptAnswers

_model_of_the_run: ContextVar[LM | None] = ContextVar("model", default=None)
Ask = Callable[[Any, dict[str, Any]], Awaitable[str]]
keeper: ContextVar[KeptAnswers | None] = ContextVar("keeper", default=None)
"""What keeps the answers of the run that is under way."""
spent: Counter[str] = Counter()
"""Tokens that servers reported in this process: ``prompt``, ``completion``, and the ``replies`` that had them."""


def evaluate_with_the_model_known(original: Callable[..., Any]) -> Callable[..., Any]:
    """``evaluator.evaluate`` that lets tasks know their model, and keeps its answers if a run asks for that."""

    @wraps(original)
    def evaluate(*arguments: Any, **settings: Any) -> Any:
        model = settings["lm"] if "lm" in settings else arguments[0]
        inner = model.lm if isinstance(model, CachingLM) else model
        prepare_model(inner)
        token = _model_of_the_run.set(model)
        try:
            with _answers_kept(inner, keeper.get()):
                return original(*arguments, **settings)
        finally:
            _model_of_the_run.reset(token)

    return evaluate


@contextmanager
def _answers_kept(model: Any, kept: KeptAnswers | None) -> Iterator[None]:
    """``set_cache_hook`` and two methods of the model, so that each reply is kept as it comes."""
    if kept is None:
        yield
        return
    # vLLM calls its hook with settings that no request had; others call it with nothing, or when all is over.
    hands_over = any(kind.__name__ in ("TemplateAPI", "HFLM") for kind in type(model).__mro__)
    hook = model.cache_hook
    for method in METHODS:
        setattr(model, method, kept.keep(model, method, hands_over))
    if hands_over:
        model.set_cache_hook(KeepingHook(kept, hook))
    try:
        yield
        kept.close()
        if model.world_size > 1:
            kept.used(model.gather_object(kept.used(), dst=0) or ())
    finally:
        for method in METHODS:
            vars(model).pop(method, None)
        model.set_cache_hook(hook)
        kept.close()


class KeepingHook:
    """What a model calls with each reply: keeps it, and hands it on to the hook of ``--use_cache``."""

    def __init__(self, kept: KeptAnswers, inner: Any) -> None:
        self.kept = kept
        self.dbdict = inner.dbdict
        self._inner = inner

    def add_partial(self, attr: str, req: Iterable[Any], res: Any) -> None:
        """As the harness's ``CacheHook`` has it; ``loglikelihood_rolling`` is not kept."""
        self._inner.add_partial(attr, req, res)
        if attr in METHODS:
            self.kept.put(attr, req, res)


def take_over(model: Any, prompt: Any, settings: Mapping[str, Any]) -> str | None:
    """The answer that an earlier run kept; None where nothing is kept, or not this one."""
    kept = getattr(model.cache_hook, "kept", None)
    return None if kept is None else kept.take("generate_until", (prompt, settings))


def prepare_model(model: Any) -> None:
    """What every model needs: an API model sends no empty ``stop``, and processes have their numbers."""
    number_processes(model)
    if isinstance(model, _api_type()) and "_create_payload" not in vars(model):
        create = model._create_payload

        def create_payload(*arguments: Any, **settings: Any) -> dict[str, Any]:
            body: dict[str, Any] = create(*arguments, **settings)
            if "stop" in body and not body["stop"]:
                del body["stop"]
            return body

        model._create_payload = create_payload


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
    """Whether :func:`asking` can ask the model: an API model with one prompt a request and no way of its own to ask."""
    api = _api_type()
    return (
        isinstance(model, api)
        and type(model).generate_until is api.generate_until
        and type(model).amodel_call is api.amodel_call
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
    tokenizer, name = model.tokenizer, "apply_chat_template"
    with _rendering:
        before = vars(tokenizer).get(name)
        tokenizer.apply_chat_template = partial(tokenizer.apply_chat_template, tools=list(schemas))
        try:
            yield
        finally:
            vars(tokenizer).pop(name, None)
            if before is not None:
                tokenizer.apply_chat_template = before


def take_next_batch(model: Any, generate_until: Callable[..., list[str]]) -> Callable[[], None]:
    """Have the evaluator ask this function in place of the model; returns what ends that.

    ``evaluate`` calls the model's ``generate_until``, and so does the wrapper of ``--use_cache`` for what is not in its
    cache. Without this, the harness's first batch is a barrier for every conversation.
    """
    before = vars(model).get("generate_until")
    model.generate_until = generate_until

    def give_back() -> None:
        vars(model).pop("generate_until", None)
        if before is not None:
            model.generate_until = before

    return give_back


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

    ``TemplateAPI.generate_until`` asks a batch, one group of equal settings after the other, returns when all of it is
    answered, and forgets what the server said when it refuses. Body, headers, reading of the reply and cache are the
    model's own here; connections and tries are as in ``TemplateAPI.get_batched_requests``. Without this, every
    conversation waits for the slowest of its round, and one prompt that does not fit ends the run.
    """
    from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector
    from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential

    connector = TCPConnector(limit=model._concurrent, ssl=model.verify_certificate)
    slots = asyncio.Semaphore(model._concurrent)
    async with ClientSession(connector=connector, timeout=ClientTimeout(model.timeout), trust_env=True) as session:

        @retry(
            stop=stop_after_attempt(model.max_retries),
            wait=wait_exponential(multiplier=0.5, min=1, max=10),
            retry=retry_if_exception_type((ClientError, asyncio.TimeoutError, server.UnableError)),
            reraise=True,
        )
        async def ask(prompt: Any, settings: dict[str, Any]) -> str:
            body = request_body(model, prompt, settings)
            async with slots:
                async with session.post(model.base_url, json=body, headers=model.header) as response:
                    said = await response.text(errors="replace")
                server.check(response.status, said, model.base_url, model.model)
                outputs = server.body_of(said, model.base_url)
                reply = next(iter(model.parse_generations(outputs=[outputs])), None)
            reply = "" if reply is None else str(reply)
            spent.update(server.tokens_of(outputs))
            model.cache_hook.add_partial("generate_until", (prompt, settings), reply)
            return reply

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


def model_to_probe(kind: type[LM], arguments: Mapping[str, Any]) -> Any:
    """A model to probe its server with, which loads no tokenizer; None for one whose server is not to be probed."""
    api = _api_type()
    if not (api and issubclass(kind, api) and kind.amodel_call is api.amodel_call) or "Azure" in kind.__name__:
        return None  # litellm asks in a way of its own, and Azure's addresses take no /models
    given = {**arguments, "tokenizer_backend": "none", "tokenizer": None, "tokenized_requests": False}
    logging.disable(logging.WARNING)
    try:
        model: Any = kind.create_from_arg_obj(given, {"batch_size": 1})
    finally:
        logging.disable(logging.NOTSET)
    prepare_model(model)
    return model


def probe_of(model: Any, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What ``requests.post`` is given to ask an API model's server for one token, as the run will ask it.

    ``_create_payload`` and ``header`` of ``TemplateAPI``. Without this, a server that is down shows after the tasks are
    built, once for every request and try.
    """
    is_chat = is_chat_server(model) or "Chat" in type(model).__name__
    message = [{"role": "user", "content": "Hi"}] if is_chat else "Hi"
    given = {**(settings or {}), "max_gen_toks": 1}
    body = model._create_payload(message, generate=True, gen_kwargs=given, seed=model._seed)
    return {
        "url": model.base_url,
        "json": body,
        "headers": model.header,
        "verify": model.ca_cert_path or model.verify_certificate,
    }
