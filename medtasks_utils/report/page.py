"""The page: template, style sheet, scripts and data in one file that needs nothing else.

Text from data and models is data throughout: tables are written by a template that escapes everything, samples are
base64 that scripts turn into text nodes. Beyond that the page's Content-Security-Policy allows its own script and style
sheet, by hash, and nothing else: no other script, no request, no form.
"""

import base64
import hashlib
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FILTERS, STRICT
from medtasks_utils.results import Run
from medtasks_utils.writing import write_whole

from .audits import audit_section
from .comparison import comparison_data, comparison_section
from .findings import findings
from .outcomes import outcome_block
from .packing import pack_one
from .pairs import all_pairs
from .replies import replies_section
from .runs import runs_section
from .samples import pack_samples
from .sections import unit_section
from .summary import has_scores, partial_runs, problems, signature_table, summary_block
from .text import visible
from .units import arrange

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = (
    "store.js",
    "elements.js",
    "math.js",
    "markdown.js",
    "response.js",
    "detail.js",
    "selection.js",
    "samples.js",
    "tables.js",
    "compare.js",
    "report.js",
)
_STYLES = ("page.css", "tables.css", "samples.css", "response.css", "narrow.css", "print.css")


def build_page(runs: Sequence[Run], beside: Path | None = None) -> str:
    """The page for runs, the first being the baseline of comparisons until another is chosen in the page.

    Args:
        runs: at least one; those without scores are left out, which the page says.
        beside: a folder next to the page that takes prompts and responses, in scripts that the page loads one at a
            time; None puts them into the page.

    Raises:
        MedtasksError: where no run has scores.
    """
    wary = problems(runs)
    runs = [run for run in runs if has_scores(run)]
    if not runs:
        raise MedtasksError(f"nothing to report: {'; '.join(wary)}")
    stores = pack_samples(runs)
    units = arrange(runs)
    names = [run.name for run in runs]
    filters = sorted(dict.fromkeys(name for unit in units for name in unit.filters), key=lambda name: name != STRICT)
    choices = [name for name in filters if name in FILTERS]
    pairs = all_pairs(runs, filters)
    compared = comparison_data(pairs, names)
    sections = [unit_section(unit, runs) for unit in units if not unit.is_overall]
    sections += [comparison_section(runs, filters)] if compared else []
    ended = replies_section(units, names)
    sections += [ended] if ended else []
    sections += [*audit_section(runs), runs_section(runs)]
    baselines = names if compared else names[:1]
    summary = [summary_block(runs, units, name) for name in filters]
    if compared:
        stores["comparison"] = [pack_one(compared)]
    if beside:
        _put_beside(beside, stores)
    return _rendered(
        title=" · ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} other runs",
        date=time.strftime("%Y-%m-%d"),
        version=version("medtasks"),
        runs=names,
        baselines=baselines,
        filters=choices,
        partial=partial_runs(runs),
        findings={(name, run): findings(units, pairs, run, name) for name in choices or [""] for run in baselines},
        problems=wary,
        summary=[*summary, outcome_block([unit for unit in units if unit.benchmark], names)],
        signatures=signature_table(runs, units),
        sections=sections,
        samples=sum(len(task.samples) for run in runs for task in run.tasks.values()),
        stores=stores,
        parts=beside.name if beside else "",
    )


def _rendered(**parts: Any) -> str:
    """The template with its style sheets and scripts."""
    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    style, script = (
        "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names) for names in (_STYLES, _SCRIPTS)
    )
    # with a folder beside the page, scripts of where the page lies too: other origins stay forbidden
    own = " 'self' file:" if parts["parts"] else ""
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'{own}; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("template.html").render(
        policy=policy, style=Markup(style), script=Markup(script), **parts
    )


def _digest(text: str) -> str:
    """A script or style sheet as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _put_beside(folder: Path, stores: dict[str, Iterable[str]]) -> None:
    """Move prompts and responses out of the stores into a folder, a script for each chunk, and no older ones."""
    for path in folder.glob("*-*.js"):
        path.unlink()
    for name in ("documents", "samples"):
        for number, chunk in enumerate(stores.pop(name, ())):
            write_whole(folder / f"{name}-{number}.js", f'part("{name}",{number},"{chunk}")\n', make_folder=True)
