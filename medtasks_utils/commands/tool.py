"""``medtasks tool``: a tool of MedCalc-Bench by hand, by the very path of a run."""

import sys
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from pydantic import Field

from .flags import Command, Printout


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

    def run(self) -> Printout:
        """Run the call; its error goes to standard error if it fails."""
        from medtasks_utils.errors import UsageError
        from medtasks_utils.tools import TOOLS
        from medtasks_utils.writing import printable

        if self.name not in TOOLS:
            raise UsageError(f"there is no tool {self.name!r}; there are {', '.join(TOOLS)}")
        if self.layers:
            return self._layers()
        argument = printable(sys.stdin.read())
        with closing(TOOLS[self.name](timeout=self.timeout)) as tool:
            (outcome,) = tool.run([("", argument)])
        if outcome.failed and not self.json:
            print(outcome.text, file=sys.stderr)
        return Printout("" if outcome.failed else outcome.text, outcome._asdict(), outcome.failed)

    def _layers(self) -> Printout:
        """Return the sandbox's layers; failed if plain Python cannot run in it."""
        from medtasks_utils.sandbox import Sandbox

        with Sandbox(weak=True) as sandbox:
            layers, found = sandbox.layers, sandbox.started()
        lines = [f"{name:<12}{f'off  {reason}' if reason else 'on'}" for name, reason in layers.items()]
        data = {"layers": layers, "missing": found.missing}
        return Printout("\n".join([*lines, found.description]), data, failed=bool(found.missing))
