"""Judge explanations by the rubric of Medmarks (arXiv:2605.01417): four yes-or-no questions in one request.

The prompt is ``prompts/rubric.md``, which is Medmarks' own. A tag missing from a reply earns no point.
"""

import re

from medtasks_utils.writing import JsonObject

from . import templates
from .judge import Ask, Case, Judgement

_EARNS = {
    "core_logic_aligned": True,
    "key_steps_present": True,
    "extraneous_reasoning": False,
    "critical_error": False,
}
"""The tags of a reply, each with the value that earns a point."""

_GEMINI = {"temperature": 1.0, "top_p": 0.95, "top_k": 64, "reasoning_effort": "low"}
_OTHERS = {"temperature": 1.0, "reasoning_effort": "low"}


class Rubric:
    """A judge that asks Medmarks' four questions, in one request per case."""

    name = "rubric"
    rates = ()

    @property
    def signature(self) -> str:
        """A string that identifies the scoring method, independently of the judge model."""
        return f"rubric|prompt:{templates.load('rubric').version}|sampling:medmarks"

    @staticmethod
    def sampling(model: str) -> JsonObject:
        """Return Medmarks' request parameters for a judge model; they do not limit the reply's length."""
        return dict(_GEMINI if "gemini" in model.lower() else _OTHERS)

    async def judge(self, case: Case, ask: Ask) -> Judgement:
        """Judge one case; the output contains the points of each question."""
        both = (*case.references, "")  # as in Medmarks, where a missing reference is blank
        messages = templates.load("rubric").messages(**case._replace(references=both)._asdict())
        points = await ask(messages, read_points)
        return Judgement(100 * sum(points.values()) / len(points), output=points)


def read_points(text: str) -> dict[str, int]:
    """Return the points, 0 or 1, of each question in a reply; a question whose tag is missing earns 0.

    >>> sum(read_points("<core_logic_aligned>True</core_logic_aligned><critical_error>no</critical_error>").values())
    2
    """
    points = {}
    for name, earning in _EARNS.items():
        tag = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        content = tag[1].lower() if tag else ""
        is_yes = "true" in content and "false" not in content
        points[name] = int(tag is not None and is_yes == earning)
    return points
