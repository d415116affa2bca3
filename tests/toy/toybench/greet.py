"""``medtasks greet``."""

from pydantic.dataclasses import dataclass

from medtasks_utils.commands.flags import Command, CommandResult


@dataclass
class Greet(Command):
    """Greet someone."""

    about = "Say hello."

    name: str
    """whom to"""

    def run(self) -> CommandResult:
        """Greet."""
        return CommandResult([f"hello {self.name}"], {"hello": self.name})
