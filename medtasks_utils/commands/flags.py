"""The base class of commands: a command's fields are its arguments, and its docstring is its help."""

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

_NARGS: dict[Any, Any] = {tuple: "+", Sequence: 1}
"""How many words an argument of these types takes each time that it is given, as argparse writes it."""
_FIELD = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(kw_only=True)
class Command(ABC):
    """A command of the console script.

    Each field is an argument of its type and with its default; keyword-only fields are flags. A tuple takes several
    words, a sequence one word each time that its flag is given. The help of a field is its line under ``Attributes`` in
    the docstring, and the help of the command is the text above.

    Attributes:
        json: print the result as JSON
    """

    json: bool = False

    @classmethod
    def help(cls) -> str:
        """Return what the command does; the list of commands shows the first line."""
        return str(getdoc(cls)).partition("\n\nAttributes:")[0]

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an argument for each field."""
        kinds = get_type_hints(cls, include_extras=True)
        descriptions: dict[str, str] = {}
        for ancestor in reversed(cls.__mro__):
            descriptions |= _FIELD.findall(str(getdoc(ancestor)))
        for field in (field for field in fields(cls) if field.init):
            kind, is_required = kinds[field.name], field.default is MISSING
            description = descriptions[field.name].replace("%", "%%")
            settings: dict[str, Any] = {"default": argparse.SUPPRESS, "help": description}
            if kind is bool:
                settings["action"] = "store_true"
            elif get_origin(kind) in _NARGS:
                nargs = _NARGS[get_origin(kind)] if field.kw_only or is_required else "*"
                settings |= {"type": _reader_of(get_args(kind)[0]), "action": "extend", "nargs": nargs}
            else:
                settings["type"] = _reader_of(kind)
            if field.kw_only:
                short = ["-o"] if field.name == "output" else []
                parser.add_argument(*short, f"--{field.name}", required=is_required, **settings)
            else:
                if not is_required:
                    settings.setdefault("nargs", "?")
                parser.add_argument(field.name, **settings)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "Command":
        """Return the command with the arguments that were typed."""
        return cls(**vars(arguments))

    @abstractmethod
    def run(self) -> CommandResult | None:
        """Run the command; return the result to print, or None for nothing."""

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
    """Return a function that converts a word of the command line to a type, for argparse."""
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
        base: base URL of the endpoint, as in http://localhost:8000/v1; default: OpenAI's
        key_var: environment variable that holds the API key; default: JUDGE_API_KEY, else OPENAI_API_KEY
        max_tokens: most tokens of a reply, reasoning included; default: 4096
        max_retries: how often a failed call is retried; default: 6
        concurrency: most calls in flight at once; default: 16
        cache: file that keeps answered calls; default: one in the user's cache folder
    """

    model: str | None = None
    base: str | None = None
    key_var: str | None = None
    max_tokens: PositiveInt = 4096
    max_retries: NonNegativeInt = 6
    concurrency: PositiveInt = 16
    cache: str | None = None

    def settings(self, pause: float = 0.0) -> "JudgeSettings":
        """Return the settings of the judge or auditor; ``pause`` is the seconds to wait after each call."""
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
