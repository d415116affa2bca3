"""Our verdicts beside those of the harness that a run comes from."""

from types import SimpleNamespace
from typing import Any

import pytest
from given import table

from medtasks_utils.compare.verdicts import compare_verdicts, verdict_lines
from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Sample


def sample(place: int, acc: float, found_by: str | None = None, **theirs: float) -> Sample:
    own: dict[str, Any] = {"answers": {"f": [f"read {place}"]}, "metrics": {"f": {"acc": acc}}}
    ways = {"f": [found_by]} if found_by else {}
    return Sample(place, "", {}, [], [""], "A", **own, details={"f": {"other_scores": theirs}}, found_by=ways)


def test_verdicts_are_told_by_score_kind_and_way():
    """Each row of the table: our score and the way to its answer, their scores, and the verdicts on them."""
    cases = table("verdicts")
    samples = [sample(place, acc, way, **theirs) for place, (acc, way, theirs, _) in enumerate(cases)]
    run: Any = SimpleNamespace(path="imported", tasks={"t": SimpleNamespace(task="t", samples=samples)})
    verdicts = compare_verdicts(run, "f", [])
    told: list[Any] = [[] for _ in cases]
    for one in verdicts:
        told[one["doc_id"]].append([one["score"], one["verdict"], one["found_by"]])
    assert told == [expected for *_, expected in cases]
    assert verdicts[0].items() >= {"task": "t", "filter": "f", "answers": ["read 0"], "target": "A"}.items()
    lines = [line.split("\n")[-1] for line in verdict_lines(compare_verdicts(run, "f", ["em"]))]
    assert [" ".join(line.split()) for line in lines] == [
        "t (f and em): 50.0 % of 4 verdicts agree",
        "only theirs right unknown 1 1: read 1 (target A)",
    ]
    with pytest.raises(MedtasksError, match="imported has no other; name a second run"):
        compare_verdicts(run, "f", ["other"])
