"""Render the Jinja templates of a task, each of which is compiled once."""

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError

from medtasks_utils.errors import DataError
from medtasks_utils.writing import one_line

from .lm_eval_names import env


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    return env.from_string(template)  # type: ignore[no-any-return]


def rendered(template: str, doc: Mapping[str, Any]) -> str:
    """Render a template with the fields of a document.

    Raises:
        DataError: if it cannot be rendered; the message quotes it and lists the fields.
    """
    try:
        return _compiled(template).render(**doc)
    except TemplateError as error:
        shown = one_line(template)[:200]
        raise DataError(f"the template {shown!r}: {error}; the fields are {', '.join(doc)}") from None


def value_of(text: str, has_choices: bool, may_be_list: bool) -> Any:
    """Return what lm_eval makes of a rendered text: the index of a choice, a list, or the text itself.

    Args:
        text: the text.
        has_choices: True if the task has choices, so that a number is the index of one.
        may_be_list: True for targets, of which there may be several.
    """
    if text.isdigit() and has_choices:
        return int(text)
    if may_be_list and text.startswith("[") and text.endswith("]"):
        try:
            return ast.literal_eval(text)
        except (SyntaxError, ValueError):
            return text
    return text
