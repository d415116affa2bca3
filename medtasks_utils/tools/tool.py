"""Define the base class of tools."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from medtasks_utils.writing import JsonObject


class CallResult(NamedTuple):
    """The result of a call. ``text`` is the result or, if the call failed, an error message, both for the model."""

    text: str
    failed: bool


class Tool(ABC):
    """A tool with a single string argument. Call :meth:`close` after use.

    Attributes:
        name: the name that calls use, in lower case.
        aliases: other accepted names, in lower case.
        languages: the languages, in lower case, of fenced code blocks that count as calls, with the block as argument.
        argument: the name of the argument.
        description: the description that the model reads.
        example: an example of the argument, escaped as in a JSON string.
        offers: a verb phrase for the help text of the option that adds the tool.
        runs_code: True if the tool runs code that the model writes; ``--confirm_run_unsafe_code`` is then required.
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
        """Accept the options of all tools, of which each tool uses only those that apply to it.

        Args:
            timeout: the maximum wall-clock time of a call, in seconds.
            weak_sandbox: True to run RestrictedPython if the kernel cannot confine plain Python.
        """

    @classmethod
    def schema(cls) -> JsonObject:
        """Return the tool's description for native function calls, in OpenAI's format."""
        example = json.loads(f'"{cls.example}"')
        properties = {cls.argument: {"type": "string", "description": f"for example: {example}"}}
        parameters = {"type": "object", "properties": properties, "required": [cls.argument]}
        function = {"name": cls.name, "description": cls.description, "parameters": parameters}
        return {"type": "function", "function": function}

    @abstractmethod
    def run(self, calls: Sequence[tuple[str, str]]) -> list[CallResult]:
        """Run calls, pairs of a session's key and an argument, and return their results in the same order.

        The calls of one session run in order and share state. Different sessions share nothing.

        Raises:
            MedtasksError: if the tool itself cannot run. A failed call does not raise; its result has ``failed`` True.
        """

    def forget(self, session: str) -> None:  # noqa: B027 - a stateless tool has nothing to do
        """Discard the state of a session; by default, do nothing."""

    @property
    def description_of_machine(self) -> str:
        """The properties of this machine that affect results; empty if there are none."""
        return ""

    def close(self) -> None:  # noqa: B027
        """Release the tool's resources; by default, do nothing."""
