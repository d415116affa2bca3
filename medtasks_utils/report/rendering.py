"""Render templates: the page with its scripts and style sheets, and figures for papers.

Text from data and models cannot become code: the templates escape it, and samples are in base64, which scripts convert
to text nodes. The Content-Security-Policy allows the page's own scripts and style sheet, by hash, and forbids other
scripts, requests and forms. With ``--split``, it also allows scripts from beside the page (``'self'``, ``file:``).
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from .board import ENDED, Board, Column, Ranking
from .drawing import Axis, between, ends, one, p_value, signed, tick
from .pair import Against
from .text import as_tex, visible, words

_ASSETS = Path(__file__).parent / "assets"
_LIBRARIES = ("temml.min.js", "markdown-it.umd.min.js", "diff.min.js")
_STYLES = ("page.css", "board.css", "samples.css", "response.css", "narrow.css", "print.css")
_RISES = 0.4  # points below which hatching is not drawn


def environment() -> Environment:
    """Create a Jinja environment that escapes all values in templates for HTML and SVG."""
    made = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=lambda name: str(name).endswith(("html", "svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "tex": as_tex,
        "words_": words,
        "breakable": breakable,
        "one": one,
        "signed": signed,
        "ends": ends,
        "between": between,
        "p_value": p_value,
        "tick": tick,
        "has_kind": _has_kind,
        "starred": _is_starred,
        "rises": _rises,
        "finished": _finished,
        "by_run": _by_run,
    }
    made.tests["lost_in"] = _is_lost_in
    made.globals |= {"ended": ENDED, "hundred": Axis(0.0, 100.0, 20.0), "differences_axis": _differences_axis}
    made.globals["compared_columns"] = _compared_columns
    return made


def breakable(text: str) -> Markup:
    """Escape a text, and allow lines to break after the signs that names are made of."""
    return Markup(re.sub(r"(?<=\w)([-_/·.])(?=\w{3})", r"\1<wbr>", str(escape(text))))


def _has_kind(outcomes: Mapping[str, Mapping[str, float]], kind: str) -> bool:
    """Return True if examples of any run ended in this way."""
    return any(counts[kind] >= 0.5 for counts in outcomes.values())


def _is_starred(ranking: Ranking) -> bool:
    return any(map(ranking.star, ranking.scores))


def _rises(column: Column) -> bool:
    return any(score.rise > _RISES for score in column.scores.values())


def _finished(column: Column, run: str) -> str:
    """Return the accuracy of the finished replies in words; empty if all finished, or if it is not known."""
    values = column.topic.values.get((column.filter, "acc_finished")) or column.topic.in_runs(
        column.filter, "acc_finished"
    )
    found = values.estimates[run]
    if found.value is None or not column.cut.get(run):
        return ""
    return f"{column.label} {one(100 * found.value)} % right of {found.n:,} finished"


def _by_run(line: Against) -> tuple[str, Against]:
    return line.run, line


def _is_lost_in(kind: str, board: Board) -> bool:
    """Return True if any run lost examples in this way."""
    return any(board.share(run, kind) for run in board.runs)


def _compared_columns(board: Board, lines: Sequence[Against]) -> list[tuple[int, Column]]:
    """Return the columns in which any run is compared, with their places on the board."""
    columns = enumerate(board.columns)
    return [(place, column) for place, column in columns if any(line.scores[place] for line in lines)]


def _differences_axis(lines: Sequence[Against], column: int) -> Axis:
    """Return an axis for the differences in a column."""
    scores = [line.scores[column] for line in lines]
    return Axis.over([0.0, *(mark for score in scores if score for mark in score[:3])])


def page(**parts: Any) -> str:
    """Render the page, with its style sheets and scripts."""
    scripts = sorted(path.name for path in _ASSETS.glob("*.js"))
    style, script = (
        "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names) for names in (_STYLES, scripts)
    )
    script = f'"use strict";\n{script}'
    libraries = _LIBRARIES if len(parts["runs"]) > 1 else _LIBRARIES[:-1]  # one run has nothing to compare
    library = ";\n".join((_ASSETS / "vendor" / name).read_text(encoding="utf-8") for name in libraries)
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


def _digest(text: str) -> str:
    """Return the hash that identifies a script or style sheet in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
