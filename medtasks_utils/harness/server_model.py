"""Configure the endpoint, build the requests and read the replies of a model behind an HTTP API."""

import re
import ssl
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError, logger, reason_of
from medtasks_utils.inference.client import OTHER_WORDS, Client, Endpoint, run_with
from medtasks_utils.inference.replies import Completion, Reply
from medtasks_utils.inference.responses import NoResponse, PromptFiltered, RequestRefused, ServerBusy
from medtasks_utils.writing import SECRETS, JsonObject, Settings

from .lm_eval_names import LM, LocalChatCompletion, TemplateAPI, get_model

NO_LIMIT = 1 << 40
"""The context length, in tokens, of an API model whose server alone knows it."""

spent: Counter[str] = Counter()
"""Token counts that servers reported (``prompt``, ``completion``), and the number of ``replies`` that these cover."""

_UNSET = 2047  # TemplateAPI.max_length, if no argument sets it
_USUAL_RETRIES = 3  # TemplateAPI.max_retries, if no argument sets it
_PROBE_TIMEOUT = 30.0  # seconds; a slower server is assumed to be busy
_PROBE_CONNECTION_TIMEOUT = 5.0  # seconds
_TOO_FEW_TOKENS = re.compile(r"(?!.*not supported|.*unsupported).*max_(completion_|output_|new_)?tokens", re.I | re.S)


# ---- the kind of model


def is_api(kind: type) -> bool:
    """Return whether a class is one of lm_eval's own models behind an HTTP API."""
    return issubclass(kind, TemplateAPI) and kind.__module__.startswith("lm_eval.")


def can_be_asked_singly(model: LM) -> bool:
    """Return whether requests to a model can be sent one by one, instead of only in batches.

    The model must send requests and parse replies with lm_eval's own methods.
    """
    kind = type(model)
    return (
        isinstance(model, TemplateAPI)
        and kind.parse_generations.__module__.startswith("lm_eval.")
        and kind.generate_until is TemplateAPI.generate_until
        and kind.amodel_call is TemplateAPI.amodel_call
    )


def attempts_of(model: LM, arguments: Settings | None) -> int | None:
    """Return the maximum number of attempts per request; None to retry patiently if ``max_retries`` is not set.

    If ``arguments``, the model's arguments, are None, a ``max_retries`` of 3, lm_eval's default, counts as not set.
    """
    if arguments is not None:
        return arguments.get("max_retries")
    return model.max_retries if model.max_retries != _USUAL_RETRIES else None


def endpoint_of(model: LM, attempts: int | None) -> Endpoint:
    """Return the endpoint of an API model, with the limits in its arguments and at most ``attempts`` attempts.

    Raises:
        UsageError: if the file ``ca_cert_path`` cannot be read.
    """
    certificates = model.ca_cert_path
    try:
        verify = ssl.create_default_context(cafile=certificates) if certificates else model.verify_certificate
    except OSError as error:
        raise UsageError(f"--model_args: ca_cert_path={certificates} cannot be read ({reason_of(error)})") from None
    return Endpoint(
        url=model.base_url,
        model=model.model,
        headers=model.header,
        at_once=max(model._concurrent * model._batch_size, 1),
        attempts=attempts,
        timeout=model.timeout,
        verify=verify,
        if_silent=f"see the server's log; with --model_args, you can increase timeout (now {model.timeout} s)"
        + ("" if attempts is None else f" and max_retries (now {attempts})"),
    )


def learn_context(model: LM) -> None:
    """Set an API model's context length to that reported by its server or, if none is reported, to :data:`NO_LIMIT`.

    A model without a tokenizer, or whose arguments set the length, is left unchanged. lm_eval would assume 2,047.
    """
    if isinstance(model, TemplateAPI) and model.tokenizer is not None and model.max_length == _UNSET:
        model.max_length = run_with(endpoint_of(model, 1), Client.context) or NO_LIMIT


# ---- requests and replies


