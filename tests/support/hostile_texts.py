"""Responses made to break, stall or trick the scoring, and documents that none of them is right for."""

import random
from typing import Any

from given import ROOT, table
from running import documents

FOLDER = ROOT / "tests" / "extraction" / "abstaining"


def texts(name: str) -> list[str]:
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return [line.replace("\\n", "\n") for line in lines if line.strip()]


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
