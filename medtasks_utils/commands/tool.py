"""``medtasks tool``: a tool of MedCalc-Bench by hand, by the very path of a run."""

import sys
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from pydantic import Field

from .flags import Command


@dataclass
class ToolByHand(Command):
    """Run one call of a tool: code or an expression on standard input, the result on standard output.

    Attributes:
        name: python runs code in the sandbox, calculator evaluates arithmetic
        timeout: seconds that the code may take; default: 10
        layers: show which layers of the sandbox are on, and end
    """

    name: str
    _: KW_ONLY
    timeout: Annotated[float, Field(ge=0.1, le=86_400)] = 10.0
    layers: bool = False

    def run(self) -> int:
        """Print the result, and return 0; 1 with the error on standard error if the call fails."""
        from medtasks_utils.errors import UsageError
        from medtasks_utils.tools import TOOLS
        from medtasks_utils.writing import printable

        if self.name not in TOOLS:
            raise UsageError(f"there is no tool {self.name!r}; there are {', '.join(TOOLS)}")
        if self.layers:
            return self._tell_layers()
        argument = printable(sys.stdin.read())
        with closing(TOOLS[self.name](timeout=self.timeout)) as tool:
            (outcome,) = tool.run([("", argument)])
        if outcome.failed and not self.json:
            print(outcome.text, file=sys.stderr)
            return 1
        return self.tell({"text": outcome.text, "failed": outcome.failed}, outcome.text, outcome.failed)

    def _tell_layers(self) -> int:
        """Print the table; 1 where plain Python cannot run."""
        from medtasks_utils.sandbox import Sandbox

        with Sandbox(weak=True) as sandbox:
            layers, found = sandbox.layers, sandbox.started()
        lines = [f"{name:<12}{f'off  {reason}' if reason else 'on'}" for name, reason in layers.items()]
        told = {"layers": layers, "missing": found.missing}
        return self.tell(told, "\n".join([*lines, found.description]), failed=bool(found.missing))
