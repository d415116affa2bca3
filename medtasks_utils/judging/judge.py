"""Define judges, their cases and their judgements, and register judges by name."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from statistics import fmean
from typing import Any, NamedTuple, Protocol, TypeVar

from medtasks_utils.registry import Registry
from medtasks_utils.writing import JsonObject

from .judge_settings import JudgeError

Value = TypeVar("Value")
Messages = list[dict[str, str]]
Schema = JsonObject | None
"""A JSON schema of the reply, for endpoints that can enforce it; None for no schema."""


class Case(NamedTuple):
    """The explanation of a right answer, with its question, choices and references.

    Attributes:
        specialty: the medical field, such as ``clinical_psychology``, which selects the worked examples.
        question: the question without its choices.
        options: the texts of the choices A to D.
        answer_letter: the letter of the right choice, which the response chose.
        explanation: the response without its think block.
        references: one or two reference explanations, none of which is blank.
    """

    specialty: str
    question: str
    options: tuple[str, ...]
    answer_letter: str
    explanation: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """The result of judging one case: a score or a failure.

    Attributes:
        score: the score from 0 to 100; None if the judge failed.
        failure: the kind of failure: ``timeout``, ``unreachable``, ``refusal``, ``unreadable``, ``http_429`` and other
            statuses; None if the case was judged.
        error: a description of the failure, on one line and without secrets; None if the case was judged.
        output: the complete output of the judge: G-Eval's JSON object, or FActScore's ``claims``, ``labels``,
            ``support`` and, with coverage, ``reference_claims``, ``reference_labels`` and ``coverage``. Empty after a
            failure.
    """

    score: float | None
    failure: str | None = None
    error: str | None = None
    output: JsonObject = field(default_factory=dict)

    @property
    def logged(self) -> JsonObject:
        """The judgement as samples log it: the score, the failure and the complete output in one object."""
        return {"score": self.score, "failure": self.failure, "error": self.error, **self.output}


class CallError(Exception):
    """A request to the judge that failed, or whose replies could not be read.

    Attributes:
        kind: the kind of failure, as in :class:`Judgement`.
    """

    def __init__(self, message: str = "", kind: str = "unreadable") -> None:
        super().__init__(message)
        self.kind = kind


Ask = Callable[..., Awaitable[Any]]
"""A function that queries the judge model: ``await ask(messages, read, schema)`` returns the parsed reply.

``messages`` is the chat. ``read`` parses the reply's text (without its think block), or raises
:class:`~medtasks_utils.judging.judge_replies.UnreadableError`. ``schema`` is optional. The function raises
:class:`CallError` if the request fails, or if no attempt yields a readable reply.
"""


class Judge(Protocol):
    """An object that judges cases, each with one or more requests.

    Attributes:
        name: the judge's name in :data:`JUDGES`.
        rates: the names of additional scores from 0 to 100 in the output.
    """

    name: str
    rates: Sequence[str]

    @property
    def signature(self) -> str:
        """A line that identifies the scoring method, including prompt versions but not the model."""

    async def judge(self, case: Any, ask: Ask) -> Judgement:
        """Judge one hashable case, and return its score and output.

        Raises:
            CallError: if a request failed, or if no attempt yielded a readable reply.
        """


JUDGES = Registry(
    "medtasks.judges",
    {
        "g-eval": "medtasks_utils.judging.geval:GEval",
        "factscore": "medtasks_utils.judging.factscore:FActScore",
        "rubric": "medtasks_utils.judging.rubric:Rubric",
    },
)
"""Classes of :class:`Judge`, by name."""


def joint(judgements: Mapping[str, Judgement], rates: Sequence[str]) -> Judgement:
    """Combine the judgements of different models on one case: means over the models that succeeded.

    If no model succeeded, the result is the first model's failure. In either case, the output contains each model's
    judgement under ``judges``, and the number of failures under ``failed_judges``.

    Args:
        judgements: the judgement of each model, by the model's name.
        rates: the names of additional scores in the output of a judgement.
    """
    judged = [judgement for judgement in judgements.values() if judgement.score is not None]
    by_model = {model: judgement.logged for model, judgement in judgements.items()}
    counts: JsonObject = {"failed_judges": len(judgements) - len(judged), "judges": by_model}
    if not judged:
        return replace(next(iter(judgements.values())), output=counts)
    means: dict[str, float | None] = {}
    for rate in rates:
        values = [judgement.output[rate] for judgement in judged if judgement.output[rate] is not None]
        means[rate] = fmean(values) if values else None
    return Judgement(fmean(judgement.score or 0.0 for judgement in judged), output={**means, **counts})


def judge_name(name: str) -> str:
    """Return the name of a judge unchanged, after checking that it exists.

    Raises:
        JudgeError: for an unknown judge.
    """
    if name not in JUDGES:
        raise JudgeError(f"unknown judge {name!r}; the judges are {', '.join(JUDGES)}")
    return name


def make_judge(name: str, *, use_coverage: bool = False) -> Judge:
    """Create a judge from its name in :data:`JUDGES`.

    ``use_coverage`` is ignored for a judge that does not have this parameter.
    """
    kind = JUDGES[name]
    judge: Judge = kind(use_coverage=use_coverage) if "use_coverage" in signature(kind).parameters else kind()
    return judge
