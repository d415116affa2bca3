"""``medtasks report``: one self-contained page from one or more runs.

Data flows one way: runs (:mod:`medtasks_utils.results`) → units, which the page has columns and sections for
(:mod:`.units`) → tables and plots as data (:mod:`.summary`, :mod:`.sections`, :mod:`.comparison`) → the page
(:mod:`.page`). Samples go beside that, packed (:mod:`.samples`), and are unpacked in the browser (``assets/*.js``).
"""

from typing import Any

__all__ = ["build_page", "with_baseline_first"]


def __getattr__(name: str) -> Any:
    """What the page is built of is imported when it is asked for, and not for the short table that a run ends in."""
    if name == "build_page":
        from medtasks_utils.report.page import build_page

        return build_page
    if name == "with_baseline_first":
        from medtasks_utils.report.runs import with_baseline_first

        return with_baseline_first
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
