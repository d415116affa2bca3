"""Check the arguments of a model and the generation settings: names, types, and room for a prompt."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from medtasks_utils.errors import UsageError, did_you_mean

NUMBERS = ("temperature", "top_p", "top_k", "min_p", "presence_penalty")
SAMPLING = ("until", "do_sample", *NUMBERS)
GENERATION = ("max_gen_toks", *SAMPLING)
FOR_REASONING = 4096
"""Tokens that a model that reasons should be given at least."""


def check_generation(settings: Mapping[str, Any]) -> None:
    """Check the names and types of ``--gen_kwargs``; a setting that is not known is the backend's.

    Raises:
        UsageError: for the first mistake.
    """
    for name, value in settings.items():
        suggestion = "" if name in GENERATION else did_you_mean(name, GENERATION, 0.85)
        if suggestion:
            raise UsageError(f"--gen_kwargs: unknown setting {name}{suggestion}")
        expected = ""
        if name == "max_gen_toks" and not (type(value) is int and value > 0):
            expected = "a whole number above 0"
        elif name == "do_sample" and not isinstance(value, bool):
            expected = "true or false"
        elif name in NUMBERS and type(value) not in (int, float):
            expected = "a number"
        if expected and value is not None:
            raise UsageError(f"--gen_kwargs: {name} takes {expected}, not {value!r}")


def check_arguments(kind: type, name: str, arguments: Mapping[str, Any], is_api: bool) -> None:
    """Check the names and types of a model's arguments.

    An API model ignores those that it does not know; any other may pass them on, so that only likely typos are refused.

    Args:
        kind: the model's class.
        name: that ``--model`` takes.
        arguments: of ``--model_args``.
        is_api: whether the model is behind an HTTP API.

    Raises:
        UsageError: for the first mistake.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for parent in reversed(kind.__mro__):
        if "__init__" in vars(parent) and parent is not object:
            for argument, parameter in inspect.signature(vars(parent)["__init__"]).parameters.items():
                if parameter.annotation is not parameter.empty or argument not in parameters:
                    parameters[argument] = parameter
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
            raise UsageError(f"--model_args: {argument} takes a whole number, not {value!r}")
        if bool in types and type(value) is not bool:
            raise UsageError(f"--model_args: {argument} takes true or false, not {value!r}")


def check_room(lengths: Iterable[tuple[str, int]], context: int | None) -> None:
    """Check that replies leave room for a prompt in the model's context.

    Args:
        lengths: the tasks' names, with the most tokens of a reply.
        context: tokens of prompt and reply together; None if they are not known.

    Raises:
        UsageError: for the first task of which no prompt can fit.
    """
    for task, length in lengths:
        if context and length >= context:
            raise UsageError(
                f"{task}: max_gen_toks={length:,} leaves no room for a prompt in the model's context of {context:,} "
                "tokens: lower it in --gen_kwargs, or give the model a larger context"
            )


def remark_on_reasoning(task: str, length: int) -> str:
    """Return what to say before a run in which a model that reasons may be cut; an empty string where it has room."""
    if length >= FOR_REASONING:
        return ""
    return (
        f"{task}: the model reasons, and max_gen_toks={length:,} may cut it before it answers: "
        f"--gen_kwargs max_gen_toks={2 * FOR_REASONING} gives it room (docs/engines.md)"
    )
