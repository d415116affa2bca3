"""Responses made to break, stall or trick the scoring: each is wrong or unanswered. Times are measured elsewhere."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from conftest import GENERATION_TASKS, documents, reader, table

from medtasks_utils.benchmarks.base import UNANSWERED, Answer
from medtasks_utils.extraction.letters import read_letter
from medtasks_utils.extraction.values import read_value
from medtasks_utils.extraction.verdicts import read_verdict
from medtasks_utils.extraction.weighing import Reading

(UNITS,) = table("hostile_units")


def long(length: int) -> dict[str, str]:
    """Texts of about so many characters."""
    return {
        "open boxes": r"\boxed{" * (length // 4),
        "nested boxes": r"\boxed{" * (length // 8) + "}" * (length // 8),
        "nested tags": "<answer>" * (length // 10) + "</answer>" * (length // 10),
        "nested wrappers": r"\boxed{" + r"\text{" * 200 + "}" * 200 + "}",
        "nested parentheses": r"\boxed{" + "(" * 450 + ")" * 450 + "}",
        "unclosed thinking": "<think>" + r"The answer is \boxed{A}. " * (length // 25),
        "thinking on and off": "<think></think>" * (length // 15) + "<think>",
        "lone surrogates": "\ud83d\udc00" * (length // 4),
        "random unicode": "".join(chr(random.Random(1).randrange(0x110000)) for _ in range(1_000)) * (length // 1_000),
        "nested expression": "<answer>str(" + "(" * 900 + "1" + ")" * 900 + ")</answer>",
        "long expression": "<answer>str(" + "1+" * (length // 2) + "1)</answer>",
        "long digits": "<answer>" + "7" * length + "</answer>",
        "long decimals": "<answer>7." + "7" * length + "</answer>",
        "long leading zeros": "<answer>" + "0" * length + "7</answer>",
        "many weeks": "<answer>" + "9" * 5_000 + " weeks, 3 days</answer>",
    }


WRAPS = ("%s", r"\boxed{%s}", "<answer>%s</answer>", "The answer is: %s", "%s\nA")


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
@pytest.mark.parametrize(("share", "length"), [(12, 20_000), pytest.param(1, 200_000, marks=pytest.mark.slow)])
def test_hostile_responses_are_wrong_and_are_read_to_the_end(name: str, share: int, length: int) -> None:
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
                assert isinstance(answer, Answer)
                assert (answer == UNANSWERED) == (answer.value is None)
                assert not scores["answered"] or answer.value is not None


READERS = {
    "letters": ("The answer is B. ", lambda text: read_letter(text, ["one", "two", "three", "four"])),
    "values": ("The value is 5.5. ", lambda text: read_value(text, "decimal")),
    "verdicts": ("It is not supported. ", read_verdict),
}


@pytest.mark.parametrize(("unit", "read"), READERS.values(), ids=READERS)
def test_a_longer_text_has_no_more_candidates(unit: str, read: Callable[[str], Reading]) -> None:
    few, many = (len(read(unit * count).candidates) for count in (2_500, 5_000))
    assert 0 < few == many


@pytest.mark.parametrize("name", GENERATION_TASKS)
def test_nothing_clear_is_unanswered_under_both(name: str) -> None:
    task = reader(name)
    for doc in cases(task):
        for response in ("", " \n", "<think>", r"\boxed{", "<think>A", "\x00", "…", "{" * 50_000):
            readings = [task.strict, task.flexible]
            if name == "medexqa_all" and response.strip() and not response.startswith("<think>"):
                readings = [task.flexible]  # the authors' rule credits the most similar option
            assert [read(response, doc).value for read in readings] == [None] * len(readings), response[:20]
