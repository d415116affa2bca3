"""Judge explanations by G-Eval (Liu et al., arXiv:2303.16634): seven steps and a score in one request.

The prompt is ``prompts/geval.md``; endpoints that can enforce a JSON schema are sent ``prompts/geval_reply.json``. A
reply is valid if ``final_score`` is a number or a string that contains one; the rest of the object is kept unchanged.
"""

import json
import re

from medtasks_utils.writing import JsonObject

from . import templates
from .judge import Ask, Case, Judgement
from .judge_replies import UnreadableError, only_json

SCHEMA: JsonObject = json.loads((templates.PROMPTS / "geval_reply.json").read_bytes())
_NUMBER = re.compile(r"\s{0,9}[0-9]{1,9}(?:\.[0-9]{1,9})?\s{0,9}")


class GEval:
    """A judge that requests seven steps and a score, in one request per case."""

    name = "g-eval"
    rates = ()

    @property
    def signature(self) -> str:
        """A string that identifies the scoring method, independently of the judge model."""
        return f"g-eval|prompt:{templates.load('geval').version}|fractions:fail"

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge one case; the output is the judge's JSON object."""
        messages = templates.load("geval").messages(**case._asdict())
        output = await ask(messages, read_object, SCHEMA)
        return Judgement(float(output["final_score"]), output=output)


def read_object(text: str) -> JsonObject:
    """Return the judge's JSON object, with ``final_score`` as a number.

    Raises:
        UnreadableError: if there is no object or more than one, or if ``final_score`` is missing, not a number, outside
            0 to 100, or strictly between 0 and 1, which suggests a different scale.
    """
    reply = only_json(text, "{", lambda value: "final_score" in value, "object with 'final_score'")
    score = reply["final_score"]
    if isinstance(score, str) and _NUMBER.fullmatch(score):
        score = float(score)
    if type(score) not in (int, float) or not (score == 0 or 1 <= score <= 100):
        raise UnreadableError("final_score is not a number from 0 to 100 (a fraction below 1 is on a different scale)")
    return {**reply, "final_score": score}
