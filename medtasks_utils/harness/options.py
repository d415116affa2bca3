"""Options under ``--metadata '{"<benchmark>": {...}}'``: typed, checked before the model runs, one line when wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from medtasks_utils.benchmarks import cards
from medtasks_utils.errors import OptionError, logger

DATA_KEY = "medtasks_data"

# Names that model arguments use too; lm_eval merges those into the same object, so they prove nothing there.
_SHARED_WITH_MODEL_ARGUMENTS = {"seed", "revision"}


class Need(NamedTuple):
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
    needs: ClassVar[Mapping[str, Need]] = {}
    """Of options that others can turn off."""

    repeats: int = Field(1, ge=1, description="generations per example; metrics are means over them")
    revision: str | None = Field(None, description="revision of the hub repository; the pinned one if none")


AnyOptions = TypeVar("AnyOptions", bound=Options)


def read_options(
    kind: type[AnyOptions],
    benchmark: str,
    defaults: Mapping[str, Any],
    metadata: Mapping[str, Any],
    said_by: str = "",
) -> AnyOptions:
    """Merge what a task's YAML sets with what the user says in the harness's merged metadata, and check both.

    null leaves any option at its default. ``said_by`` are the flags that said it, where that is not ``--metadata``.

    Raises:
        OptionError: for a misspelt or ill-typed option, naming what is valid.
    """
    valid = f"Valid options of {benchmark}: {describe_options(kind)}."
    place = said_by or f'--metadata "{benchmark}"'
    _check_top_level(kind, benchmark, metadata)
    given = metadata.get(benchmark)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise OptionError(
            f'--metadata: "{benchmark}" takes a JSON object of options, as in {{"{benchmark}": {{"repeats": 2}}}}, '
            f"not {given!r}. {valid}"
        )
    try:
        return kind(**{**defaults, **_plain(kind, place, given)})
    except ValidationError as error:
        problems = "; ".join(dict.fromkeys(_explain(problem, kind) for problem in error.errors()))
        raise OptionError(f"{place}: {problems}. {valid}") from None


def _plain(kind: type[Options], place: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The user's options under their own names, without those that null leaves at their default."""
    _refuse(kind, place, given)
    plain: dict[str, Any] = {}
    for key, value in given.items():
        name = kind.aliases.get(key, key)
        if value is None and name in kind.model_fields:
            continue
        if name in plain and plain[name] != value:
            raise OptionError(f"{place}: {key} is another name of {name}, and their values differ")
        plain[name] = value
    return plain


def check_effect(benchmark: str, options: Sequence[Options], given: Mapping[str, Any], is_generated: bool) -> None:
    """That what a user has set is of effect in one of the benchmark's tasks at least; false and null set nothing.

    Raises:
        OptionError: for the first option that others turn off in all of them, or that is for generated text.
    """
    for said in _of_no_effect(options, given):
        raise OptionError(f"{benchmark}: {said}: set that too, or leave it out")
    for name in (key for key, value in given.items() if key in type(options[0]).needs and value and not is_generated):
        raise OptionError(f"{benchmark}: {name} is for generated answers, and the tasks score logits: leave it out")


def warn_of_no_effect(task: str, options: Options, given: Mapping[str, Any] | None) -> None:
    """Say which options others turn off, in a task that does not know whether another one takes them."""
    for said in _of_no_effect([options], given or {}):
        logger.warning("%s: %s", task, said)


def _of_no_effect(options: Sequence[Options], given: Mapping[str, Any]) -> Iterator[str]:
    kind = type(options[0])
    for key, value in given.items():
        name = kind.aliases.get(key, key)
        need = kind.needs.get(name)
        if need and value not in (None, False) and not any(need.is_met(each) for each in options):
            yield f"{name} is of no effect without {need.says}"


def _refuse(kind: type[Options], place: str, given: Mapping[str, Any]) -> None:
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


def _check_top_level(kind: type[Options], benchmark: str, metadata: Mapping[str, Any]) -> None:
    """Catch options that would otherwise be ignored in silence: misplaced, or under a misspelt benchmark."""
    known = (*cards(), DATA_KEY)
    _refuse(kind, "--metadata", metadata)
    for name in metadata:
        if name in known:
            continue
        if name in kind.model_fields and name not in _SHARED_WITH_MODEL_ARGUMENTS:
            raise OptionError(
                f"--metadata: option {name!r} belongs under its benchmark: "
                f'\'{{"{benchmark}": {{"{name}": ...}}}}\', not at the top level'
            )
        near = _near_miss(name, known)
        if near:
            raise OptionError(f"--metadata: unknown name {name!r}; did you mean {near!r}? Valid: {', '.join(known)}")


def _near_miss(name: str, known: Sequence[str]) -> str | None:
    """The known name that another was meant to be: in other case, cut short, with a task's suffix, or misspelt."""
    folded = name.lower().replace("-", "_")
    related = (key for key in known if folded.startswith(key) or (len(folded) > 3 and key.startswith(folded)))
    return next(related, None) or next(iter(difflib.get_close_matches(folded, known, n=1, cutoff=0.8)), None)


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
