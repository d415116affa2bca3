"""What a judge is: what it sees, how it asks, what it says; and the judges by name."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, NamedTuple, Protocol, TypeVar

from medtasks_utils.registry import Registry

from .settings import JudgeError

Value = TypeVar("Value")
Messages = list[dict[str, str]]
Schema = dict[str, Any] | None
"""A JSON schema of the reply, for endpoints that can enforce one."""


@dataclass(frozen=True)
class Case:
    """An explanation of a right answer, with all that it is judged by.

    Attributes:
        specialty: one of MedExQA's five, such as ``clinical_psychology``.
        question: the question without its options.
        options: the texts of A to D.
        answer_letter: the right option, which the explanation chose.
        explanation: the response without its think block.
        references: one or two reference explanations, none blank.
    """

    specialty: str
    question: str
    options: tuple[str, ...]
    answer_letter: str
    explanation: str
    references: tuple[str, ...]


class Tokens(NamedTuple):
    """Tokens as the endpoint counted them; 0 where it does not count."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True)
class Judgement:
    """A judge's verdict on one case, or why there is none.

    Attributes:
        score: 0–100; None if the judge failed.
        failure: the kind of failure: ``timeout``, ``unreachable``, ``refusal``, ``unreadable``, or ``http_429`` and the
            like; None if the case was judged.
        error: the failure in one line, without secrets; None if the case was judged.
        output: all that the judge said: for G-Eval its JSON object; for FActScore ``claims``, ``labels``, ``support``
            and, with coverage, ``reference_claims``, ``reference_labels``, ``coverage``. What was said before a
            failure is kept.
        tokens: spent on the case, answers from the cache included.
        calls: requests made for the case: retries count, but of calls that failed; answers from the cache do not.
    """

    score: float | None
    failure: str | None = None
    error: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)
    calls: int = 0


class CallError(Exception):
    """A call that was not answered, or not readably, in as many tries as there are.

    Attributes:
        kind: as in :class:`Judgement`.
        output: what the judge had said by then.
    """

    def __init__(self, message: str = "", kind: str = "unreadable") -> None:
        super().__init__(message)
        self.kind = kind
        self.output: dict[str, Any] = {}


Ask = Callable[..., Awaitable[Any]]
"""One call to the judging model: ``await ask(messages, read, schema)`` gives what ``read`` makes of the reply.

``messages`` are the chat; ``read`` makes a value of the reply's text (think block removed), or raises
:class:`~medtasks_utils.judging.replies.UnreadableError`; ``schema`` can be left out. :class:`CallError` when every try
failed.
"""


class Verdict(NamedTuple):
    """A score, 0–100, and all that the judge said."""

    score: float
    output: dict[str, Any]


class Judge(Protocol):
    """A way to judge a case in one or more calls.

    Attributes:
        name: as in :data:`JUDGES`.
        rates: further numbers, 0–100, that its output holds beside the score.
    """

    name: str
    rates: Sequence[str]

    @property
    def signature(self) -> str:
        """Every choice behind the number but the model, prompts' versions included, in one line."""

    async def judge(self, case: Any, ask: Ask) -> Verdict:
        """Judge one case, which can be hashed.

        Raises:
            CallError: if a call failed for good.
        """


JUDGES = Registry(
    "medtasks.judges",
    {
        "g-eval": "medtasks_utils.judging.geval:GEval",
        "factscore": "medtasks_utils.judging.factscore:FActScore",
    },
)
"""By name: classes of :class:`Judge`."""


def judge_name(text: str) -> str:
    """The name of the judge that is meant: ``geval`` and ``G-Eval`` are ``g-eval``.

    Raises:
        JudgeError: for a judge that there is not.
    """
    for name in JUDGES:
        if re.sub("[-_]", "", name.lower()) == re.sub("[-_]", "", text.lower()):
            return name
    raise JudgeError(f"there is no judge {text!r}; there are {', '.join(JUDGES)}")


def make_judge(name: str, *, use_coverage: bool = False) -> Judge:
    """The judge of this name, as :func:`judge_name` takes it; with ``use_coverage`` it verifies, if it can,
    the references' claims too.

    Raises:
        JudgeError: for a judge that there is not.
    """
    kind = JUDGES[judge_name(name)]
    judge: Judge = kind(use_coverage=use_coverage) if "use_coverage" in signature(kind).parameters else kind()
    return judge
