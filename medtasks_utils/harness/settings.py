"""Check names and types in a model's arguments and generation settings, and that replies leave room for a prompt."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from medtasks_utils.errors import UsageError, did_you_mean, logger
from medtasks_utils.writing import Settings

_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "max_gen_toks": ((int,), "a whole number above 0"),
    "do_sample": ((bool,), "true or false"),
    "until": ((str, list), "a string or a list of strings"),
    **dict.fromkeys(("temperature", "top_p", "top_k", "min_p", "presence_penalty"), ((int, float), "a number")),
}
"""The allowed types of each generation setting, and their description in messages."""
_OF_REQUESTS = ("messages", "prompt", "model", "stream")
_OTHER_NAMES = ("max_tokens", "max_new_tokens", "max_completion_tokens")
_LONGEST_SHOWN = 10  # characters
FOR_REASONING = 4096
"""The number of tokens needed for reasoning. A smaller ``max_gen_toks`` causes a warning, which recommends twice as
many."""


def mistakes_in_generation(settings: Settings) -> Iterator[str]:
    """Yield errors in the names and types of generation settings; allow unknown names unless they seem misspelt."""
    for name, value in settings.items():
        if name in _OTHER_NAMES:
            yield f"use max_gen_toks, not {name}; each engine gets it under its own name"
        if name in _OF_REQUESTS:
            yield f"{name} would override the task or --model_args: omit it"
        suggestion = did_you_mean(name.replace("-", "_"), _KINDS, 0.85)
        if suggestion and name not in _KINDS:
            yield f"unknown setting {name}{suggestion}"
        types, expected = _KINDS.get(name, ((type(value),), ""))
        if value is not None and (type(value) not in types or (name == "max_gen_toks" and value <= 0)):
            yield f"{name} takes {expected}, not {_shown(value)}"


def check_arguments(kind: type, name: str, arguments: Settings, is_api: bool) -> None:
    """Check the names and types of a model's arguments.

    An API model ignores unknown arguments, so they are errors. Other models may pass them on, so only likely
    misspellings are errors. ``name`` is the value of ``--model``, for messages.

    Raises:
        UsageError: for the first error.
    """
    parameters: dict[str, inspect.Parameter] = {}
    parents: Sequence[Any] = kind.__mro__[:-1]
    for parent in parents:  # the base class last, since it has the annotations
        parameters |= inspect.signature(parent.__init__).parameters
    known = parameters.keys() - {"self", "args", "kwargs"}
    for argument, value in arguments.items():
        if argument not in known:
            suggestion = did_you_mean(argument, known, 0.6 if is_api else 0.85)
            if is_api or suggestion:
                raise UsageError(f"--model_args: {name} has no argument {argument}{suggestion}")
            continue
        annotation = parameters[argument].annotation
        types = get_args(annotation) or (annotation,)
        if int in types and str not in types and type(value) is not int and value is not None:
            raise UsageError(f"--model_args: {argument} takes a whole number, not {_shown(value)}")
        if bool in types and type(value) is not bool:
            raise UsageError(f"--model_args: {argument} takes true or false, not {_shown(value)}")


def _shown(value: Any) -> str:
    """Return a value for a message; a long text is hidden, since it may be a misplaced key."""
    return "a long text" if isinstance(value, str) and len(value) > _LONGEST_SHOWN else repr(value)


def check_reply_room(lengths: Iterable[tuple[str, int]], context: int | None) -> None:
    """Check that replies leave room for a prompt in the model's context.

    ``lengths`` are the maximum numbers of tokens in replies, by task; ``context`` is in tokens, None if unknown.

    Raises:
        UsageError: for the first task whose prompts cannot fit.
    """
    for task, length in lengths:
        if context and length >= context:
            raise UsageError(
                f"{task}: max_gen_toks={length:,} leaves no room for a prompt in the model's context of {context:,} "
                "tokens: lower it in --gen_kwargs, or increase the model's context"
            )


def without_nulls(settings: Settings, context: int) -> Settings:
    """Return generation settings without None, since a model in this process has no server defaults to fall back on.

    Without ``max_gen_toks``, replies may have 2 · :data:`FOR_REASONING` tokens, but at most half of the context.
    """
    limit = min(2 * FOR_REASONING, context // 2)
    stated = {name: value for name, value in settings.items() if value is not None}
    return {"max_gen_toks": limit, **stated}


def warn_of_cut_reasoning(lengths: Iterable[tuple[str, int]]) -> None:
    """Log a warning for each task of a reasoning model whose replies may be cut before the answer.

    ``lengths`` are the maximum numbers of tokens in replies, by task.
    """
    for task, length in lengths:
        if length < FOR_REASONING:
            logger.warning(
                f"{task}: the model reasons, and max_gen_toks={length:,} may cut its replies before the answer: "
                f"use --gen_kwargs max_gen_toks={2 * FOR_REASONING} (docs/engines.md)"
            )
