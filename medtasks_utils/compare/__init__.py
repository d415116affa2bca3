"""Comparing two runs on the same examples: ``medtasks compare``.

>>> from medtasks_utils.compare import ComparisonTable, compare_runs, one_run
>>> print(ComparisonTable(compare_runs(one_run("results/a"), one_run("results/b"))).to_text())   # doctest: +SKIP
"""

from .comparison import Agreement, Comparison, Line, compare_runs, corrected
from .inference import Contrast
from .output import ComparisonTable
from .pairing import one_run

__all__ = [
    "Agreement",
    "Comparison",
    "ComparisonTable",
    "Contrast",
    "Line",
    "compare_runs",
    "corrected",
    "one_run",
]