def request_body(model: LM, prompt: Any, settings: Settings) -> JsonObject | None:
    """Return the body that an API model would send for a prompt, without settings that are None; None for other models.

    The body comes from ``TemplateAPI._create_payload``, which alone determines the seed and temperature sent.
    """
    if not isinstance(model, TemplateAPI):
        return None
    if model.tokenized_requests:
        (prompt,) = model.tok_encode([prompt], add_special_tokens=model.add_bos_token)
    message = model.create_message([prompt])
    settings = deepcopy(dict(settings))  # since lm_eval changes the lists in them
    body: JsonObject = model._create_payload(message, generate=True, gen_kwargs=settings, seed=model._seed)
    if not body.get("stop"):  # some servers answer 400 or 500 to an empty list
        body["stop"] = None
    return {name: value for name, value in body.items() if value is not None}


def temperature_sent(model: LM | None, settings: Settings) -> Any:
    """Return the temperature that a model sends for generation settings; lm_eval replaces it for some models' names."""
    temperature = settings.get("temperature", 0)
    if not isinstance(model, LocalChatCompletion):
        return temperature
    prompt = model.apply_chat_template([{"role": "user", "content": OTHER_WORDS}])
    return (request_body(model, prompt, settings) or {}).get("temperature", temperature)


def replies_in(completion: Completion, model: LM, url: str, number: int) -> list[Reply]:
    """Return the requested number of replies from a completion, and count their tokens.

    With ``think_end_token``, an argument of some models, :func:`without_thoughts` separates the reasoning.

    Raises:
        MedtasksError: for fewer replies than requested.
    """
    usage = completion.usage
    replies = [Reply(SECRETS.scrub(str(reply)), **SECRETS.scrub(reply.attributes)) for reply in completion.replies]
    if usage:
        spent.update(replies=len(replies), **usage)
    if len(replies) < number:
        raise MedtasksError(f"{url} sent {len(replies)} of n={number} replies: omit repeats_in_one_request")
    if completion.model not in ("", getattr(model, "model", "")):
        for reply in replies:
            reply.model = SECRETS.scrub(completion.model)
    token = getattr(model, "think_end_token", None)
    return [without_thoughts(reply, token) if token else reply for reply in replies[:number]]


def without_thoughts(reply: Reply, token: str) -> Reply:
    """Move a reply's text before the last ``token``, which ends reasoning, to the reply's ``reasoning``.

    Without this token, the whole text of a reply that was cut is moved, if the server sent no reasoning separately; any
    other reply is returned unchanged. Reasoning that the server sent separately takes precedence over the moved text.
    """
    if token not in reply and (reply.ended != "length" or reply.reasoning):
        return reply
    thoughts, _, text = reply.rpartition(token) if token in reply else (reply, "", "")
    return Reply(text.lstrip(), **{**reply.attributes, "reasoning": reply.reasoning or thoughts})


# ---- trying a server


def model_to_probe(kind: str, arguments: Settings) -> Any:
    """Return a model, without a tokenizer, with which to probe the server; None if the server cannot be probed.

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


def probe(model: LM, settings: Settings) -> Completion | None:
    """Send a request for one token in the form that the run will use.

    Args:
        model: an API model.
        settings: the generation settings.

    Returns:
        The completion; without replies if the server refuses so few tokens, as for a reasoning model, or if a
        policy forbids the prompt. None if the server is slow or busy; the run may then start.

    Raises:
        MedtasksError: if the server cannot answer any request of this run.
    """
    is_chat = "Chat" in type(model).__name__
    prompt = model.apply_chat_template([{"role": "user", "content": OTHER_WORDS}]) if is_chat else OTHER_WORDS
    body = request_body(model, prompt, {**settings, "max_gen_toks": 1}) or {}
    endpoint = replace(
        endpoint_of(model, model.max_retries),
        timeout=_PROBE_TIMEOUT,
        connection_timeout=_PROBE_CONNECTION_TIMEOUT,
        if_silent="start the server, or correct base_url",
    )
    try:
        return run_with(endpoint, lambda client: client.complete(body, final=NoResponse))
    except RequestRefused as error:
        if isinstance(error, PromptFiltered) or (error.status == 400 and _TOO_FEW_TOKENS.match(error.body)):
            return Completion([], {})
        raise
    except NoResponse:
        logger.warning("%s did not respond within %d s; the run starts anyway", endpoint.url, _PROBE_TIMEOUT)
        return None
    except ServerBusy:
        return None
