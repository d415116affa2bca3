"""Replace parts of lm_eval. The table ``replaced.csv`` lists each replacement, and the failure that it prevents.

Importing this module replaces nothing. ``lm_eval_names.csv`` lists everything else that is used from lm_eval, and the
parameters of replaced functions.
"""

import csv
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, NamedTuple

from medtasks_utils.harness.lm_eval_names import owner_of


class Replacement(NamedTuple):
    """One replacement in lm_eval.

    Attributes:
        name: the name in ``lm_eval_names.csv``; an attribute is replaced on objects, not on the class.
        scope: ``import`` (when lm_eval is imported), ``process`` (from the first task on), ``command`` (while
            ``medtasks eval`` runs) or ``run`` (on the model, while requests are sent).
        replaced_by: the module in ``harness`` and the replacing function; functions in ``patches`` take the original
            and return the replacement.
        without_it: the failure that the replacement prevents.
    """

    name: str
    scope: str
    replaced_by: str
    without_it: str


with (Path(__file__).parent / "replaced.csv").open(encoding="utf-8", newline="") as _file:
    REPLACED = [Replacement(**row) for row in csv.DictReader(_file)]
"""The rows of ``replaced.csv``: all replacements, in the order in which they are made."""


def apply(scope: Literal["process", "command"]) -> Callable[[], None]:
    """Make a scope's replacements that are built from originals, and return a function that undoes them."""
    undo = ExitStack()
    for name, replaced_by in made_from_original(scope).items():
        owner = owner_of(name)
        original = getattr(owner, name)
        setattr(owner, name, resolve_name(f"medtasks_utils.harness.{replaced_by}")(original))
        undo.callback(setattr, owner, name, original)
    return undo.close


def made_from_original(scope: str) -> dict[str, str]:
    """Return, by replaced name, the functions of a scope that take an original and return its replacement."""
    return {
        row.name: row.replaced_by for row in REPLACED if row.scope == scope and row.replaced_by.startswith("patches.")
    }
