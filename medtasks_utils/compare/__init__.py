"""Compare two runs on the same examples: ``medtasks compare``.

>>> from medtasks_utils.compare import ComparisonTable, compare_runs, one_run
>>> print(ComparisonTable(compare_runs(one_run("results/a"), one_run("results/b"))).to_text())   # doctest: +SKIP
"""

from .comparing import Comparison, compare_runs
from .comparison_table import ComparisonTable
from .contrast import Contrast
from .difference import MetricDifference, corrected
from .pairing import one_run
from .task_pair import Agreement

__all__ = [
    "Agreement",
    "Comparison",
    "ComparisonTable",
    "Contrast",
    "MetricDifference",
    "compare_runs",
    "corrected",
    "one_run",
]
