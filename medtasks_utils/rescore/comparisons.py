"""Which judges are compared with which, over what: with themselves over repeats, and with each other."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

from medtasks_utils.rescore.agreement import Agreement, agree
from medtasks_utils.rescore.rows import JUDGED
from medtasks_utils.rescore.table import JudgedRow

ALL_RUNS = "all runs"
COLUMNS = ("kind", "judge", "other", "run", "examples", "alpha", "low", "high", "mean", "mean_other", "note")

Ratings = dict[tuple[str, str, str], list[float]]
"""By run, example and response."""


@dataclass(frozen=True)
class Comparison:
    """How far a judge agrees with itself (``other`` is empty) or with another, on the right answers of a run.

    Attributes:
        mean: of the judge's scores over the examples compared.
        mean_other: of the other's.
    """

    judge: str
    other: str
    run: str
    agreement: Agreement
    mean: float | None = None
    mean_other: float | None = None

    def as_row(self) -> JudgedRow:
        """For ``<prefix>agreement.csv``."""
        values = {
            "kind": "between judges" if self.other else "with itself",
            **vars(self),
            **vars(self.agreement),
        }
        return {name: "" if values[name] is None else str(values[name]) for name in COLUMNS}


def compare(rows: Iterable[JudgedRow]) -> list[Comparison]:
    """Every judge that judged more than once with itself, and every two judges with each other.

    Compared are scores that judges gave: wrong answers, which score 0 without being judged, would inflate agreement.
    Each judge enters a comparison between judges with the mean over its repeats. Per run, and over all runs if there
    are several.
    """
    scores: dict[str, dict[tuple[str, str, str], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["status"] == JUDGED:
            response = row["run"], row["example"], row["response"]
            scores[row["judge"]][response][row["repeat"]] = float(row["score"])
    comparisons = []
    for judge, own in scores.items():
        repeated = {response: list(repeats.values()) for response, repeats in own.items()}
        if any(len(values) > 1 for values in repeated.values()):
            comparisons += [
                Comparison(judge, "", run, agree(list(part.values()), [example for _, example, _ in part]))
                for run, part in _by_run(repeated)
            ]
    for judge, other in itertools.combinations(scores, 2):
        pairs = {
            response: [fmean(scores[judge][response].values()), fmean(scores[other][response].values())]
            for response in scores[judge]
            if response in scores[other]
        }
        for run, part in _by_run(pairs):
            agreement = agree(list(part.values()), [example for _, example, _ in part])
            mean, mean_other = (fmean(values) for values in zip(*part.values(), strict=True))
            comparisons.append(Comparison(judge, other, run, agreement, mean, mean_other))
    return comparisons


def _by_run(ratings: Ratings) -> Iterator[tuple[str, Ratings]]:
    runs = dict.fromkeys(run for run, _, _ in ratings)
    for run in runs:
        yield run, {response: values for response, values in ratings.items() if response[0] == run}
    if len(runs) > 1:
        yield ALL_RUNS, ratings
