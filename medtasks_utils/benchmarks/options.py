"""Define the options of benchmarks, and merge the user's options over those in a task's YAML."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, create_model

from medtasks_utils.errors import UsageError, did_you_mean, in_words
from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.tool import Tool

from .facts import TaskInfo


def default_text(value: object) -> str:
    """Format the value of an option for messages and help texts."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return str(value).lower() if isinstance(value, bool | None) else str(value)


class Needs(NamedTuple):
    """The condition under which an option has an effect: ``words`` for messages, ``are_met`` to check the options."""

    words: str
    are_met: Callable[[Any], bool]


def any_of(**settings: object) -> Needs:
    """Return a condition that is met if any of the options equals its given value or, as a tuple, includes it."""

    def is_made(setting: object, value: object) -> bool:
        return setting in value if isinstance(value, tuple) else setting == value

    def are_met(options: "Options") -> bool:
        return any(is_made(setting, getattr(options, name, None)) for name, setting in settings.items())

    return Needs(" or ".join(f"{name}={default_text(value)}" for name, value in settings.items()), are_met)


class About(NamedTuple):
    """Properties of an option, stated in the ``Annotated`` type of its field.

    Attributes:
        chooses_rows: True if the option only chooses rows, which signatures cover by a hash of the rows.
        is_signed: False if the option changes no score, or a different part of the signature covers the option. Results
            that differ in a signed option are not comparable.
        needs: the option's condition for having an effect; None if there is none.
        other_name: an alternative name that users may write; empty if there is none.
        implied_by: for an option that turns on costly scores (downloads, models or paid requests), the options that
            request them. Where costs are unwanted, the option is off unless one of these is set. Empty for options
            without costs.
    """

    chooses_rows: bool = False
    is_signed: bool = True
    needs: Needs | None = None
    other_name: str = ""
    implied_by: tuple[str, ...] = ()


AnyOptions = TypeVar("AnyOptions", bound="Options")

CHOOSES_ROWS, UNSIGNED = About(chooses_rows=True), About(is_signed=False)
OF_GENERATED = About(needs=Needs("generated answers", lambda options: True))


class Options(BaseModel):
    """The options that every benchmark has; each benchmark derives its own class from this one.

    The docstring of a field is its description in ``medtasks eval --help``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    fixed: ClassVar[tuple[str, ...]] = ()
    """options that a published protocol fixes at their defaults"""

    repeats: Annotated[PositiveInt, UNSIGNED] = 1
    """number of generations per example; metrics are means over them"""
    repeats_in_one_request: Annotated[bool, UNSIGNED] = False
    """request all generations of an example together (the parameter n), if the server can"""
    revision: Annotated[str | None, UNSIGNED] = None
    """commit, tag or branch of the Hub repository to read instead of the pinned commit"""
    ask_confidence: Annotated[bool, OF_GENERATED] = False
    """ask for the probability that the answer is right, for metrics of calibration"""
    system_role: Annotated[Literal["auto", "user", "system"], UNSIGNED] = "auto"
    """place of the instructions: system or user (a message of this role), or auto (as the chat template allows)"""

    @classmethod
    def of_environment(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for reading responses from a run in a different harness; by default, none.

        Args:
            arguments: the arguments of the environment in the other harness.
        """
        return {}

    def check(self, task: TaskInfo) -> list[str]:
        """Return warnings about unusual options, one line each; by default, none.

        Raises:
            UsageError: for options that do not apply to the task, or whose values its protocol fixes.
        """
        for name in self.fixed:
            default = type(self).model_fields[name].default
            if getattr(self, name) != default:
                raise UsageError(f"{task.name}: its protocol fixes {name} at {default_text(default)}; omit it")
        return []

    @classmethod
    def saved(cls: "type[AnyOptions]", values: Mapping[str, Any]) -> "AnyOptions":
        """Return the options of a saved run; unknown options are dropped, and invalid ones get their defaults."""
        try:
            return cls.model_validate(values, strict=False)
        except ValidationError as error:
            invalid = {problem["loc"][0] for problem in error.errors() if problem["loc"]} or values.keys()
            return cls.saved({name: value for name, value in values.items() if name not in invalid})

    @classmethod
    @cache
    def about(cls) -> dict[str, About]:
        """Return the :class:`About` of each option."""
        return {name: _about(option.metadata) for name, option in cls.model_fields.items()}

    @classmethod
    def without_costly(cls, given: Collection[str] = ()) -> dict[str, bool]:
        """Return settings that turn off all options with costly scores, except those that ``given`` options imply."""
        costly = {name: about.implied_by for name, about in cls.about().items() if about.implied_by}
        return {name: False for name, asking in costly.items() if {*asking}.isdisjoint(given)}


