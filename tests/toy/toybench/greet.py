"""``medtasks greet``."""

from dataclasses import dataclass

from medtasks_utils.commands.flags import Command, Printout


@dataclass
class Greet(Command):
    """Say hello.

    Attributes:
        name: whom to
    """

    name: str

    def run(self) -> Printout:
        """Greet."""
        return Printout(f"hello {self.name}", {"hello": self.name})
