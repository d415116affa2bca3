"""Prompts as files, for a researcher to read and version: ``prompts/<name>.md`` and ``prompts/examples/``.

A prompt file is a note, then the messages, each under a line ``# system`` or ``# user``, as Jinja templates::

    What this prompt is for, and its fields.

    # system
    You grade explanations.

    # user
    {{ explanation | delimited("explanation") }}

``delimited`` puts a text between tags that the text itself cannot close; ``examples(specialty)`` gives the specialty's
worked examples from ``prompts/examples/<specialty>.json``.
"""

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

PROMPTS = Path(__file__).parent / "prompts"

_ROLE = re.compile(r"^# (system|user)[ \t]*$", re.MULTILINE)


class Template:
    """A prompt of one or more messages.

    Attributes:
        version: 8 hexadecimal digits that change when the wording does, that of the worked examples included.
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
        """The chat messages, ``{"role": …, "content": …}``, with the template's fields filled in.

        Raises:
            jinja2.UndefinedError: for a field that is not given.
        """
        return [
            {"role": role, "content": template.render(fields, examples=examples).strip()}
            for role, template in self._messages
        ]


@lru_cache
def load(name: str) -> Template:
    """The prompt in ``prompts/<name>.md``."""
    return Template((PROMPTS / f"{name}.md").read_text(encoding="utf-8"))


@lru_cache
def examples(specialty: str) -> list[dict[str, Any]]:
    """The worked examples of a specialty, two or three: ``question``, ``explanation`` and its 5–7 ``claims``."""
    found: list[dict[str, Any]] = json.loads(_all_examples()[specialty])
    return found


def _all_examples() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((PROMPTS / "examples").glob("*.json"))}


def delimited(text: str, tag: str) -> str:
    """The text between an opening and a closing tag whose name occurs in no tag of the text.

    A response may hold ``</explanation>`` and go on with orders to the judge. Then the tag is ``explanation_2``, and
    the quotation ends only where it should.
    """
    text = str(text)  # complains of a field that is not given
    taken = {name.lower() for name in re.findall(rf"<\s{{0,4}}/?\s{{0,4}}({re.escape(tag)}\w*)", text, re.IGNORECASE)}
    names = (tag, *(f"{tag}_{number}" for number in range(2, len(taken) + 3)))
    name = next(name for name in names if name not in taken)
    return f"<{name}>\n{text.strip()}\n</{name}>"


_environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_environment.filters["delimited"] = delimited
_environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