def _about(metadata: Sequence[Any]) -> About:
    """Return the :class:`About` in a field's metadata, or the default one."""
    return next((fact for fact in metadata if isinstance(fact, About)), About())


def switch_of(tool: str) -> str:
    """Return the name of the option that turns on a tool."""
    return f"add_{tool}_tool"


_SWITCHES: dict[str, Any] = {
    switch_of(name): (bool, Field(False, description=f"let the model {kind.offers}")) for name, kind in TOOLS.items()
}
_WITH_A_TOOL = About(needs=any_of(**dict.fromkeys(_SWITCHES, True)))
_WITH_PYTHON = About(needs=any_of(add_python_tool=True))


def tools_in(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a run's saved options turn on."""
    return [name for name in TOOLS if options.get(switch_of(name))]


class ToolOptions(create_model("Switches", __base__=Options, **_SWITCHES)):  # type: ignore[misc]
    """Options of a benchmark with tools: ``add_<name>_tool`` for each tool, and their limits."""

    max_turns: Annotated[PositiveInt, _WITH_A_TOOL] = 20
    """maximum number of replies in a conversation with tools"""
    tool_format: Annotated[Literal["auto", "native", "text"], _WITH_A_TOOL] = "auto"
    """native (function calls of the server or the chat template), text, or auto (native if possible)"""
    tool_timeout: Annotated[float, Field(gt=0, le=86_400), _WITH_PYTHON] = 10.0
    """maximum number of seconds for a call of the Python tool"""
    weak_sandbox: Annotated[bool, _WITH_PYTHON] = False
    """run RestrictedPython (not a security boundary) if the kernel cannot confine the Python tool"""

    @property
    def tools(self) -> list[type[Tool]]:
        """The classes of the tools that are turned on."""
        return [TOOLS[name] for name in tools_in(self.model_dump())]


def read_options(
    kind: type[AnyOptions], benchmark: str, defaults: Mapping[str, Any], given: Mapping[str, Any] | None
) -> AnyOptions:
    """Merge the user's options over those in the task's YAML, and check them.

    An option that the user sets to null is treated as if it were absent.

    Args:
        kind: the class of the benchmark's options.
        benchmark: the benchmark's name, for messages.
        defaults: the options that the YAML sets.
        given: the user's options.

    Raises:
        UsageError: for an unknown option, an invalid value, two values for one option, or anything other than a
            mapping. For an unknown option, the message lists the valid ones.
    """
    valid = f"Valid options of {benchmark}: " + ", ".join(
        f"{name} ({default_text(field.default)})" for name, field in kind.model_fields.items()
    )
    if not isinstance(given, Mapping | None):
        raise UsageError(f"{benchmark} takes a JSON object of options, not {given!r}. {valid}")
    names = {about.other_name: name for name, about in kind.about().items() if about.other_name}
    values: dict[str, Any] = {}
    for key, value in (given or {}).items():
        name = names.get(key, key)
        if value is None and name in kind.model_fields:
            continue
        if name in values and values[name] != value:
            (other,) = (other for other, its_name in names.items() if its_name == name)
            raise UsageError(f"{benchmark}: {name} and {other} are the same option, with different values; omit one")
        values[name] = value
    try:
        return kind(**{**defaults, **values})
    except ValidationError as error:
        problems = "; ".join(dict.fromkeys(_explain(problem, kind) for problem in error.errors()))
        raise UsageError(f"{benchmark}: {problems}" + (f". {valid}" if "unknown option" in problems else "")) from None


def _explain(problem: Mapping[str, Any], kind: type[Options]) -> str:
    """Return a message for one of pydantic's error entries, with a suggestion for a misspelt name or value."""
    message = in_words(problem)
    if not problem["loc"]:  # a check over several options
        return message
    name = str(problem["loc"][0])
    if name not in kind.model_fields:
        return f"unknown option {name!r}{did_you_mean(repr(name), map(repr, kind.model_fields))}"
    separator = " " if message.startswith("must") else ": "
    value = problem["input"]
    if repr(value) in message:
        return f"{name}{separator}{message}"
    suggestion = did_you_mean(str(value), re.findall(r"[\w-]+", message))
    return f"{name}{separator}{message}, not {value!r}{suggestion}"
