"""Check and render the Jinja templates of a task, each of which is compiled once."""

import ast
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from jinja2 import Template

from medtasks_utils.benchmarks.facts import Example, TaskInfo
from medtasks_utils.errors import DataError, reason_of
from medtasks_utils.writing import Settings, one_line

from .fields import field_error
from .lm_eval_names import ConfigurableTask, env

_TEMPLATES = ("description", "gen_prefix", "doc_to_text", "doc_to_target", "doc_to_choice")


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    return env.from_string(template)  # type: ignore[no-any-return]


def rendered(template: str, doc: Settings) -> str:
    """Render a template with the fields of a document.

    Raises:
        DataError: if rendering fails; the message quotes the template and lists the fields.
    """
    try:
        return _compiled(template).render(**doc)
    except Exception as error:  # an expression in a template can raise anything
        shown = one_line(template)[:200]
        problem = f"{shown!r} cannot be rendered: {reason_of(error)}; an example's fields are {', '.join(doc)}"
        raise DataError(problem) from None


def check_templates(task: TaskInfo, settings: Settings, doc: Example) -> None:
    """Check that a task's templates can be rendered for an example, and that the prompt depends on the example.

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
        problem = ""
        if name == "doc_to_text" and "{" not in template:  # the same prompt for every example
            fields = ", ".join(doc)
            problem = f"{template!r} is neither a field of an example nor a template; an example's fields are {fields}"
        try:
            rendered(template, doc)
        except DataError as error:
            problem = str(error)
        if problem:
            raise field_error(task, settings, name, problem)


def index_or_text(text: str, has_choices: bool) -> Any:
    """Convert a rendered prompt as lm_eval does: digits to the index of a choice; any other text stays a text.

    Digits also stay a text in a task without choices.
    """
    return int(text) if has_choices and text.isdigit() else text


def index_or_texts(text: str, has_choices: bool) -> Any:
    """Convert a rendered target as lm_eval does: a list in brackets to its items, anything else like a prompt."""
    if text.startswith("[") and text.endswith("]"):
        with suppress(SyntaxError, ValueError):
            return ast.literal_eval(text)
    return index_or_text(text, has_choices)


def rendering(name: str, value_of: Callable[[str, bool], Any]) -> Callable[..., Any]:
    """Return a method of a task that returns the value of a field for an example.

    Templates are rendered with the fields of the example and ``settings``, the options; lm_eval handles other values.

    Args:
        name: the name of the field.
        value_of: a function that converts a rendered template; its second argument says whether the task has choices.
    """
    method = getattr(ConfigurableTask, name.replace("gen_", "doc_to_"))

    def value(self: Any, doc: Example, field: Any = None) -> Any:
        field = getattr(self.config, name) if field is None else field
        doc = {**doc, "settings": self.options}
        if not isinstance(field, str) or field in doc:
            return method(self, doc) if name == "gen_prefix" else method(self, doc, field)
        return value_of(rendered(field, doc), self.config.doc_to_choice is not None)

    return value
