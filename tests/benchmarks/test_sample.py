"""The bundled sample: rows written for this project, each answer of which was worked out by hand from its note.

A checksum stands for that work: whoever changes a row works its answer out again, and sets the sum anew.
"""

import hashlib
from collections import Counter

from given import GENERATION_TASKS, each_row
from running import documents_of

from medtasks_utils.harness.sources import SAMPLE


@each_row("checked_rows")
def test_the_rows_of_the_sample_are_those_whose_answers_were_worked_out(folder, checked):
    whole = hashlib.sha256()
    for path in sorted((SAMPLE / folder).rglob("*.*")):
        if path.suffix in (".csv", ".tsv", ".jsonl"):
            whole.update(str(path.relative_to(SAMPLE)).encode() + path.read_bytes())
    assert whole.hexdigest() == checked


def test_every_letter_and_both_answers_are_right_as_often_as_any_other():
    """What the floors of ``medtasks selfcheck`` rest on."""
    for task in GENERATION_TASKS:
        rights = Counter(doc.get("answer_letter") or doc.get("target") for doc in documents_of(task))
        assert task == "medcalc_bench" or len(set(rights.values())) == 1 < len(rights), task
