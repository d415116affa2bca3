"""What a tool is: a name, one argument, a text that tells the model of it, and a way to run many calls at once."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple


class Outcome(NamedTuple):
    """What a call gave: the result or, if it failed, an error for the model to read."""

    text: str
    failed: bool


class Tool(ABC):
    """A tool with one argument, a text. Closed after use.

    Attributes:
        name: what calls call it.
        aliases: other names that are accepted.
        languages: a fenced block in one of these is a call, with the block as its argument.
        argument: the name of the argument.
        description: what the model is told of it.
        example: an argument, as it stands in a JSON string.
        offers: what the model may do with it, for the help of the option that adds it.
        runs_code: whether it runs code that the model writes, which the user has to confirm.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    languages: ClassVar[tuple[str, ...]] = ()
    argument: ClassVar[str]
    description: ClassVar[str]
    example: ClassVar[str]
    offers: ClassVar[str]
    runs_code: ClassVar[bool] = False

    def __init__(self, *, timeout: float = 10.0, weak_sandbox: bool = False) -> None:  # noqa: B027
        """Of the options, ``timeout`` in seconds, it heeds what concerns it."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """What servers and chat templates with native function calls are told of it, in OpenAI's form."""
        example = json.loads(f'"{cls.example}"')
        properties = {cls.argument: {"type": "string", "description": f"for example: {example}"}}
        parameters = {"type": "object", "properties": properties, "required": [cls.argument]}
        function = {"name": cls.name, "description": cls.description, "parameters": parameters}
        return {"type": "function", "function": function}

    @abstractmethod
    def run(self, calls: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Run calls, each a session's key and an argument; the outcomes come in the order of the calls.

        Calls of one session run in order and share what they define; sessions share nothing.

        Raises:
            MedtasksError: if the tool as a whole cannot go on. A call that fails is an outcome.
        """

    def forget(self, session: str) -> None:  # noqa: B027 - a tool without a state has nothing to do
        """Drop what a session's calls have defined."""

    @property
    def description_of_machine(self) -> str:
        """What of this machine the results depend on; empty if nothing."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Give back what the tool holds."""
