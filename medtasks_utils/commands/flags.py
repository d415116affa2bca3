"""Define the base class of commands, whose fields are the arguments and whose docstring is the help text."""

import argparse
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields
from inspect import getdoc
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from medtasks_utils.writing import SECRETS

if TYPE_CHECKING:
    from medtasks_utils.judging import JudgeSettings

_NARGS: dict[Any, Any] = {tuple: "+", Sequence: 1}
"""By type of argument, the number of words that each occurrence takes, in argparse's notation."""
_FIELD = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class CommandResult:
    """The result of a command.

    Attributes:
        lines: the text to print; an item may have several lines.
        data: lists, dicts and scalars, which are printed as JSON with ``--json``.
        failed: True if the command did not achieve its purpose; the exit code is then 1.
    """

    lines: list[str] | Iterator[str]
    data: Any
    failed: bool = False


@dataclass(kw_only=True)
class Command(ABC):
    """A command of the console script.

    Each field is an argument with the field's type and default; keyword-only fields are flags. A tuple takes several
    words; a sequence takes one word for each occurrence of its flag. The help of a field is its text under
    ``Attributes`` in the docstring, and the help of the command is the text before ``Attributes``.

    Attributes:
        json: print the result as JSON
    """

    json: bool = False
    arguments: argparse.Namespace = field(init=False)
    """The parsed arguments that are not fields, such as the flags of ``lm_eval run``."""

    @classmethod
    def help(cls) -> str:
        """Return the help text, whose first line appears in the list of commands."""
        return str(getdoc(cls)).partition("\n\nAttributes:")[0]

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an argument for each field."""
        kinds = get_type_hints(cls, include_extras=True)
        descriptions: dict[str, str] = {}
        for ancestor in reversed(cls.__mro__):
            descriptions |= _FIELD.findall(str(getdoc(ancestor)))
        for own in (each for each in fields(cls) if each.init):
            kind, is_required = kinds[own.name], own.default is MISSING
            description = descriptions[own.name].replace("%", "%%")
            settings: dict[str, Any] = {"default": argparse.SUPPRESS, "help": description}
            if kind is bool:
                settings["action"] = "store_true"
            elif get_origin(kind) in _NARGS:
                nargs = _NARGS[get_origin(kind)] if own.kw_only or is_required else "*"
                settings |= {"type": _reader_of(get_args(kind)[0]), "action": "extend", "nargs": nargs}
            else:
                settings["type"] = _reader_of(kind)
            if own.kw_only:
                short = ["-o"] if own.name == "output" else []
                parser.add_argument(*short, f"--{own.name}", required=is_required, **settings)
            else:
                if not is_required:
                    settings.setdefault("nargs", "?")
                parser.add_argument(own.name, **settings)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "Command":
        """Create the command from parsed arguments; those that are not its own remain in one namespace."""
        values = vars(arguments)
        command = cls(**{own.name: values.pop(own.name) for own in fields(cls) if own.name in values})
        command.arguments = arguments
        return command

    @abstractmethod
    def run(self) -> CommandResult | None:
        """Run the command, and return the result to print; None to print nothing."""

    def execute(self) -> int:
        """Run the command, print its result on standard output, and return the exit code."""
        result = self.run()
        if result is None:
            return 0
        for line in [json.dumps(result.data, indent=2)] if self.json else result.lines:
            print(line)
        return int(result.failed)


def _reader_of(kind: Any) -> Callable[[str], Any]:
    """Return a function for argparse that converts a word of the command line to a type."""
    adapter = TypeAdapter(kind)

    def read(word: str) -> Any:
        try:
            return adapter.validate_python(word)
        except ValidationError as error:
            raise argparse.ArgumentTypeError(f"{error.errors()[0]['msg']}, not {word!r}") from None

    return read


@dataclass(kw_only=True)
class JudgeCommand(Command):
    """A command that sends requests to an LLM.

    Attributes:
        model: the LLM; default: gpt-4o-mini
        base: base URL of the endpoint, such as http://localhost:8000/v1; default: OpenAI's
        key_var: environment variable with the API key; default: JUDGE_API_KEY, else OPENAI_API_KEY
        max_tokens: maximum number of tokens in a reply, including reasoning; default: 4096
        max_retries: maximum number of retries of a failed request; default: 6
        concurrency: maximum number of concurrent requests; default: 16
        cache: file that caches replies; default: one in the user's cache folder
    """

    model: str | None = None
    base: str | None = None
    key_var: str | None = None
    max_tokens: PositiveInt = 4096
    max_retries: NonNegativeInt = 6
    concurrency: PositiveInt = 16
    cache: str | None = None

    def settings(self, pause: float = 0.0) -> "JudgeSettings":
        """Return the settings of the LLM; ``pause`` is the number of seconds to wait after each request."""
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


def warn(*messages: str) -> None:
    """Print warnings on standard error."""
    for message in messages:
        print(f"warning: {message}", file=sys.stderr)


def print_error(message: str) -> None:
    """Print an error on standard error, without secrets."""
    print(f"medtasks: error: {SECRETS.scrub(message)}", file=sys.stderr)
