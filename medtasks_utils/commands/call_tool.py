"""``medtasks tool``: call a tool by hand, with the same code as in a run."""

import sys
from contextlib import closing
from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from .flags import Command, CommandResult


@dataclass
class CallTool(Command):
    about = """
    Call a tool: code or an expression on standard input, the result on standard output.

    Exit code 1, with the error on standard error, if the call fails.
    """

    name: str
    """python (runs code in the sandbox) or calculator (evaluates an arithmetic expression)"""
    _: KW_ONLY
    timeout: Annotated[float, Field(ge=0.1, le=86_400)] = 10.0
    """maximum duration of the call in seconds; default: 10"""
    layers: bool = False
    """only list the layers of the sandbox and whether each is on"""

    def run(self) -> CommandResult:
        """Call the tool, and return its result; with ``--layers``, only start the sandbox, and return its layers.

        If the call fails, its error is printed on standard error, except with ``--json``.

        Raises:
            UsageError: if there is no such tool.
        """
        from medtasks_utils.errors import UsageError
        from medtasks_utils.tools import TOOLS
        from medtasks_utils.writing import printable

        if self.name not in TOOLS:
            raise UsageError(f"there is no tool {self.name!r}; the tools are {', '.join(TOOLS)}")
        if self.layers:
            return _layers()
        argument = printable(sys.stdin.read())
        with closing(TOOLS[self.name](timeout=self.timeout)) as tool:
            (result,) = tool.run([("", argument)])
        if result.failed and not self.json:
            print(result.text, file=sys.stderr)
        lines = [result.text] if result.text and not result.failed else []
        return CommandResult(lines, result._asdict(), result.failed)


def _layers() -> CommandResult:
    """Start the sandbox, and list its layers, each on or off. The command fails if a required layer is missing."""
    from medtasks_utils.sandbox import Sandbox

    with Sandbox(weak=True) as sandbox:
        layers, zygote = sandbox.layers, sandbox.started()
    lines = [f"{name:<12}{f'off  {reason}' if reason else 'on'}" for name, reason in layers.items()]
    data = {"layers": layers, "missing": zygote.missing}
    return CommandResult([*lines, zygote.description], data, failed=bool(zygote.missing))
