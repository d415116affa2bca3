"""Load prompts from files: ``prompts/<name>.md`` and ``prompts/examples/``.

A prompt file begins with a note. The messages follow as Jinja templates, each after a line ``# system`` or ``# user``::

    The purpose of this prompt, and its variables.

    # system
    You grade explanations.

    # user
    {{ explanation | delimited("explanation") }}

The filter ``delimited`` wraps a text in tags that the text itself cannot close. The function ``examples(specialty)``
returns the worked examples in ``prompts/examples/<specialty>.json``.
"""

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path

import jinja2

from medtasks_utils.writing import JsonObject

PROMPTS = Path(__file__).parent / "prompts"

_ROLE = re.compile(r"^# (system|user)[ \t]*$", re.MULTILINE)


class Template:
    """A prompt of one or more messages.

    Args:
        text: the content of the prompt file.

    Attributes:
        version: 8 hexadecimal digits that change with the file and its worked examples.
    """

    def __init__(self, text: str) -> None:
        _, *parts = _ROLE.split(text)
        self._messages = [
            (role, _environment.from_string(body.strip())) for role, body in zip(parts[::2], parts[1::2], strict=True)
        ]
        if "examples(" in text:
            text += "".join(_all_examples().values())
        self.version = hashlib.sha256(text.encode()).hexdigest()[:8]

    def messages(self, **fields: object) -> list[dict[str, str]]:
        """Render the chat messages, ``{"role": …, "content": …}``, with the given values of the prompt's variables.

        Raises:
            jinja2.UndefinedError: for a variable without a value.
        """
        return [
            {"role": role, "content": template.render(fields, examples=examples).strip()}
            for role, template in self._messages
        ]


@lru_cache
def load(name: str) -> Template:
    """Load the prompt in ``prompts/<name>.md``."""
    return Template((PROMPTS / f"{name}.md").read_text(encoding="utf-8"))


@lru_cache
def examples(specialty: str) -> list[JsonObject]:
    """Return the two or three worked examples of a specialty: ``question``, ``explanation`` and 5–7 ``claims``.

    For a specialty without examples, return one example of each specialty that has some.
    """
    files = _all_examples()
    if specialty not in files:
        return [json.loads(text)[0] for text in files.values()]
    worked: list[JsonObject] = json.loads(files[specialty])
    return worked


def _all_examples() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((PROMPTS / "examples").glob("*.json"))}


def delimited(text: str, tag: str) -> str:
    """Wrap a text in a tag whose name occurs in no tag of the text.

    A response may contain ``</explanation>`` followed by instructions to the judge. The tag is then, for example,
    ``explanation_2``, which the text cannot close.
    """
    text = str(text)  # raises for a variable without a value
    used = {name.lower() for name in re.findall(rf"<\s{{0,4}}/?\s{{0,4}}({re.escape(tag)}\w*)", text, re.IGNORECASE)}
    name, number = tag, 1
    while name in used:
        number += 1
        name = f"{tag}_{number}"
    return f"<{name}>\n{text.strip()}\n</{name}>"


_environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_environment.filters["delimited"] = delimited
_environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
