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

from __future__ import annotations

import hashlib
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

import jinja2
from jinja2 import meta

from medtasks_utils.errors import MedtasksError

PROMPTS = Path(__file__).parent / "prompts"

_ROLE = re.compile(r"^# (system|user)[ \t]*$", re.MULTILINE)


class PromptError(MedtasksError):
    """A prompt or a specialty that does not exist."""


class Example(TypedDict):
    """A worked example of claim extraction: 5–7 claims that the explanation makes."""

    question: str
    explanation: str
    claims: list[str]


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
        digest = hashlib.sha256(text.encode())
        if "examples" in meta.find_undeclared_variables(_environment.parse(text)):
            for specialty in specialties():
                digest.update(_example_file(specialty).read_text(encoding="utf-8").encode())
        self.version = digest.hexdigest()[:8]

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
    path = PROMPTS / f"{name}.md"
    if not path.is_file():
        known = sorted(path.stem for path in PROMPTS.glob("*.md"))
        raise PromptError(f"there is no prompt {name!r}; there are {', '.join(known)}")
    return Template(path.read_text(encoding="utf-8"))


def specialties() -> list[str]:
    """The specialties that have worked examples."""
    return sorted(path.stem for path in (PROMPTS / "examples").glob("*.json"))


@lru_cache
def examples(specialty: str) -> list[Example]:
    """The worked examples of a specialty, two or three.

    Raises:
        PromptError: for a specialty without any.
    """
    if specialty not in specialties():
        raise PromptError(f"there are no worked examples for {specialty!r}; there are for {', '.join(specialties())}")
    found: list[Example] = json.loads(_example_file(specialty).read_text(encoding="utf-8"))
    return found


def delimited(text: str, tag: str) -> str:
    """The text between an opening and a closing tag whose name occurs in no tag of the text.

    A response may hold ``</explanation>`` and go on with orders to the judge. Then the tag is ``explanation_2``, and
    the quotation ends only where it should.
    """
    text = str(text)  # complains of a field that is not given
    taken = {name.lower() for name in re.findall(rf"<\s{{0,4}}/?\s{{0,4}}({re.escape(tag)}\w*)", text, re.IGNORECASE)}
    name, number = tag, 1
    while name in taken:
        number += 1
        name = f"{tag}_{number}"
    return f"<{name}>\n{text.strip()}\n</{name}>"


def _example_file(specialty: str) -> Path:
    return PROMPTS / "examples" / f"{specialty}.json"


_environment = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
_environment.filters["delimited"] = delimited
_environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
