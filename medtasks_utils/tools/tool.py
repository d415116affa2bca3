"""The base class of tools: a name, one argument, a description for the model, and a way to run many calls at once."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple


class Outcome(NamedTuple):
    """The outcome of a call: its result or, if it failed, an error message; the model reads either."""

    text: str
    failed: bool


class Tool(ABC):
    """A tool with one argument, a string. Close it after use.

    Attributes:
        name: the name that calls use.
        aliases: other names that are accepted.
        languages: a fenced code block in one of these languages counts as a call, with the block as its argument.
        argument: the name of the argument.
        description: the description that the model reads.
        example: an example of the argument, escaped as in a JSON string.
        offers: what the tool lets a model do, for the help text of the option that adds it.
        runs_code: True if the tool runs code that the model writes, which the user has to confirm.
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
        """Take the options of all tools (``timeout`` in seconds); a tool uses those that concern it."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the tool's description for native function calls, in OpenAI's format."""
        example = json.loads(f'"{cls.example}"')
        properties = {cls.argument: {"type": "string", "description": f"for example: {example}"}}
        parameters = {"type": "object", "properties": properties, "required": [cls.argument]}
        function = {"name": cls.name, "description": cls.description, "parameters": parameters}
        return {"type": "function", "function": function}

    @abstractmethod
    def run(self, calls: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Run calls and return their outcomes in the same order.

        Calls of one session run in order and share their state; different sessions share nothing.

        Args:
            calls: pairs of a session's key and an argument.

        Raises:
            MedtasksError: if the tool itself cannot run. A call that fails is an outcome.
        """

    def forget(self, session: str) -> None:  # noqa: B027 - a stateless tool has nothing to do
        """Discard the state of a session."""

    @property
    def description_of_machine(self) -> str:
        """A description of what results depend on in this machine; empty if they depend on nothing."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Release the tool's resources."""
