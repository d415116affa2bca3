"""Find what stands at a place, for tables whose rows have a name, a place, and what is expected there.

A place is a list of steps from the package, or from what a test made: a function of the package and what it is given is
``["report.drawing.one", [1.25]]``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import repeat
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from given import table


def as_its_row_says(name: str) -> Any:
    """Return a test of each function with rows in a table: at a row's place stands what the row expects."""
    functions: dict[str, dict[str, tuple[list[Any], Any]]] = {}
    for row, place, expected in table(name):
        rows = functions.setdefault(place[0]["is"] if isinstance(place[0], dict) else place[0], {})
        assert row not in rows, f"{name} has two rows of this name: {row}"
        rows[row] = place, expected

    @pytest.mark.parametrize("rows", functions.values(), ids=functions)
    def test(rows):
        stands = {row: at(place, expected) for row, (place, expected) in rows.items()}
        assert stands == {row: expected for row, (_, expected) in rows.items()}

    return test


def at(place: list[Any], expected: Any, made: Any = None) -> Any:
    """Return what stands at a place, as JSON with six decimals, or the type and message of an error.

    A step is a key, an attribute, a number, a record's fields or what a function is given: a list, or arguments by
    name, beside which those without are at ``*``. Steps at ``do`` are taken, and the place stays. Of the package, the
    first is a name, or an object as in :func:`alive`. Where an object is expected, an instance is reduced to these
    attributes, a text to whether it has them, and a mapping to these keys if "…" is one.
    """
    try:
        made = reduce(after, place, made)
        made = [*made] if isinstance(made, Iterator) else made
    except Exception as error:
        if isinstance(expected, dict) and not any(expected.values()):
            raise  # an error has none of the texts that must not be there
        made = f"{type(error).__name__}: {error}"
    return as_json(part(made, expected))


def after(made: Any, step: Any) -> Any:
    if made is None:
        return in_package(step) if isinstance(step, str) else alive(step)
    if isinstance(step, list):
        return made(*alive(step))
    if isinstance(step, dict) and "do" in step:
        reduce(after, step["do"], made)
        return made
    if isinstance(step, dict) and callable(made):
        given = alive(step)
        return made(*given.pop("*", ()), **given)
    if isinstance(step, dict):
        (record,) = (record for record in made if step.items() <= record.items())
        return record
    if isinstance(step, int):
        return (made if hasattr(made, "__getitem__") else [*made])[step]
    return made[step] if isinstance(made, Mapping) and step in made else getattr(made, step)


def part(made: Any, expected: Any) -> Any:
    if made is None or not expected or not isinstance(expected, dict):
        return made
    if isinstance(made, str):
        has = {text: text in made for text in expected}
        return has if has == expected or len(made) > 2000 else made  # a failure shows a short text
    if isinstance(made, Mapping):
        return made if "…" not in expected else {**{key: made.get(key) for key in expected}, "…": "…"}
    return {key: after(made, key) for key in expected}


def in_package(name: str) -> Any:
    return resolve_name(f"medtasks_utils.{name}")


def alive(value: Any) -> Any:
    """Return what a function is given: an object is a record with the name of its class, or "" for any, at ``is``.

    The name may be a function's; arguments without names are at ``*``. A name with brackets is a function that returns
    the value, or raises it if it is an error.
    """
    if isinstance(value, list):
        return [*map(alive, value)]
    if not isinstance(value, dict):
        return value
    fields = {
        name.removesuffix("()"): Mock(side_effect=repeat(alive(field))) if name.endswith("()") else alive(field)
        for name, field in value.items()
        if name != "is"
    }
    if "is" not in value:
        return fields
    kind = in_package(value["is"]) if value["is"] else SimpleNamespace
    return kind(*fields.pop("*", ()), **fields) if callable(kind) else kind


def plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, Iterable) else vars(value)


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=plain), parse_float=lambda number: round(float(number), 6))
