"""Responses made to break, stall or trick the scoring: each is wrong or unanswered, and quickly so."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import pytest
from conftest import GENERATION_TASKS, documents, reader

from medtasks_utils.benchmarks.base import UNANSWERED, Answer

LENGTH = 200_000
SHORTER = 30_000  # for the many; still enough for anything quadratic to show
SECONDS = 5.0  # far above what any takes, and far below what anything quadratic would

UNITS = [
    *(
        "A",
        "a ",
        "A ",
        "A. ",
        "D) ",
        "0",
        "9",
        "1 ",
        " ",
        "\n",
        "\t",
        "\r\n",
        "\u00a0",
        "\u2028",
        "日本",
        "١",
        "ﬁ",
        "İ",
    ),
    *(
        "\x00",
        "\x1b[31m",
        "\u202e",
        "\ufffd",
        "😀",
        "e\u0301",
        "\\",
        "\\\\",
        "{",
        "}",
        "{}",
        "(",
        "((",
        "[[",
        "'",
        '"',
        "'\"",
    ),
    *("excluded: [B, C, D] ", "A → ", "neither 0 nor 1 ", "80 % "),
    *(
        r"\boxed{",
        r"\boxed{A",
        r"\boxed{1}",
        r"\boxed{}",
        r"\text{",
        r"\frac{",
        r"\frac{1}{",
        r"\frac{1}{2}",
        "$",
        "*",
        "**",
    ),
    *("**A", "** ", "__", "#", "> ", "- ", "-", "--1", "1-", "1/", "1/1/", "1/1/2020 ", "Jan ", "Jan 1 ", "2020-01-01"),
    *("<think>", "</think>", "<think>x</think>", "<answer>", "</answer>", "<answer>1</answer>", "<", "str(", "str(1)"),
    *(
        "1,",
        "1,000,",
        "1 000 ",
        "1 out of ",
        "1 of ",
        "out of ",
        "1.",
        "1.1",
        "1e",
        "1e5",
        "%",
        "1%",
        "=",
        "≈",
        "x = ",
        "1×10^",
    ),
    *(
        "mL/min/1.73",
        "1 mL/min/1.73 ",
        "kg/m^2 ",
        "weeks ",
        "1 weeks ",
        "1 weeks, ",
        "1w",
        "1+",
        "4 weeks 3 days ",
        "(1,",
    ),
    *(
        "answer ",
        "answer is ",
        "Answer: ",
        "answer:\n",
        "Answer\n",
        "answer: A ",
        "answer is: ",
        "answer is the ",
        "final value ",
    ),
    *(
        "choose ",
        "I choose ",
        "option ",
        "option A ",
        "A is correct ",
        "A is ",
        "A or B ",
        "A, ",
        "not A ",
        "therefore ",
    ),
    *(
        "is hallucinated ",
        "it is ",
        "it is the ",
        "the answer is not ",
        "if ",
        "verdict ",
        "true ",
        "not ",
        "contains ",
        "0. ",
    ),
]
SPECIALS = {
    "open braces": "{" * 50_000,
    "open boxes": r"\boxed{" * 50_000,
    "nested boxes": r"\boxed{" * 25_000 + "}" * 25_000,
    "nested tags": "<answer>" * 20_000 + "</answer>" * 20_000,
    "nested wrappers": r"\boxed{" + r"\text{" * 200 + "}" * 200 + "}",
    "nested parentheses": r"\boxed{" + "(" * 450 + ")" * 450 + "}",
    "unclosed thinking": "<think>" + r"The answer is \boxed{A}. " * 8_000,
    "thinking on and off": "<think></think>" * 13_000 + "<think>",
    "control characters": "".join(map(chr, range(32))) * 6_000,
    "lone surrogates": "\ud83d\udc00" * 50_000,
    "noncharacters": "\ufffe\uffff\U0010ffff" * 50_000,
    "random unicode": "".join(chr(random.Random(1).randrange(0x110000)) for _ in range(1_000)) * 200,
    "system call": "<answer>str(__import__('os').system('x'))</answer>",
    "exit": "<answer>str(exit())</answer>",
    "attributes": "<answer>str(().__class__.__bases__[0].__subclasses__())</answer>",
    "tower": "<answer>9**9**9</answer>",
    "evaluated tower": "<answer>str(9**9**9)</answer>",
    "huge power": "<answer>str((2**999)**999)</answer>",
    "huge string": "<answer>str('x'*10**9)</answer>",
    "huge format": "<answer>str('%999999999d' % 1)</answer>",
    "huge rounding": "<answer>str(round(5, -10**9))</answer>",
    "nested expression": "<answer>str(" + "(" * 900 + "1" + ")" * 900 + ")</answer>",
    "long expression": "<answer>str(" + "1+" * 100_000 + "1)</answer>",
    "not a number": "<answer>NaN</answer>",
    "infinity": "<answer>inf</answer>",
    "evaluated infinity": "<answer>str(float('inf'))</answer>",
    "evaluated not a number": "<answer>str(float('nan'))</answer>",
    "overflow": "<answer>1e999</answer>",
    "long digits": "<answer>" + "7" * LENGTH + "</answer>",
    "long decimals": "<answer>7." + "7" * LENGTH + "</answer>",
    "long leading zeros": "<answer>" + "0" * LENGTH + "7</answer>",
    "February 30": "<answer>2/30/2021</answer>",
    "February 30, ISO": "<answer>2021-02-30</answer>",
    "30 February": "<answer>30 February 2021</answer>",
    "month 13": "<answer>13/13/2021</answer>",
    "year 0": "<answer>1/1/0000</answer>",
    "many weeks": "<answer>" + "9" * 5_000 + " weeks, 3 days</answer>",
    "template": "<answer>{{ 7 * 7 }} %s {0}</answer>",
    "empty": "",
    "blank": " \n\t ",
}


LONGEST = [
    *(
        "A ",
        "0",
        "1 ",
        " ",
        "\n",
        "{",
        r"\boxed{",
        "<think>",
        "<answer>",
        "str(",
        "answer is ",
        "**A",
        "1,",
        "1 out of ",
    ),
    *("mL/min/1.73", r"\frac{", "weeks ", "(", "[[", "'", "日本", "the answer is not "),
]


IN_SHORT = [6, pytest.param(1, marks=pytest.mark.slow)]
"""Each so many'th response: a sixth of them where tests have to be quick."""


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def hostile() -> dict[str, str]:
    shorter = {repr(unit): repeated(unit, SHORTER) for unit in UNITS}
    return {**shorter, **{repr(unit): repeated(unit, LENGTH) for unit in LONGEST}, **SPECIALS}


