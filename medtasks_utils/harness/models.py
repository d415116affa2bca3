"""Query properties of a model: its kind, seed, processes, arguments, tokenizer and context."""

import atexit
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError, logger, reason_of
from medtasks_utils.writing import Settings

from .lm_eval_names import LM, EvaluatorConfig, Instance, TemplateAPI, get_model
from .reasoning import is_marked_by
from .server_model import is_api

Asking = Callable[[Sequence[Instance]], Sequence[Any]]
"""A method of a model that returns the replies to requests."""

HF = ("hf", "hf-auto", "huggingface")
"""The values of ``--model`` for transformers models."""
IN_PROCESS = (*HF, "vllm")
"""The values of ``--model`` for models in this process whose arguments are checked."""

_OF_TEMPLATES = ("reasoning_effort", "thinking", "thinking_budget", "chat_template_kwargs")
"""Servers' names for arguments of chat templates."""
_DEFAULT_DEVICE = "cuda:0"  # lm_eval uses it only if it exists
_DEVICES = ("cuda", "cpu", "mps", "xpu", "npu", "hpu")


# ---- kinds of models


def is_one_of(model: LM, *classes: str) -> bool:
    """Return whether a model is an instance of one of lm_eval's classes, which need not be importable here."""
    return any(kind.__name__ in classes for kind in type(model).__mro__)


def runs_in_process(model: LM) -> bool:
    """Return whether a model generates in this process, with a known tokenizer and context."""
    return is_one_of(model, "HFLM", "VLLM", "SGLangLM")


def may_reason(model: LM, template: str) -> bool:
    """Return whether a model's chat template marks reasoning, and its arguments do not switch reasoning off."""
    switches = {
        "enable_thinking": getattr(model, "enable_thinking", None),
        **(getattr(model, "chat_template_args", None) or {}),
    }
    return is_marked_by(template) and switches["enable_thinking"] is not False


def seed_of(model: LM, settings: Settings) -> int | None:
    """Return the seed that a model uses for a request; None if it takes no seed, or draws one at random."""
    if isinstance(model, TemplateAPI):
        usual = model._seed
    elif is_one_of(model, "VLLM"):  # its sampling parameters have a seed
        usual = model.model_args.get("seed")
    else:
        return None
    seed = settings.get("seed", usual)
    return seed if isinstance(seed, int) else None


# ---- processes


def number_processes(model: LM) -> None:
    """Set a model's rank and world size to those among all machines, under ``accelerate launch``.

    ``HFLM`` uses the process number on its own machine and, with fewer than two GPUs there, ignores other machines.
    The process leaves its group when it ends.
    """
    accelerator = getattr(model, "accelerator", None)
    if accelerator is not None and accelerator.num_processes > 1:
        model._rank, model._world_size = accelerator.process_index, accelerator.num_processes
        atexit.register(_leave_the_group)


