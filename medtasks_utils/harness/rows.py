"""Give lm_eval the examples of a split in the form of a data set."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from medtasks_utils.benchmarks.facts import Example


class Rows(Sequence[Example]):
    """The examples of a split, with the interface that lm_eval expects of a data set.

    Attributes:
        features: an example, whose keys are the names of the fields.
    """

    def __init__(self, rows: Sequence[Example]) -> None:
        self._rows = rows
        self.features = rows[0]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        """Return a copy of an example, or of those in a slice, since functions of the user may modify what they get."""
        return deepcopy(self._rows[index])
