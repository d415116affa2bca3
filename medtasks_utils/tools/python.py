"""Define the Python tool, which runs code in :mod:`medtasks_utils.sandbox`."""

from collections.abc import Sequence
from typing import ClassVar

from .tool import CallResult, Tool


class PythonTool(Tool):
    """A tool that runs Python code in a sandbox and keeps variables within a session."""

    name = "python"
    aliases: ClassVar[tuple[str, ...]] = ("code_interpreter",)
    languages: ClassVar[tuple[str, ...]] = ("python", "python3", "py", "tool_code")
    argument = "code"
    description = (
        "runs Python code and returns what it prints and the value of its last expression. The standard library, "
        "numpy, scipy, pandas and dateutil can be imported; files and the network cannot be reached. "
        "Variables are kept from one call to the next."
    )
    example = "from datetime import date, timedelta\\nprint(date(2021, 5, 4) + timedelta(days=280))"

    offers = "run Python code in a sandbox"
    runs_code = True
    is_repl: ClassVar[bool] = False
    """True to run code in the REPL of :mod:`medtasks_utils.sandbox.inside.repl`, False to run it as a script."""

    def __init__(self, *, timeout: float = 10.0, weak_sandbox: bool = False) -> None:
        from medtasks_utils.sandbox import Sandbox

        self._sandbox = Sandbox(timeout=timeout, weak=weak_sandbox, repl=self.is_repl)

    def run(self, calls: Sequence[tuple[str, str]]) -> list[CallResult]:
        """Run calls, pairs of a session's key and code: sessions in parallel, the calls of one session in order."""
        return [CallResult(*result) for result in self._sandbox.run(calls)]

    @property
    def description_of_machine(self) -> str:
        """The interpreter and the layers that confine it; starts the sandbox if necessary."""
        return self._sandbox.started().description

    def forget(self, session: str) -> None:
        """End a session and discard its variables."""
        self._sandbox.forget(session)

    def close(self) -> None:
        """End the sandbox's processes."""
        self._sandbox.close()
