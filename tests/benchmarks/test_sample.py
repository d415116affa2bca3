"""The bundled sample: rows written for this project, each answer of which was worked out by hand from its note.

A checksum stands for that work: whoever changes a row works its answer out again, and sets the sum anew.
"""

import hashlib
from collections import Counter

import pytest
from given import GENERATION_TASKS
from running import documents_of

from medtasks_utils.harness.sources import SAMPLE

CHECKED = {
    "medcalc_bench": "48bdc722183657c81fc2a0f91adb1c8166f728ab0c7a874a10c76fa7c3f16493",
    "medexqa": "1ec321c2644ddbd355fcb4697998c687678d8511546e89181a26b892a553bd14",
    "medhallu": "cc202ee6e06585b230e7215129eef53412962674e519c56f59b1d3ad3cf6a9d2",
    "medmcqa": "64bd78f81e3b6137de6d781704a8ed41999c6371542e057626d24a8fb7d75de8",
}


@pytest.mark.parametrize(("folder", "checked"), CHECKED.items())
def test_the_rows_are_those_that_were_checked(folder, checked):
    whole = hashlib.sha256()
    for path in sorted((SAMPLE / folder).rglob("*.*")):
        if path.suffix in (".csv", ".tsv", ".jsonl"):
            whole.update(str(path.relative_to(SAMPLE)).encode() + path.read_bytes())
    assert whole.hexdigest() == checked


def test_every_letter_and_both_answers_are_right_as_often_as_any_other():
    """What the floors of ``medtasks selfcheck`` rest on."""
    for task in GENERATION_TASKS:
        docs = documents_of(task)
        rights = Counter(doc.get("answer_letter") or doc.get("target") for doc in docs)
        assert task == "medcalc_bench" or len(set(rights.values())) == 1 < len(rights), task
