"""Comparing two runs on the same examples: ``medtasks compare``.

>>> from medtasks_utils.compare import as_table, compare_runs, one_run
>>> print(as_table(compare_runs(one_run("results/a"), one_run("results/b"))))      # doctest: +SKIP
"""

from .comparison import Agreement, Comparison, Line, compare_runs, corrected
from .inference import Contrast
from .output import as_dict, as_table
from .pairing import one_run

__all__ = [
    "Agreement",
    "Comparison",
    "Contrast",
    "Line",
    "as_dict",
    "as_table",
    "compare_runs",
    "corrected",
    "one_run",
]
