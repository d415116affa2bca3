"""Responses made to break, stall or trick the scoring: each is wrong or unanswered. Times are measured elsewhere."""

import itertools

import pytest
from given import GENERATION_TASKS, table
from hostile_texts import UNITS, cases, long
from running import reader

from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.benchmarks.medcalc_bench.values import read_value
from medtasks_utils.benchmarks.medhallu.verdicts import read_verdict
from medtasks_utils.extraction.letters import read_letter

WRAPS = ("%s", r"\boxed{%s}", "<answer>%s</answer>", "The answer is: %s", "%s\nA")


@pytest.mark.parametrize("name", GENERATION_TASKS)
@pytest.mark.parametrize(("share", "length"), [(12, 20_000), pytest.param(1, 200_000, marks=pytest.mark.slow)])
def test_hostile_responses_are_wrong_and_are_read_to_the_end(name, share, length):
    """With each so many'th of the units; anything quadratic would take minutes."""
    task = reader(name)
    docs = itertools.cycle(cases(task))
    wraps = itertools.cycle(WRAPS)
    responses = {unit: next(wraps).replace("%s", unit * (length // 6 // len(unit))) for unit in UNITS[::share]}
    responses |= {f"long {unit}": unit * (length // len(unit)) for unit in UNITS[:: 4 * share]}
    for label, response in {**responses, **long(length), **dict(table("hostile_answers"))}.items():
        for doc in itertools.islice(docs, 2 if name == "medcalc_bench" else 1):
            for read in (task.strict, task.flexible):
                answer = read(response, doc)
                scores = task.score(doc, answer)
                assert scores["acc"] == 0.0, (label, answer[:100])
                assert (answer == UNANSWERED) == (answer.value is None) and scores["answered"] <= (answer != UNANSWERED)


def test_a_longer_text_has_no_more_candidates():
    for unit, read in (
        ("The answer is B. ", lambda text: read_letter(text, "wxyz")),
        ("The value is 5.5. ", lambda text: read_value(text, "decimal")),
        ("It is not supported. ", read_verdict),
    ):
        few, many = (len(read(unit * count).candidates) for count in (2_500, 5_000))
        assert 0 < few == many


@pytest.mark.parametrize(("before", "after"), [(400, 270), (90, 700)])
def test_an_answer_is_read_in_the_first_two_and_the_last_ten_thousand_characters(before, after):
    text = "It is a long story. " * before + "The answer is B. " + "It goes on and on. " * after
    assert read_letter(text, "wxyz").value == "B"
