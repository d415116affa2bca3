"""What a command is: its fields are what may be typed after its name, and its docstring is its help."""

import argparse
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from inspect import getdoc
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from medtasks_utils.writing import SECRETS, CommandResult

if TYPE_CHECKING:
    from medtasks_utils.judging import JudgeSettings

_LISTS: dict[Any, Any] = {tuple: "+", Sequence: 1}
_FIELD = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(kw_only=True)
class Command(ABC):
    """A command of the console script.

    Each field of a command is an argument, of its type and with its default: a flag where it is for keywords alone.
    A tuple takes several words, a sequence one each time that its flag is given. What ``Attributes`` says of a field is
    its help, and what the docstring says above is that of the command.

    Attributes:
        json: print JSON
    """

    json: bool = False

    @classmethod
    def help(cls) -> str:
        """What the command does; the first line stands for all of it in the list of commands."""
        return str(getdoc(cls)).partition("\n\nAttributes:")[0]

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an argument for each field."""
        kinds = get_type_hints(cls, include_extras=True)
        described = dict(found for kind in reversed(cls.__mro__) for found in _FIELD.findall(str(getdoc(kind))))
        for field in (field for field in fields(cls) if field.init):
            kind, is_required = kinds[field.name], field.default is MISSING
            settings: dict[str, Any] = {"default": argparse.SUPPRESS, "help": described[field.name]}
            if kind is bool:
                settings["action"] = "store_true"
            elif get_origin(kind) in _LISTS:
                nargs = _LISTS[get_origin(kind)] if field.kw_only or is_required else "*"
                settings |= {"type": _reader_of(get_args(kind)[0]), "action": "extend", "nargs": nargs}
            else:
                settings["type"] = _reader_of(kind)
            if field.kw_only:
                short = ["-o"] if field.name == "output" else []
                parser.add_argument(*short, f"--{field.name}", required=is_required, **settings)
            else:
                parser.add_argument(field.name, **settings)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "Command":
        """The command with what was typed."""
        return cls(**vars(arguments))

    @abstractmethod
    def run(self) -> CommandResult | None:
        """Run the command; return what is to be printed, or None for nothing."""

    def execute(self) -> int:
        """Run the command, print its result on standard output, and return the exit code."""
        result = self.run()
        if result is None:
            return 0
        output = json.dumps(result.to_data(), indent=2) if self.json else result.to_text()
        print(output, end="\n" if output else "", flush=True)
        return int(result.failed)


@dataclass(frozen=True)
class Printout:
    """The :class:`~medtasks_utils.writing.CommandResult` of a command that has no type of its own for its result."""

    text: str
    data: Any
    failed: bool = False

    def to_text(self) -> str:
        """Return the text."""
        return self.text

    def to_data(self) -> Any:
        """Return the data."""
        return self.data


def _reader_of(kind: Any) -> Callable[[str], Any]:
    """A reader of words of a command line."""
    adapter = TypeAdapter(kind)

    def read(word: str) -> Any:
        try:
            return adapter.validate_python(word)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input should", "must")
            raise argparse.ArgumentTypeError(f"{reason}, not {word!r}") from None

    return read


@dataclass(kw_only=True)
class JudgeCommand(Command):
    """A command that asks an LLM.

    Attributes:
        model: the LLM; default: gpt-4o-mini
        base: the endpoint, as in http://localhost:8000/v1; default: OpenAI's
        key_var: environment variable that holds the key; default: JUDGE_API_KEY, else OPENAI_API_KEY
        max_tokens: of a reply, reasoning included; default: 4096
        max_retries: further tries of a failed call; default: 6
        concurrency: calls in flight at once, at most; default: 16
        cache: file of answered calls; default: in the user's cache folder
    """

    model: str | None = None
    base: str | None = None
    key_var: str | None = None
    max_tokens: PositiveInt = 4096
    max_retries: NonNegativeInt = 6
    concurrency: PositiveInt = 16
    cache: str | None = None

    def settings(self, pause: float = 0.0) -> "JudgeSettings":
        """How the LLM is asked; ``pause`` in seconds, after each call."""
        from medtasks_utils.judging import DEFAULT_MODEL, JudgeSettings

        return JudgeSettings.from_environment(
            model=self.model or DEFAULT_MODEL,
            base_url=self.base,
            key_variable=self.key_var,
            cache=self.cache,
            max_tokens=self.max_tokens,
            max_retries=self.max_retries,
            concurrency=self.concurrency,
            pause=pause,
        )


def warn(message: str) -> None:
    """Print a warning on standard error."""
    print(f"warning: {message}", file=sys.stderr)


def print_error(message: str) -> None:
    """Print an error on standard error, without secrets."""
    print(f"medtasks: error: {SECRETS.scrub(message)}", file=sys.stderr)