def _leave_the_group() -> None:
    """Leave the process group when this process ends.

    Torch may abort a process that exits inside the group; the launcher then kills the others, even while the first
    process is still scoring and saving.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def most_in_any_process(model: LM, count: int) -> int:
    """Return the maximum of ``count`` over all processes, each of which must call this.

    The maximum lets all processes send equally many requests, since some models exchange data during generation.
    """
    if model.world_size == 1:
        return count
    import torch

    return int(model.all_gather(torch.tensor(count, device=model.device)).max().item())


def ask_in_step(model: LM, ask: Asking, requests: Sequence[Instance], others: Sequence[Instance]) -> list[Any]:
    """Return the replies to requests, sent together with padding so that every process sends equally many.

    Every process must call this function. The padding repeats the last of ``requests`` or, if there are none, of
    ``others``; replies to the padding are dropped.
    """
    size = most_in_any_process(model, len(requests))
    padding = [(requests or others)[-1]] * (size - len(requests))
    replies = ask([*requests, *padding]) if size else ()
    return list(replies)[: len(requests)]


# ---- arguments, before weights are loaded


def mistakes_in_process(config: EvaluatorConfig) -> Iterator[str]:
    """Yield errors for settings that prevent a model of a kind in :data:`IN_PROCESS` from running here.

    For a transformers model on a CPU, a ``batch_size`` of ``auto`` is replaced by 1, with a warning.
    """
    import torch

    arguments, device = config.model_args, str(config.device or _DEFAULT_DEVICE)
    dtype = arguments.get("dtype", "auto")
    lacks_gpu = config.model in HF and not torch.cuda.is_available()
    for name in _OF_TEMPLATES:
        if name in arguments or name in config.gen_kwargs:
            yield f"{name}: models in this process take it in --model_args, as 'chat_template_args={{...}}' in JSON"
    if arguments.get("enable_thinking") is True and not arguments.get("think_end_token"):
        yield "--model_args: enable_thinking=True needs the mark that ends reasoning: think_end_token='</think>'"
    if dtype != "auto" and not isinstance(getattr(torch, str(dtype), None), torch.dtype):
        yield f"--model_args: unknown dtype {dtype}: use auto, float16, bfloat16 or float32"
    kind, has_mps = device.partition(":")[0], torch.backends.mps.is_available()
    if (lacks_gpu and kind == "cuda" and device != _DEFAULT_DEVICE) or (kind == "mps" and not has_mps):
        yield f"device {device}: torch finds no {kind.upper()} device here: omit the device to use a different one"
    if config.model in HF and kind not in _DEVICES:  # lm_eval would take a different one without a word
        yield f"there is no device {device}: use one of {', '.join(_DEVICES)}, or omit it"
    if lacks_gpu and arguments.get("parallelize"):
        yield "--model_args: parallelize=True divides a model among GPUs, and torch finds none here: omit it"
    if config.model in HF and (lacks_gpu or kind == "cpu") and str(config.batch_size).startswith("auto"):
        logger.warning("--batch_size auto would try batches of 64 for many minutes on this CPU: using 1 instead")
        config.batch_size = "1"


# ---- prompts that fit


def context_in_process(kind: str, arguments: Settings) -> int | None:
    """Return the context length, in tokens, of a model in this process, before its weights are loaded.

    The length comes from the model's arguments or else its configuration. It is None if neither states it, if the
    configuration cannot be loaded, and for other models.
    """
    if kind not in IN_PROCESS:
        return None
    length = arguments.get("max_length") or arguments.get("max_model_len")
    if length:
        return int(length)
    with suppress(OSError, ValueError, ImportError, AttributeError):  # loading the model explains these better
        from transformers import AutoConfig

        name, revision = arguments.get("pretrained"), arguments.get("revision")
        config = AutoConfig.from_pretrained(name, revision=revision, trust_remote_code=False)
        return getattr(config.get_text_config(), "max_position_embeddings", None)
    return None


def check_tokenizer(kind: str, arguments: Settings, needs_template: bool) -> Any:
    """Check that a model's tokenizer can be loaded and, if necessary, has a chat template.

    Returns:
        The tokenizer; None if none is needed here, or if it cannot be built, which loading the model explains better.

    Raises:
        MedtasksError: if the tokenizer's files cannot be found or read.
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
            return None
    except OSError as error:
        raise MedtasksError(
            f"--model_args: {argument}={name} cannot be loaded ({reason_of(error)}). Name a folder or a model on the "
            "Hub (without network access, one in the Hub's cache), and its tokenizer as tokenizer=NAME if it is "
            "elsewhere; a server needs no tokenizer with tokenizer_backend=none"
        ) from None
    except (ValueError, ImportError):  # loading the model explains these better
        return None
    if needs_template and getattr(tokenizer, "chat_template", "") is None:
        raise UsageError(
            f"--apply_chat_template: the tokenizer {name} has no chat template: omit the flag, as for base models, or "
            "name the tokenizer of a chat model as tokenizer=NAME"
        )
    return tokenizer


def begins_with_bos(tokenizer: Any) -> bool:
    """Return whether a transformers tokenizer begins each text with its BOS token."""
    token = getattr(tokenizer, "bos_token_id", None)
    return token is not None and callable(tokenizer) and tokenizer("").input_ids[:1] == [token]


def context_error_of(model: LM, prompt: Any, reply: Settings | str) -> str | None:
    """Return why a prompt should not be sent, if prompt and reply exceed the model's context; else None.

    None is also returned for an empty prompt, and if the tokens cannot be counted here. ``reply`` is either the
    generation settings or a continuation to score.
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
        for_reply = reply.get("max_gen_toks") or (model._max_gen_toks if is_api else model.max_gen_toks)
        tokens = len(model.tok_encode([prompt])[0] if is_api else model.tok_encode(prompt))
        what = f"a prompt of {tokens:,} tokens and max_gen_toks={for_reply:,} are"
    if tokens + for_reply <= model.max_length:
        return None
    return f"{what} more than the model's context of {model.max_length:,} tokens"
