"""Define the base class of commands, whose fields are their arguments."""

import argparse
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args, get_origin

from pydantic import ConfigDict, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo

from medtasks_utils.errors import UsageError, in_words
from medtasks_utils.writing import SECRETS, filled, one_line

if TYPE_CHECKING:
    from medtasks_utils.judging import JudgeSettings


class CommandResult(NamedTuple):
    """The result of a command.

    Attributes:
        lines: the text to print; an item may have several lines.
        data: the JSON-compatible result, printed with ``--json``.
        failed: True if the command did not achieve its purpose; the exit code is then 1.
    """

    lines: Iterable[str]
    data: Any
    failed: bool = False


@dataclass(kw_only=True, config=ConfigDict(use_attribute_docstrings=True, arbitrary_types_allowed=True))
class Command(ABC):
    """A command of the console script; derived classes are dataclasses of pydantic.

    Each field is an argument with the field's type and default, and each keyword-only field a flag. A tuple takes one
    or more words; a sequence takes one word per occurrence of its flag. The docstring of a field is its help text.
    """

    about: ClassVar[str]
    """The help text, whose first line appears in the list of commands."""
    __pydantic_fields__: ClassVar[dict[str, FieldInfo]]

    json: bool = False
    """print the result as JSON"""
    arguments: argparse.Namespace = field(init=False)
    """The parsed arguments that are not fields, such as the flags of ``lm_eval run``."""

    @classmethod
    def help(cls) -> str:
        """Return the help text: ``about``, wrapped at 80 columns except for its examples."""
        paragraphs = cleandoc(cls.about).split("\n\n")
        return "\n\n".join(text if "\n  " in text else filled(one_line(text)) for text in paragraphs)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an argument to a parser for each field that the constructor takes."""
        texts: dict[str, str] = {}
        for kind in reversed(cls.__mro__):  # pydantic reads only the docstrings in a class itself
            declared = vars(kind).get("__pydantic_fields__", {})
            texts |= {name: argument.description for name, argument in declared.items() if argument.description}
        for name, argument in cls.__pydantic_fields__.items():
            if argument.init:
                _add_argument(parser, name, argument, texts[name])

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> "Command":
        """Create the command from parsed arguments; arguments that are not fields remain in :attr:`arguments`."""
        values = vars(arguments)
        command = cls(**{field.name: values.pop(field.name) for field in fields(cls) if field.name in values})
        command.arguments = arguments
        return command

    @abstractmethod
    def run(self) -> CommandResult | None:
        """Run the command, and return the result to print; None to print nothing."""

    def execute(self) -> int:
        """Run the command, print its result on standard output, as JSON with ``--json``, and return the exit code."""
        result = self.run()
        if result is None:
            return 0
        for line in [json.dumps(result.data, indent=2)] if self.json else result.lines:
            print(line)
        return int(result.failed)


def _add_argument(parser: argparse.ArgumentParser, name: str, argument: FieldInfo, text: str) -> None:
    """Add the argument for a field of a command, with its help text."""
    kind, is_required = argument.annotation, argument.is_required()
    settings: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
    if kind is bool:
        settings["action"] = "store_true"
    elif get_origin(kind) in (tuple, Sequence):
        settings |= {"action": "extend", "type": _reader_of(get_args(kind)[0])}
        several = "+" if argument.kw_only or is_required else "*"
        settings["nargs"] = several if get_origin(kind) is tuple else 1
    else:
        settings["type"] = _reader_of(argument.rebuild_annotation())
    if argument.kw_only:
        names = ["-o", "--output"] if name == "output" else [f"--{name}"]
        parser.add_argument(*names, required=is_required, **settings)
    else:
        parser.add_argument(name, **(settings if is_required else {"nargs": "?"} | settings))


def _reader_of(kind: Any) -> Callable[[str], object]:
    """Return a function that converts a command-line word to a type, for argparse."""
    adapter: TypeAdapter[object] = TypeAdapter(kind)

    def read(word: str) -> object:
        try:
            return adapter.validate_python(word)
        except ValidationError as error:
            raise argparse.ArgumentTypeError(f"{in_words(error.errors()[0])}, not {word!r}") from None

    return read


@dataclass(kw_only=True)
class JudgeCommand(Command):
    """A command that sends requests to an LLM."""

    model: str | None = None
    """the LLM; default: gpt-4o-mini"""
    base: str | None = None
    """base URL of the endpoint, such as http://localhost:8000/v1; default: OpenAI's"""
    key_var: str | None = None
    """environment variable with the API key; default: JUDGE_API_KEY, else OPENAI_API_KEY"""
    max_tokens: PositiveInt = 4096
    """maximum number of tokens in a reply, including reasoning; default: 4096"""
    max_retries: NonNegativeInt | None = None
    """maximum number of retries of a failed request; default: as many as fit into ten minutes"""
    concurrency: PositiveInt = 16
    """maximum number of concurrent requests; default: 16"""
    cache: str | None = None
    """file that caches replies; default: one in the user's cache folder"""

    def settings(self, pause: float = 0.0) -> "JudgeSettings":
        """Return the settings of the LLM; ``pause`` is the number of seconds to wait after each request.

        Raises:
            UsageError: if ``--model`` is not valid.
        """
        from medtasks_utils.judging import DEFAULT_MODEL, JudgeSettings, model_names

        try:
            model = model_names(DEFAULT_MODEL if self.model is None else self.model)
        except ValueError as error:
            raise UsageError(f"--model {error}") from None
        return JudgeSettings.from_environment(
            model=model,
            base_url=self.base,
            key_variable=self.key_var,
            cache=self.cache,
            max_tokens=self.max_tokens,
            max_retries=self.max_retries,
            concurrency=self.concurrency,
            pause=pause,
        )


def described(rows: Iterable[tuple[str, str]], columns: int = 26) -> list[str]:
    """Return names and descriptions in two columns, as argparse prints them; a long name gets its own line."""
    indent = " " * (columns + 2)
    return [
        filled(f"{name:<{columns}}  {text}", indent)
        if len(name) <= columns
        else f"{name}\n{filled(indent + text, indent)}"
        for name, text in rows
    ]


def warn(*messages: str) -> None:
    """Print warnings on standard error."""
    for message in messages:
        print(f"warning: {message}", file=sys.stderr)


def print_error(message: str) -> None:
    """Print an error on standard error, with secrets hidden and control characters removed."""
    print(f"medtasks: error: {SECRETS.shown(message)}", file=sys.stderr)
