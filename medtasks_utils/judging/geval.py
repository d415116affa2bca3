"""G-Eval (Liu et al., arXiv:2303.16634): the model works through seven steps and gives a score, in one call.

The prompt is ``prompts/geval.md``. What the reply must be is :class:`GEvalReply`. Only ``final_score`` decides whether
a reply counts, as a number or as a string that is one; other fields that are missing or of another form are named under
``malformed`` in the output, and the object is otherwise kept as the judge wrote it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medtasks_utils.judging import templates
from medtasks_utils.judging.judge import Ask, Case, Verdict
from medtasks_utils.judging.replies import UnreadableError, find_object


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Alignment(_Strict):
    """Step 2: the claims, compared with the right option and both references."""

    aligned: list[str]
    contradicting: list[str]
    new: list[str]


class GEvalReply(_Strict):
    """The object that the judge returns; its JSON schema is sent to endpoints that can enforce one."""

    claims: list[str]
    alignment: Alignment
    correct_option_justified: bool
    medical_errors: list[str]
    distractor_refutation: Literal["accurate", "weak", "absent", "not_applicable"]
    reasoning: Literal["clear", "somewhat_clear", "confusing"]
    final_score: float = Field(description="0 to 100")
    justification: str


_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
SCHEMA = GEvalReply.model_json_schema()


class GEval:
    """One call a case."""

    name = "g-eval"
    rates: Sequence[str] = ()

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
    """The judge's object, with ``malformed`` naming the fields that are not as asked for.

    Raises:
        UnreadableError: if there is no object, or its ``final_score`` is missing, no number, not within 0–100, or a
            fraction between 0 and 1, which is on another scale.
    """
    reply = find_object(text, having="final_score")
    score = reply["final_score"]
    if isinstance(score, str) and _NUMBER.fullmatch(score.strip()):
        reply = {**reply, "final_score": float(score)}
    malformed: list[str] = []
    try:
        GEvalReply.model_validate(reply)
    except ValidationError as error:
        problems = [problem for problem in error.errors() if problem["type"] != "extra_forbidden"]
        malformed = list(dict.fromkeys(str(problem["loc"][0]) for problem in problems))
    if "final_score" in malformed or not (reply["final_score"] == 0 or 1 <= reply["final_score"] <= 100):
        raise UnreadableError("final_score is no number from 0 to 100; a fraction below 1 is on another scale")
    return {**reply, "malformed": malformed} if malformed else reply
