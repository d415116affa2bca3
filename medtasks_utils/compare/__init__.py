"""Compare two runs on the same examples: ``medtasks compare``.

>>> from medtasks_utils.compare import compare_runs, comparison_lines, one_run
>>> print(*comparison_lines(compare_runs(one_run("results/a"), one_run("results/b"))), sep="\\n")   # doctest: +SKIP
"""

from .comparing import compare_runs
from .comparison_table import comparison_data, comparison_lines
from .contrast import MetricDifference
from .pairing import one_run

__all__ = [
    "MetricDifference",
    "compare_runs",
    "comparison_data",
    "comparison_lines",
    "one_run",
]
