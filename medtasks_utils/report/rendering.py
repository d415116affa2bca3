"""Render templates: the page with its scripts and style sheets, and figures for papers.

Text from data and models cannot become code: the templates escape it, and samples are in base64, which scripts convert
to text nodes. The Content-Security-Policy allows the page's own scripts and style sheet, by hash, and forbids other
scripts, requests and forms. With ``--split``, it also allows scripts from beside the page (``'self'``, ``file:``).
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from .board import HATCHED
from .drawing import Axis, between, ends, one, p_value, signed, span, tick
from .text import as_tex, visible, words

_ASSETS = Path(__file__).parent / "assets"
_LIBRARIES = ("temml.min.js", "markdown-it.umd.min.js", "diff.min.js")
_STYLES = ("page.css", "board.css", "samples.css", "response.css", "narrow.css", "print.css")


@cache
def environment() -> Environment:
    """Create a Jinja environment that escapes all values in templates for HTML and SVG."""
    made = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=lambda name: str(name).endswith(("html", "svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (visible, as_tex, words, breakable, one, signed, ends, between, span, p_value, tick)
    made.filters |= {function.__name__: function for function in filters}
    made.globals |= {
        "hundred": Axis(0.0, 100.0, 20.0),
        "hatched": HATCHED,
        "axis_over": Axis.of_differences,
    }
    return made


def breakable(text: str) -> Markup:
    """Escape a text, and allow line breaks after the separators within names."""
    return Markup(re.sub(r"(?<=\w)([-_/·.])(?=\w{3})", r"\1<wbr>", str(escape(text))))


def page(**parts: Any) -> str:
    """Render the page, with its style sheets and scripts."""
    scripts = sorted(path.name for path in _ASSETS.glob("*.js"))
    style, script = _joined(_STYLES), f'"use strict";\n{_joined(scripts)}'
    libraries = _LIBRARIES if len(parts["runs"]) > 1 else _LIBRARIES[:-1]  # one run has nothing to compare
    library = _joined([f"vendor/{name}" for name in libraries], ";\n")
    library = library.replace("<!--", r"<\!--")  # equivalent in JavaScript, but not a comment in HTML
    # With a folder next to the page, scripts of the page's own origin and from files are allowed too.
    beside = " 'self' file:" if parts["parts"] else ""
    policy = (
        f"default-src 'none'; script-src '{_digest(library)}' '{_digest(script)}'{beside}; "
        f"style-src '{_digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    template = environment().get_template("base.html")
    return template.render(
        policy=policy, style=Markup(style), library=Markup(library), script=Markup(script), **parts
    ).lstrip()


def _joined(names: Iterable[str], between: str = "\n") -> str:
    """Concatenate the contents of assets."""
    return between.join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    """Return the hash that identifies a script or style sheet in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
