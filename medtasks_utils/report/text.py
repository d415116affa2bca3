"""Format text for a page, and make text from data and models safe to display."""

import re

from medtasks_utils.writing import printable

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
"""Characters that affect the text around them (controls, direction overrides), or that are invisible."""


def visible(text: object) -> str:
    """Spell out invisible characters as ``‹U+200B›``, and replace lone surrogates with U+FFFD."""
    return _INVISIBLE.sub(lambda match: f"‹U+{ord(match[0]):04X}›", printable(str(text)))


def as_tex(text: str) -> str:
    """Escape a text for LaTeX."""
    named = {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    return re.sub(r"[&%$#_{}~^\\]", lambda match: named.get(match[0], rf"\{match[0]}"), text)


def words(name: str) -> str:
    """Replace the underscores of an identifier such as ``lab_test`` with spaces."""
    return name.replace("_", " ")
