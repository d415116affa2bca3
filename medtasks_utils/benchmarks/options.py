"""Options under ``--metadata '{"<benchmark>": {...}}'``: typed, checked before the model runs, one line when wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from medtasks_utils.errors import OptionError


class Requirement(NamedTuple):
    """What an option is of no effect without; ``says`` is the same for messages, as in ``use_judge=true``."""

    says: str
    is_met: Callable[[Any], bool]


class Options(BaseModel):
    """What every benchmark takes; each benchmark's own options derive from it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # What results' signatures (.signature) make of options: those that only choose rows, and those that change no score
    # or are told by another field. All others set results apart.
    choose_rows: ClassVar[frozenset[str]] = frozenset()
    not_signed: ClassVar[frozenset[str]] = frozenset({"repeats", "revision"})

    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of options."""
    refused: ClassVar[Mapping[str, str]] = {}
    """Names that are no options on purpose, and why."""
    needs: ClassVar[Mapping[str, Requirement]] = {}
    """Of options that others can turn off."""

    repeats: int = Field(1, ge=1, description="generations per example; metrics are means over them")
    revision: str | None = Field(None, description="revision of the hub repository; the pinned one if none")


AnyOptions = TypeVar("AnyOptions", bound=Options)


def read_options(
    kind: type[AnyOptions], benchmark: str, defaults: Mapping[str, Any], given: Mapping[str, Any] | None, place: str
) -> AnyOptions:
    """Merge what a task's YAML sets with what the user gives, and check both; null leaves an option at its default.

    Args:
        kind: the benchmark's options.
        benchmark: its name, for messages.
        defaults: what the YAML sets.
        given: what the user sets.
        place: where the user does so, for messages.

    Raises:
        OptionError: for a misspelt or ill-typed option, naming what is valid.
    """
    valid = f"Valid options of {benchmark}: {describe_options(kind)}."
    if not isinstance(given, Mapping | None):
        raise OptionError(
            f'{place} takes a JSON object of options, as in {{"{benchmark}": {{"repeats": 2}}}}, not {given!r}. {valid}'
        )
    try:
        return kind(**{**defaults, **_plain(kind, place, given or {})})
    except ValidationError as error:
        problems = "; ".join(dict.fromkeys(_explain(problem, kind) for problem in error.errors()))
        raise OptionError(f"{place}: {problems}. {valid}") from None


def _plain(kind: type[Options], place: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The user's options under their own names, without those that null leaves at their default."""
    refuse(kind, place, given)
    plain: dict[str, Any] = {}
    for key, value in given.items():
        name = kind.aliases.get(key, key)
        if value is None and name in kind.model_fields:
            continue
        if name in plain and plain[name] != value:
            raise OptionError(f"{place}: {key} is another name of {name}, and their values differ")
        plain[name] = value
    return plain


def refuse(kind: type[Options], place: str, given: Mapping[str, Any]) -> None:
    """Raise an OptionError for a name that is no option on purpose, such as one for a secret."""
    for name in given:
        if name in kind.refused:
            raise OptionError(f"{place}: there is no option {name}: {kind.refused[name]}")


def describe_options(kind: type[Options]) -> str:
    """All options of a benchmark in one line, with choices and defaults."""
    names = {
        name: " or ".join([name, *(a for a, of in kind.aliases.items() if of == name)]) for name in kind.model_fields
    }
    return ", ".join(f"{names[name]} ({default_text(field.default)})" for name, field in kind.model_fields.items())


def default_text(value: object) -> str:
    """A default as messages and help show it."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _explain(problem: ErrorDetails, kind: type[Options]) -> str:
    if not problem["loc"]:  # a check over several options
        return problem["msg"].removeprefix("Value error, ")
    name = str(problem["loc"][0])
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, kind.model_fields, n=1)
        return f"unknown option {name!r}" + (f" (did you mean {near[0]!r}?)" if near else "")
    annotation = kind.model_fields[name].annotation if name in kind.model_fields else None
    value = problem["input"]
    if get_origin(annotation) is Literal:
        choices = " or ".join(repr(choice) for choice in get_args(annotation))
        return f"{name} must be {choices}, not {value!r}"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if name in kind.model_fields and not kind.model_fields[name].repr:  # it may hold a secret
        return f"{name}: {message}"
    return f"{name}: {message}, not {value!r}"
