"""``medtasks greet``."""

from dataclasses import dataclass

from medtasks_utils.commands.flags import Command, CommandResult


@dataclass
class Greet(Command):
    """Say hello.

    Attributes:
        name: whom to
    """

    name: str

    def run(self) -> CommandResult:
        """Greet."""
        return CommandResult([f"hello {self.name}"], {"hello": self.name})
