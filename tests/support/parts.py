"""Hold parts of the package, or of what is made, to tables: a row has a name, a place, and what stands there."""

import json
from collections.abc import Iterable, Mapping
from inspect import ismodule
from pydoc import locate
from types import SimpleNamespace
from typing import Any

from given import table

import medtasks_utils
from medtasks_utils.errors import MedtasksError


def differing(name: str, made: Any = medtasks_utils) -> dict[str, Any]:
    """What stands at the places of a table, where it is not what is expected there; by default, in this package."""
    wrong = {}
    for row, place, expected in table(name):
        try:
            here = rounded(found(made, place, expected))
        except (MedtasksError, ValueError) as error:
            here = str(error)
        if here != rounded(expected):
            wrong[row] = here
    return wrong


def found(made: Any, place: list[Any], expected: Any) -> Any:
    """What stands at a place: a step is a key, a number, a record's fields or, as a list, what a function is given.

    An object with ``is`` is what its function returns, whose arguments have names.
    Of a text that is expected to contain others, and of a record, only what is expected.
    """
    for step in place:
        if isinstance(step, list):
            made = made(*alive(step))
        elif isinstance(step, dict) and "is" in step:
            made = alive(step)
        elif isinstance(step, dict):
            (made,) = (record for record in made if step.items() <= record.items())
        else:
            made = at(made, step)
    if not expected or not isinstance(expected, dict):
        return made
    if isinstance(made, str):
        return {text: text in made for text in expected}
    return {key: at(made, key) for key in expected}


def at(made: Any, step: Any) -> Any:
    if ismodule(made):
        return locate(f"{made.__name__}.{step}")
    is_item = isinstance(step, int) or (isinstance(made, Mapping) and step in made)
    return made[step] if is_item else getattr(made, step)


def alive(value: Any) -> Any:
    """What a function is given: objects are records with the name of their class, or "" for any, at ``is``.

    A name with brackets is a function that returns the value; arguments without names are at ``*``.
    """
    if isinstance(value, list):
        return [*map(alive, value)]
    if not isinstance(value, dict):
        return value
    fields = {name: alive(each) for name, each in value.items() if name != "is"}
    fields = {
        name.removesuffix("()"): each if name[-2:] != "()" else lambda *_, each=each: each
        for name, each in fields.items()
    }
    if "is" not in value:
        return fields
    kind = locate(f"medtasks_utils.{value['is']}") if value["is"] else SimpleNamespace
    return kind(*fields.pop("*", ()), **fields) if callable(kind) else kind


def plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, Iterable) else vars(value)


def rounded(value: Any) -> Any:
    text = json.dumps(value, default=plain)
    return json.loads(text, parse_float=lambda number: round(float(number), 6))
