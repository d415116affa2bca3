"""``medtasks greet``."""

from __future__ import annotations

from dataclasses import dataclass

from medtasks_utils.commands.flags import Command


@dataclass
class Greet(Command):
    """Say hello.

    Attributes:
        name: whom to
    """

    name: str

    def run(self) -> int:
        """Greet."""
        return self.tell({"hello": self.name}, f"hello {self.name}")
