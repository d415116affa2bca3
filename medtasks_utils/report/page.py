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
from medtasks_utils.report.samples import MAX_PACKED, pack_samples
from medtasks_utils.report.sections import unit_sections
from medtasks_utils.report.summary import partial_runs, problems, signature_table, summary_blocks
from medtasks_utils.report.text import visible
from medtasks_utils.report.units import arrange
from medtasks_utils.results import Run
from medtasks_utils.results.samples import FILTERS

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = (
    *("store.js", "elements.js", "math.js", "markdown.js", "response.js", "detail.js"),
    *("selection.js", "samples.js", "tables.js", "report.js"),
)
_STYLES = ("page.css", "tables.css", "samples.css", "response.css", "narrow.css", "print.css")


def build_page(
    runs: Sequence[Run],
    max_packed: int = MAX_PACKED,
    say: Callable[[str], None] = lambda stage: None,
) -> str:
    """The page for runs, the first being the baseline of comparisons until another is chosen in the page.

    Args:
        runs: at least one.
        max_packed: characters that packed samples may take.
        say: called with a few words at the beginning of each stage.
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
    packed = pack_samples(runs, max_packed)
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
        stores={"index": [packed.index], "documents": packed.documents.chunks, "samples": packed.samples.chunks},
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
        policy=_policy(script, style), style=Markup(style), script=Markup(script), **parts
    )


def _policy(script: str, style: str) -> str:
    """A Content-Security-Policy under which the page's own script and style sheet work, and nothing else does."""
    hashes = {
        name: "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name, text in (("script", script), ("style", style))
    }
    return (
        f"default-src 'none'; script-src '{hashes['script']}'; style-src '{hashes['style']}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _title(runs: Sequence[Run]) -> str:
    names = [run.name for run in runs]
    return " · ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} other runs"
