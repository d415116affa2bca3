"""The page: template, style sheet, scripts and data in one file that needs nothing else.

Text from data and models is data throughout: tables are written by a template that escapes everything, samples are
base64 that scripts turn into text nodes. Beyond that the page's Content-Security-Policy allows its own script and style
sheet, by hash, and nothing else: no other script, no request, no form.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from medtasks_utils.report.charts import MAX_RUNS, sign
from medtasks_utils.report.comparison import comparison_section
from medtasks_utils.report.findings import findings
from medtasks_utils.report.outcomes import OUTCOMES
from medtasks_utils.report.pairs import Comparer
from medtasks_utils.report.runs import runs_section
from medtasks_utils.report.samples import Packed, pack_samples
from medtasks_utils.report.sections import unit_sections
from medtasks_utils.report.summary import partial_runs, problems, signature_table, summary_blocks
from medtasks_utils.report.text import visible
from medtasks_utils.report.units import arrange
from medtasks_utils.results import Run
from medtasks_utils.results.samples import FILTERS
from medtasks_utils.writing import write_whole

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = (
    *("store.js", "elements.js", "math.js", "markdown.js", "response.js", "detail.js"),
    *("selection.js", "samples.js", "tables.js", "report.js"),
)
_STYLES = ("page.css", "tables.css", "samples.css", "response.css", "narrow.css", "print.css")


def build_page(
    runs: Sequence[Run],
    say: Callable[[str], None] = lambda stage: None,
    beside: Path | None = None,
) -> str:
    """The page for runs, the first being the baseline of comparisons until another is chosen in the page.

    Args:
        runs: at least one.
        say: called with a few words at the beginning of each stage.
        beside: a folder next to the page that takes prompts and responses, in scripts that the page loads one at a
            time; None puts them into the page.
    """
    for number, run in enumerate(runs, 1):
        say(f"reading run {number} of {len(runs)}")
        for task in run.tasks.values():
            _ = task.samples  # read on first use
    units = arrange(runs)
    filters = list(dict.fromkeys(name for unit in units for name in unit.filters))
    choices = [name for name in FILTERS if name in filters]
    say("tables and plots")
    sections = [*unit_sections(units), runs_section(runs, units)]
    summary = summary_blocks(runs, units)
    comparer = Comparer(runs, filters, say)
    comparison = comparison_section(runs, comparer, filters)
    if comparison:
        sections.insert(-1, comparison)
    say("packing samples")
    packed = pack_samples(runs)
    return _rendered(
        title=_title(runs),
        date=time.strftime("%Y-%m-%d"),
        version=version("medtasks"),
        runs=[run.name for run in runs],
        baselines=comparer.names if comparison else [],
        max_runs=MAX_RUNS,
        sign=sign,
        outcomes=OUTCOMES,
        filters=choices,
        partial=partial_runs(runs),
        findings={name: findings(runs, units, comparer, name) for name in choices or [""]},
        problems=problems(runs),
        summary=summary,
        signatures=signature_table(runs, units),
        sections=sections,
        packed=packed if packed.count else None,
        stores=_stores(packed, beside),
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
    return environment.get_template("template.html").render(
        policy=_policy(script, style, bool(parts["parts"])), style=Markup(style), script=Markup(script), **parts
    )


def _stores(packed: Packed, beside: Path | None) -> dict[str, list[str]]:
    """The chunks that stand in the page; the others are in the folder, a script for each, and no older ones."""
    index = {"index": [packed.index]}
    stores = {"documents": packed.documents.chunks, "samples": packed.samples.chunks}
    if beside is None:
        return {**index, **stores}
    for path in beside.glob("*-*.js"):
        path.unlink()
    for name, chunks in stores.items():
        for number, chunk in enumerate(chunks):
            write_whole(beside / f"{name}-{number}.js", f'part("{name}",{number},"{chunk}")\n', make_folder=True)
    return index


def _policy(script: str, style: str, has_parts: bool) -> str:
    """A Content-Security-Policy under which the page's own script and style sheet work, and nothing else does.

    With parts, scripts of where the page lies too: other origins stay forbidden.
    """
    own = " 'self' file:" if has_parts else ""
    hashes = {
        name: "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name, text in (("script", script), ("style", style))
    }
    return (
        f"default-src 'none'; script-src '{hashes['script']}'{own}; style-src '{hashes['style']}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _title(runs: Sequence[Run]) -> str:
    names = [run.name for run in runs]
    return " · ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} other runs"