def cases(task: Any) -> list[dict[str, Any]]:
    """One document of each kind of judgement, whose right answer none of the responses can hit."""
    docs = documents(task)
    if "judgement" in docs[0]:
        kinds = {doc["judgement"]: doc for doc in docs}
        truths = {"date": "11/23/1987", "weeks_days": "(33 weeks, 5 days)", "integer": "-77", "decimal": "-77.7"}
        limits = {"lower_limit": -77.75, "upper_limit": -77.65}
        return [{**doc, **limits, "ground_truth": truths[kind]} for kind, doc in kinds.items()]
    return docs[:1]


def impossible(doc: dict[str, Any]) -> dict[str, Any]:
    """The document with a right answer that no response can give."""
    return {
        **doc,
        **{key: "none" for key in ("answer_letter",) if key in doc},
        **({"target": "3"} if "target" in doc else {}),
    }


@pytest.mark.parametrize("name", GENERATION_TASKS)
@pytest.mark.parametrize("share", IN_SHORT)
def test_hostile_responses_are_wrong_and_quick(name: str, share: int) -> None:
    task = reader(name)
    docs = itertools.cycle(map(impossible, cases(task)))
    for label, response in list(hostile().items())[::share]:
        for doc in itertools.islice(docs, 2 if name == "medcalc_bench" else 1):
            for read in (task.strict, task.flexible):
                started = time.process_time()
                answer = read(response, doc)
                scores = task.score(doc, answer)
                seconds = time.process_time() - started
                assert scores["acc"] == 0.0, (label, answer[:100])
                assert seconds < SECONDS, (label, read)
                assert isinstance(answer, Answer)
                assert (answer == UNANSWERED) == (answer.value is None)
                assert not scores["answered"] or answer.value is not None


@pytest.mark.parametrize("name", GENERATION_TASKS)
@pytest.mark.parametrize("wrap", [r"\boxed{%s}", "<answer>%s</answer>", "The answer is: %s", "%s\nA"])
@pytest.mark.parametrize("share", IN_SHORT)
def test_hostile_contents_are_quick(name: str, wrap: str, share: int) -> None:
    task = reader(name)
    doc = cases(task)[-1]
    for unit in UNITS[::share]:
        response = wrap.replace("%s", repeated(unit, SHORTER))
        for read in (task.strict, task.flexible):
            started = time.process_time()
            task.score(doc, read(response, doc))
            assert time.process_time() - started < SECONDS, (unit, read)


@pytest.mark.parametrize("name", GENERATION_TASKS)
def test_nothing_clear_is_unanswered_under_both(name: str) -> None:
    task = reader(name)
    for doc in cases(task):
        for response in ("", " \n", "<think>", r"\boxed{", "<think>A", "\x00", "…", "{" * 50_000):
            readings = [task.strict, task.flexible]
            if name == "medexqa_all" and response.strip() and not response.startswith("<think>"):
                readings = [task.flexible]  # the authors' rule credits the most similar option
            assert [read(response, doc).value for read in readings] == [None] * len(readings), response[:20]
