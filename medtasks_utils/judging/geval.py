"""G-Eval (Liu et al., arXiv:2303.16634): the model works through seven steps and gives a score, in one call.

The prompt is ``prompts/geval.md``, and the JSON schema of the reply, which is sent to endpoints that can enforce one,
``prompts/geval_reply.json``. Only ``final_score`` decides whether a reply counts, as a number or as a string that is
one; the object is otherwise kept as the judge wrote it.
"""

import dataclasses
import json
import re
from typing import Any

from . import templates
from .judge import Ask, Case, Verdict
from .replies import UnreadableError, only_json

SCHEMA: dict[str, Any] = json.loads((templates.PROMPTS / "geval_reply.json").read_text(encoding="utf-8"))
_NUMBER = re.compile(r"\s{0,9}[0-9]{1,9}(?:\.[0-9]{1,9})?\s{0,9}")


class GEval:
    """One call a case."""

    name = "g-eval"
    rates = ()

    @property
    def signature(self) -> str:
        """Every choice behind the number but the model."""
        return f"g-eval|prompt:{templates.load('geval').version}|fractions:fail"

    async def judge(self, case: Case, ask: Ask) -> Verdict:
        """Judge one case; the output is the judge's object."""
        messages = templates.load("geval").messages(**dataclasses.asdict(case))
        output = await ask(messages, read_object, SCHEMA)
        return Verdict(float(output["final_score"]), output)


def read_object(text: str) -> dict[str, Any]:
    """The judge's object.

    Raises:
        UnreadableError: if there is no object, or its ``final_score`` is missing, no number, not within 0–100, or a
            fraction between 0 and 1, which is on another scale.
    """
    reply = only_json(text, "{", lambda value: "final_score" in value, "object with 'final_score'")
    score = reply["final_score"]
    if isinstance(score, str) and _NUMBER.fullmatch(score):
        score = float(score)
    if type(score) not in (int, float) or not (score == 0 or 1 <= score <= 100):
        raise UnreadableError("final_score is no number from 0 to 100; a fraction below 1 is on another scale")
    return {**reply, "final_score": score}
