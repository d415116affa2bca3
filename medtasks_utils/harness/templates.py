"""Render the Jinja templates of a task, each of which is compiled once."""

import ast
from contextlib import suppress
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError

from medtasks_utils.errors import DataError
from medtasks_utils.writing import Settings, one_line

from .lm_eval_names import env


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    return env.from_string(template)  # type: ignore[no-any-return]


def rendered(template: str, doc: Settings) -> str:
    """Render a template with the fields of a document.

    Raises:
        DataError: if it cannot be rendered; the message quotes it and lists the fields.
    """
    try:
        return _compiled(template).render(**doc)
    except TemplateError as error:
        shown = one_line(template)[:200]
        raise DataError(f"the template {shown!r}: {error}; the fields are {', '.join(doc)}") from None


def index_or_text(text: str, has_choices: bool) -> Any:
    """Return what lm_eval makes of a rendered prompt: the index of a choice, or the text itself."""
    return int(text) if has_choices and text.isdigit() else text


def index_or_texts(text: str, has_choices: bool) -> Any:
    """Return what lm_eval makes of a rendered target, which may be a list of texts too."""
    if text.startswith("[") and text.endswith("]"):
        with suppress(SyntaxError, ValueError):
            return ast.literal_eval(text)
    return index_or_text(text, has_choices)
