"""Assemble the page from the template, the style sheets, the scripts and the data.

The page is one self-contained file. With ``--split``, it is a file and a folder next to it, which has the prompts and
responses as scripts that the page loads.

Text from data and models cannot become code: the template escapes it, and numbers and samples are in base64, which
scripts convert to text nodes. The Content-Security-Policy allows the page's own scripts and style sheet, by hash, and
forbids other scripts, requests and forms. With ``--split``, it also allows scripts from the place of the page
(``'self'`` and ``file:``).
"""

import base64
import hashlib
import math
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER, FILTERS
from medtasks_utils.results import Run
from medtasks_utils.writing import JsonObject, write_whole

from .about import replies_table, settings_table, signature_table
from .audits import audit_table
from .calibration import calibrations, to_draw
from .comparison import LEAD, comparison_data
from .leaderboard import leaderboard
from .packed_samples import pack_samples
from .packing import pack_one
from .sections import topic_section
from .summary import partial_runs, problems
from .text import as_tex, listed, visible
from .topics import topics_of

_ASSETS = Path(__file__).parent / "assets"
_LIBRARIES = ("temml.min.js", "markdown-it.umd.min.js", "diff.min.js")
_STYLES = ("page.css", "tables.css", "samples.css", "response.css", "narrow.css", "print.css")


def build_page(runs: Sequence[Run], beside: Path | None = None) -> str:
    """Build the page for runs. The first run is the baseline of comparisons until a reader chooses another.

    Runs without scores are left out, which the page says. With ``beside``, prompts and responses are stored in this
    folder next to the page, as scripts that the page loads one at a time.

    Raises:
        MedtasksError: if no run has scores.
    """
    warnings = problems(runs)
    runs = [run for run in runs if run.has_scores]
    partial = partial_runs(runs)
    if not runs:
        raise MedtasksError(f"nothing to report: {'; '.join(warnings)}")
    stores = pack_samples(runs)
    numbers = _numbers(runs)
    stores["numbers"] = [pack_one(numbers)]
    if beside:
        _put_beside(beside, stores)
    return _rendered(
        title=listed(numbers["runs"]),
        date=time.strftime("%Y-%m-%d"),
        version=version("medtasks"),
        runs=numbers["runs"],
        filters=[name for name in numbers["filters"] if name in FILTERS],
        partial=partial,
        problems=warnings,
        is_compared=bool(numbers["compared"]["pairs"]),
        calibrations=calibrations(runs),
        samples=sum(len(task.samples) for run in runs for task in run.tasks.values()),
        stores=stores,
        parts=beside.name if beside else "",
    )


def _numbers(runs: Sequence[Run]) -> JsonObject:
    """Return all that the page's scripts draw but the samples, by part of the page."""
    topics = topics_of(runs)
    names = dict.fromkeys(name for topic in topics for name in topic.filters)
    first = usual_filter(runs)
    filters = sorted(names, key=lambda name: name != first)
    about = [audit_table(runs), replies_table(topics), settings_table(runs), signature_table(topics)]
    return {
        "runs": [run.name for run in runs],
        "filters": filters,
        "board": leaderboard(topics, runs, [name for name in filters if name in FILTERS] or filters[:1]),
        "topics": [topic_section(topic) for topic in topics if not topic.is_overall],
        "compared": {"lead": LEAD, "pairs": comparison_data(runs, filters)},
        "about": [table for table in about if table.rows],
    }


def usual_filter(runs: Sequence[Run]) -> str:
    """Return the filter that counts in the runs: the published rule, unless a run is not read by it."""
    usual = {task.default_filter for run in runs for task in run.tasks.values()}
    return next(iter(usual - {DEFAULT_FILTER}), DEFAULT_FILTER)


FIGURES = (".svg", ".tex", ".md")
"""The formats of the leaderboard for a paper, as file extensions."""


def calibration_figure(runs: Sequence[Run]) -> str:
    """Return the reliability diagrams and risk–coverage curves of runs, drawn for a paper.

    Raises:
        MedtasksError: if no answer has a confidence.
    """
    return _environment().get_template("calibration.svg").render(calibrations=to_draw(runs)).strip() + "\n"


def leaderboard_figure(runs: Sequence[Run], form: str = ".svg") -> str:
    """Return the leaderboard for a paper in one of the :data:`FIGURES`, under the filter that counts.

    The best run of the first column comes first. Runs without scores are left out.

    Raises:
        MedtasksError: if no run has a score that is a share or in points.
    """
    runs = [run for run in runs if run.has_scores]
    usual = usual_filter(runs)
    columns = leaderboard(topics_of(runs), runs, [usual])["columns"][usual]
    drawn = [(column, *column.ends) for column in columns if column.drawn and column.ends]
    if not drawn:
        raise MedtasksError("cannot draw the figure: no run has a score that is a share or in points")
    first = drawn[0][0]
    sign = 1 if first.ascending else -1
    places = [sign * shown.value if shown else math.inf for shown in first.values]
    order = sorted(range(len(runs)), key=places.__getitem__)
    template = _environment().get_template(f"leaderboard{form}")
    return template.render(names=[run.name for run in runs], columns=drawn, order=order).strip() + "\n"


def _environment() -> Environment:
    """Create a Jinja environment that escapes all values in templates for HTML and SVG."""
    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=lambda name: str(name).endswith(("html", "svg")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "tex": as_tex}
    return environment


def _rendered(**parts: Any) -> str:
    """Render the page's template, with its style sheets and scripts."""
    scripts = sorted(path.name for path in _ASSETS.glob("*.js"))
    style, script = (
        "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names) for names in (_STYLES, scripts)
    )
    library = ";\n".join((_ASSETS / "vendor" / name).read_text(encoding="utf-8") for name in _LIBRARIES)
    library = library.replace("<!--", r"<\!--")  # equivalent in JavaScript, but not a comment in HTML
    # With a folder next to the page, scripts of the page's own origin and from files are allowed too.
    beside = " 'self' file:" if parts["parts"] else ""
    policy = (
        f"default-src 'none'; script-src '{_digest(library)}' '{_digest(script)}'{beside}; "
        f"style-src '{_digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("template.html")
        .render(policy=policy, style=Markup(style), library=Markup(library), script=Markup(script), **parts)
    )


def _digest(text: str) -> str:
    """Return the hash that identifies a script or style sheet in a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _put_beside(folder: Path, stores: dict[str, Iterable[str]]) -> None:
    """Move prompts and responses out of the stores into a folder, one script per chunk, and delete older scripts."""
    for path in folder.glob("*-*.js"):
        path.unlink()
    for name in ("documents", "samples"):
        for number, chunk in enumerate(stores.pop(name, ())):
            write_whole(folder / f"{name}-{number}.js", f'part("{name}",{number},"{chunk}")\n')
