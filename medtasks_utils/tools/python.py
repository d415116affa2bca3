"""The Python tool: code in, what it prints and its last expression out, run in :mod:`medtasks_utils.sandbox`."""

from collections.abc import Sequence
from typing import ClassVar

from .tool import Outcome, Tool


class Python(Tool):
    """Python code in a sandbox; variables are kept within a session.

    Args:
        timeout: seconds of wall-clock time that a call may take.
        weak_sandbox: whether RestrictedPython alone will do, where the kernel has no boundary to offer.
    """

    name = "python"
    aliases = ("code_interpreter",)
    languages = ("python", "python3", "py", "tool_code")
    argument = "code"
    description: ClassVar[str] = (
        "runs Python code and returns what it prints and the value of its last expression. The standard library, "
        "numpy, scipy, pandas and dateutil can be imported; files and the network cannot be reached. "
        "Variables are kept from one call to the next."
    )
    example = "from datetime import date, timedelta\\nprint(date(2021, 5, 4) + timedelta(days=280))"

    offers = "run Python code in a sandbox"
    runs_code = True

    def __init__(self, *, timeout: float = 10.0, weak_sandbox: bool = False) -> None:
        from medtasks_utils.sandbox import Sandbox

        self._sandbox = Sandbox(timeout=timeout, weak=weak_sandbox)

    def run(self, calls: Sequence[tuple[str, str]]) -> list[Outcome]:
        """Run each piece of code; sessions run at once, the calls of one in order."""
        return [Outcome(result.text, result.failed) for result in self._sandbox.run(calls)]

    @property
    def description_of_machine(self) -> str:
        """What runs the code, and what confines it."""
        return self._sandbox.started().description

    def forget(self, session: str) -> None:
        """Drop a session's variables."""
        self._sandbox.forget(session)

    def close(self) -> None:
        """End the sandbox's processes."""
        self._sandbox.close()
