"""Responses made to break, stall or trick the scoring: each is wrong or unanswered, and quickly so."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from conftest import GENERATION_TASKS, documents, reader, table, within

from medtasks_utils.benchmarks.base import UNANSWERED, Answer

LENGTH = 200_000
SHORTER = 30_000  # for the many; still enough for anything quadratic to show
(UNITS,) = table("hostile_units")
LONG = {
    "open boxes": r"\boxed{" * 50_000,
    "nested boxes": r"\boxed{" * 25_000 + "}" * 25_000,
    "nested tags": "<answer>" * 20_000 + "</answer>" * 20_000,
    "nested wrappers": r"\boxed{" + r"\text{" * 200 + "}" * 200 + "}",
    "nested parentheses": r"\boxed{" + "(" * 450 + ")" * 450 + "}",
    "unclosed thinking": "<think>" + r"The answer is \boxed{A}. " * 8_000,
    "thinking on and off": "<think></think>" * 13_000 + "<think>",
    "lone surrogates": "\ud83d\udc00" * 50_000,
    "random unicode": "".join(chr(random.Random(1).randrange(0x110000)) for _ in range(1_000)) * 200,
    "nested expression": "<answer>str(" + "(" * 900 + "1" + ")" * 900 + ")</answer>",
    "long expression": "<answer>str(" + "1+" * 100_000 + "1)</answer>",
    "long digits": "<answer>" + "7" * LENGTH + "</answer>",
    "long decimals": "<answer>7." + "7" * LENGTH + "</answer>",
    "long leading zeros": "<answer>" + "0" * LENGTH + "7</answer>",
    "many weeks": "<answer>" + "9" * 5_000 + " weeks, 3 days</answer>",
}
WRAPS = ("%s", r"\boxed{%s}", "<answer>%s</answer>", "The answer is: %s", "%s\nA")
READINGS = [6, pytest.param(1, marks=pytest.mark.slow)]
"""Each so many'th of the units: a sixth of them where tests have to be quick."""


def cases(task: Any) -> list[dict[str, Any]]:
    """One document of each kind of judgement, with a right answer that no response can give."""
    docs = documents(task)
    if "judgement" in docs[0]:
        kinds = {doc["judgement"]: doc for doc in docs}
        truths = {"date": "11/23/1987", "weeks_days": "(33 weeks, 5 days)", "integer": "-77", "decimal": "-77.7"}
        limits = {"lower_limit": -77.75, "upper_limit": -77.65}
        return [{**doc, **limits, "ground_truth": truths[kind]} for kind, doc in kinds.items()]
    impossible = {"answer_letter": "none"} if "answer_letter" in docs[0] else {"target": "3"}
    return [{**docs[0], **impossible}]


@pytest.mark.parametrize("name", GENERATION_TASKS)
@pytest.mark.parametrize("share", READINGS)
def test_hostile_responses_are_wrong_and_quick(name: str, share: int) -> None:
    task = reader(name)
    docs = itertools.cycle(cases(task))
    wraps = itertools.cycle(WRAPS)
    responses = {unit: next(wraps).replace("%s", unit * (SHORTER // len(unit))) for unit in UNITS[::share]}
    responses |= {f"long {unit}": unit * (LENGTH // len(unit)) for unit in UNITS[:: 4 * share]}
    with within(300 // share):
        for label, response in {**responses, **LONG, **dict(table("hostile_answers"))}.items():
            for doc in itertools.islice(docs, 2 if name == "medcalc_bench" else 1):
                for read in (task.strict, task.flexible):
                    answer = read(response, doc)
                    scores = task.score(doc, answer)
                    assert scores["acc"] == 0.0, (label, answer[:100])
                    assert isinstance(answer, Answer)
                    assert (answer == UNANSWERED) == (answer.value is None)
                    assert not scores["answered"] or answer.value is not None


@pytest.mark.parametrize("name", GENERATION_TASKS)
def test_nothing_clear_is_unanswered_under_both(name: str) -> None:
    task = reader(name)
    for doc in cases(task):
        for response in ("", " \n", "<think>", r"\boxed{", "<think>A", "\x00", "…", "{" * 50_000):
            readings = [task.strict, task.flexible]
            if name == "medexqa_all" and response.strip() and not response.startswith("<think>"):
                readings = [task.flexible]  # the authors' rule credits the most similar option
            assert [read(response, doc).value for read in readings] == [None] * len(readings), response[:20]
