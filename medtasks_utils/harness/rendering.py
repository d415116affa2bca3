"""Check and render the Jinja templates of a task, each of which is compiled once."""

import ast
from contextlib import suppress
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError

from medtasks_utils.benchmarks.facts import Example, TaskInfo
from medtasks_utils.errors import DataError, reason_of
from medtasks_utils.writing import Settings, one_line

from .fields import field_error
from .lm_eval_names import env

_TEMPLATES = ("description", "gen_prefix", "doc_to_text", "doc_to_target", "doc_to_choice")


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


def check_templates(task: TaskInfo, settings: Settings, doc: Example) -> None:
    """Check that a task's templates can be rendered for an example, and that its prompt is not the same for every one.

    Args:
        task: the task.
        settings: the fields of the task's YAML.
        doc: an example, with the benchmark's options as ``settings``.

    Raises:
        DataError: for the first template that fails; the message names the template, its line and the fields of the
            example.
    """
    for name in _TEMPLATES:
        template = settings.get(name)
        if not isinstance(template, str) or template in doc:
            continue
        is_constant = name == "doc_to_text" and "{" not in template  # the same prompt for every example
        problem = "is neither a field of an example nor a template" if is_constant else ""
        try:
            _compiled(template).render(**doc)
        except Exception as error:  # an expression in a template can raise anything
            problem = f"cannot be rendered: {reason_of(error)}"
        if problem:
            shown = one_line(template)[:200]
            raise field_error(task, settings, name, f"{shown!r} {problem}; an example's fields are {', '.join(doc)}")


def index_or_text(text: str, has_choices: bool) -> Any:
    """Return what lm_eval makes of a rendered prompt: the index of a choice, or the text itself."""
    return int(text) if has_choices and text.isdigit() else text


def index_or_texts(text: str, has_choices: bool) -> Any:
    """Return what lm_eval makes of a rendered target, which may be a list of texts too."""
    if text.startswith("[") and text.endswith("]"):
        with suppress(SyntaxError, ValueError):
            return ast.literal_eval(text)
    return index_or_text(text, has_choices)
