"""Our verdicts beside those of the harness that a run comes from."""

from types import SimpleNamespace
from typing import Any

import pytest

from medtasks_utils.compare.verdicts import compare_verdicts, verdict_lines
from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Sample


def sample(place: int, acc: float, found_by: str | None = None, **theirs: float) -> Sample:
    own: dict[str, Any] = {"answers": {"f": [f"read {place}"]}, "metrics": {"f": {"acc": acc}}}
    ways = {"f": [found_by]} if found_by else {}
    return Sample(place, "", {}, [], [""], "A", **own, details={"f": {"other_scores": theirs}}, found_by=ways)


def test_verdicts_are_told_by_score_kind_and_way():
    samples = [
        *(sample(0, 1.0, "box", em=1.0, env=0.0), sample(1, 0.5, em=0.51), sample(2, 0.6, "box", em=0.0)),
        *(sample(3, 0.0, "box", em=0.5), sample(4, 1.0)),
    ]
    run: Any = SimpleNamespace(path="imported", tasks={"t": SimpleNamespace(task="t", samples=samples)})
    verdicts = compare_verdicts(run, "f", [])
    assert [(one["score"], one["doc_id"], one["verdict"], one["found_by"]) for one in verdicts] == [
        *(("em", 0, "both right", "box"), ("env", 0, "only ours right", "box")),
        *(
            ("em", 1, "only theirs right", "unknown"),
            ("em", 2, "only ours right", "box"),
            ("em", 3, "both wrong", "box"),
        ),
    ]
    assert verdicts[0] | {"score": ""} == {
        "task": "t",
        "filter": "f",
        "score": "",
        "verdict": "both right",
        "doc_id": 0,
        "found_by": "box",
        "answers": ["read 0"],
        "target": "A",
    }
    assert [line.split("\n")[-1].split() for line in verdict_lines(compare_verdicts(run, "f", ["em"]))] == [
        ["t", "(f", "and", "em):", "50.0", "%", "of", "4", "verdicts", "agree"],
        ["only", "theirs", "right", "unknown", "1", "1:", "read", "1", "(target", "A)"],
    ]
    with pytest.raises(MedtasksError, match="imported has no other; name a second run"):
        compare_verdicts(run, "f", ["other"])
