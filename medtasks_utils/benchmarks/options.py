"""Options under ``--metadata '{"<benchmark>": {...}}'``: typed, checked before the model runs, one line when wrong."""

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, create_model
from pydantic_core import ErrorDetails

from medtasks_utils.errors import UsageError, did_you_mean
from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.tool import Tool


class Options(BaseModel):
    """What every benchmark takes; each benchmark's own options derive from it.

    What a class says of its attributes is what ``medtasks eval --help`` says of them: a line for each.

    Attributes:
        repeats: generations per example; metrics are means over them
        revision: revision of the hub repository; the pinned one if none
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # What results' signatures (.signature) make of options: those that only choose rows, and those that change no score
    # or are told by another field. All others set results apart.
    choose_rows: ClassVar[frozenset[str]] = frozenset()
    not_signed: ClassVar[frozenset[str]] = frozenset({"repeats", "revision"})

    # Those by which rows are left out: a row that is scored by itself is chosen already.
    leave_out: ClassVar[frozenset[str]] = frozenset()
    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of options."""
    needs: ClassVar[Mapping[str, str]] = {}
    """By option, what it is of no effect without, as in ``use_judge=true``; of several, ``or`` between them, any."""

    costly: ClassVar[Mapping[str, frozenset[str]]] = {}
    """By the switch of scores that take files, models or money beyond the rows, the options that ask for them too."""

    repeats: PositiveInt = 1
    revision: str | None = None

    @classmethod
    def __pydantic_init_subclass__(cls, **settings: Any) -> None:
        texts = "\n".join(kind.__doc__ or "" for kind in reversed(cls.__mro__))
        for name, text in re.findall(r"^ +(\w+): (.+)$", texts, re.MULTILINE):
            if name in cls.model_fields:
                cls.model_fields[name].description = text

    @classmethod
    def without_costly(cls, given: Collection[str] = ()) -> dict[str, bool]:
        """Return the settings that switch costly scores off, but for those that the given options ask for."""
        return {switch: False for switch, asking in cls.costly.items() if asking.isdisjoint(given)}

    def has_effect(self, name: str) -> bool:
        """Whether one of the settings that an option needs is made, if it needs any."""
        settings = [setting.partition("=") for setting in self.needs.get(name, "").split(" or ")]
        return any(value in default_text(getattr(self, key, None)) for key, _, value in settings)


def switch_of(tool: str) -> str:
    """Return the name of the option that turns a tool on."""
    return f"add_{tool}_tool"


_SWITCHES: dict[str, Any] = {
    switch_of(name): (bool, Field(False, description=f"let the model {kind.offers}")) for name, kind in TOOLS.items()
}


def tools_in(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that options turn on, as a run has saved them."""
    return [name for name in TOOLS if options.get(switch_of(name))]


class ToolOptions(create_model("Switches", __base__=Options, **_SWITCHES)):  # type: ignore[misc]
    """Options of a benchmark that offers tools: ``add_<name>_tool`` for each that there is, and their limits.

    Attributes:
        max_turns: replies of the model per example, at most, when it has tools
        tool_format: native (the server's or the chat template's own function calls), text, or auto: native if possible
        tool_timeout: seconds for one call of the Python tool
        weak_sandbox: where the kernel cannot confine the Python tool: accept RestrictedPython, which is no boundary
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
        """The tools that are on."""
        return [TOOLS[name] for name in tools_in(self.model_dump())]


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
        UsageError: for a misspelt or ill-typed option, naming what is valid.
    """
    others = {name: f" or {alias}" for alias, name in kind.aliases.items()}
    known = [
        f"{name}{others.get(name, '')} ({default_text(field.default)})" for name, field in kind.model_fields.items()
    ]
    valid = f"Valid options of {benchmark}: {', '.join(known)}."
    if not isinstance(given, Mapping | None):
        raise UsageError(
            f'{place} takes a JSON object of options, as in {{"{benchmark}": {{"repeats": 2}}}}, not {given!r}. {valid}'
        )
    own: dict[str, Any] = {}
    for key, value in (given or {}).items():
        name = kind.aliases.get(key, key)
        if value is not None or name not in kind.model_fields:
            own[name] = value
    try:
        return kind(**{**defaults, **own})
    except ValidationError as error:
        problems = "; ".join(dict.fromkeys(_explain(problem, kind) for problem in error.errors()))
        raise UsageError(f"{place}: {problems}. {valid}") from None


def default_text(value: object) -> str:
    """A default as messages and help show it."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _explain(problem: ErrorDetails, kind: type[Options]) -> str:
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if not problem["loc"]:  # a check over several options
        return message
    name = str(problem["loc"][0])
    if name not in kind.model_fields:
        return f"unknown option {name!r}{did_you_mean(repr(name), map(repr, kind.model_fields))}"
    return f"{name} {message}, not {problem['input']!r}"
