"""Define the options of benchmarks, set in ``--metadata`` or with ``--set``, and check them before the model runs."""

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, create_model
from pydantic_core import ErrorDetails

from medtasks_utils.errors import UsageError, did_you_mean
from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.tool import Tool


class Options(BaseModel):
    """The options that every benchmark has; each benchmark derives its own class from this one.

    The line for each attribute in a class's docstring is its description in ``medtasks eval --help``.

    Attributes:
        repeats: number of generations per example; metrics are means over them
        repeats_in_one_request: request all generations of an example together (the parameter n), if the server can
        revision: commit, tag or branch of the hub repository to read instead of the pinned commit
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # How signatures treat options. Some options only choose rows. Others change no score, or another field of the
    # signature covers them. Results that differ in any other option are not comparable.
    choose_rows: ClassVar[frozenset[str]] = frozenset()
    not_signed: ClassVar[frozenset[str]] = frozenset({"repeats", "repeats_in_one_request", "revision"})

    # Options that leave out rows. They are ignored when a single row is scored, since the caller has chosen that row.
    leave_out: ClassVar[frozenset[str]] = frozenset()
    aliases: ClassVar[Mapping[str, str]] = {}
    """Names of options, by their alternative names."""
    needs: ClassVar[Mapping[str, str]] = {}
    """The setting that an option needs to have an effect, such as ``use_judge=true``; ``or`` joins alternatives."""

    costly: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Options that turn on scores with downloads, models or paid requests, each with the options that imply it."""

    repeats: PositiveInt = 1
    repeats_in_one_request: bool = False
    revision: str | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **settings: Any) -> None:
        texts = "\n".join(kind.__doc__ or "" for kind in reversed(cls.__mro__))
        for name, text in re.findall(r"^ +(\w+): (.+)$", texts, re.MULTILINE):
            if name in cls.model_fields:
                cls.model_fields[name].description = text

    @classmethod
    def without_costly(cls, given: Collection[str] = ()) -> dict[str, bool]:
        """Return settings that turn costly scores off, except those that the given options ask for."""
        return {switch: False for switch, asking in cls.costly.items() if asking.isdisjoint(given)}

    def has_effect(self, name: str) -> bool:
        """Return True if an option needs no other setting to have an effect, or if that setting is made."""
        settings = [setting.partition("=") for setting in self.needs.get(name, "").split(" or ")]
        return any(value in default_text(getattr(self, key, None)) for key, _, value in settings)


def switch_of(tool: str) -> str:
    """Return the name of the option that turns a tool on."""
    return f"add_{tool}_tool"


_SWITCHES: dict[str, Any] = {
    switch_of(name): (bool, Field(False, description=f"let the model {kind.offers}")) for name, kind in TOOLS.items()
}


def tools_in(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a run's saved options turn on."""
    return [name for name in TOOLS if options.get(switch_of(name))]


class ToolOptions(create_model("Switches", __base__=Options, **_SWITCHES)):  # type: ignore[misc]
    """Options of a benchmark with tools: ``add_<name>_tool`` for each tool, and their limits.

    Attributes:
        max_turns: maximum number of replies in a conversation, if the model has tools
        tool_format: native (function calls of the server or the chat template), text, or auto (native if possible)
        tool_timeout: maximum number of seconds for a call of the Python tool
        weak_sandbox: run RestrictedPython (not a security boundary) if the kernel cannot confine the Python tool
    """

    needs: ClassVar = {
        **dict.fromkeys(("max_turns", "tool_format"), " or ".join(f"{name}=true" for name in _SWITCHES)),
        **dict.fromkeys(("tool_timeout", "weak_sandbox"), "add_python_tool=true"),
    }

    max_turns: PositiveInt = 20
    tool_format: Literal["auto", "native", "text"] = "auto"
    tool_timeout: float = Field(10.0, gt=0, le=86_400)
    weak_sandbox: bool = False

    @property
    def tools(self) -> list[type[Tool]]:
        """The classes of the tools that are turned on."""
        return [TOOLS[name] for name in tools_in(self.model_dump())]


AnyOptions = TypeVar("AnyOptions", bound=Options)


def read_options(
    kind: type[AnyOptions], benchmark: str, defaults: Mapping[str, Any], given: Mapping[str, Any] | None
) -> AnyOptions:
    """Merge the user's options over those of the task's YAML, and check them. A null counts as not set.

    Args:
        kind: the class of the benchmark's options.
        benchmark: the benchmark's name, for messages.
        defaults: the options that the YAML sets.
        given: the options that the user sets.

    Raises:
        UsageError: for an unknown option, an invalid value, two values for one option, or anything other than a
            mapping. For an unknown option, the message lists the valid ones.
    """
    valid = f"Valid options of {benchmark}: " + ", ".join(
        f"{name} ({default_text(field.default)})" for name, field in kind.model_fields.items()
    )
    if not isinstance(given, Mapping | None):
        raise UsageError(f"{benchmark} takes a JSON object of options, not {given!r}. {valid}")
    values: dict[str, Any] = {}
    for key, value in (given or {}).items():
        name = kind.aliases.get(key, key)
        if value is None and name in kind.model_fields:
            continue
        if values.setdefault(name, value) != value:
            raise UsageError(f"{benchmark}: {name} is set to different values under its two names; leave one out")
    try:
        return kind(**{**defaults, **values})
    except ValidationError as error:
        problems = "; ".join(dict.fromkeys(_explain(problem, kind) for problem in error.errors()))
        raise UsageError(f"{benchmark}: {problems}" + (f". {valid}" if "unknown option" in problems else "")) from None


def default_text(value: object) -> str:
    """Format the value of an option for messages and help texts."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _explain(problem: ErrorDetails, kind: type[Options]) -> str:
    """Describe a validation error of pydantic in one line."""
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "must")
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
