"""What a judge is, and how it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from medtasks_utils.judging.case import Case

Value = TypeVar("Value")


class Ask(Protocol):
    """One call to the judging model."""

    async def __call__(
        self, messages: list[dict[str, str]], read: Callable[[str], Value], schema: dict[str, Any] | None = None
    ) -> Value:
        """Ask, and read the reply.

        Args:
            messages: the chat.
            read: makes a value of the reply's text (think block removed), or raises
                :class:`~medtasks_utils.judging.replies.UnreadableError`.
            schema: JSON schema of the reply, for endpoints that can enforce one.

        Raises:
            CallError: when every try failed.
        """


@dataclass(frozen=True)
class Verdict:
    """A score, 0–100, and all that the judge said."""

    score: float
    output: dict[str, Any]


class CallError(Exception):
    """A call that was not answered, or not readably, in as many tries as there are.

    Attributes:
        kind: as in :class:`~medtasks_utils.judging.case.Judgement`.
        transient: whether the same call may well be answered later.
        wait: seconds the endpoint asked to wait, if it did.
        output: what the judge had said by then.
    """

    def __init__(self, kind: str, message: str, transient: bool = False, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.transient = transient
        self.wait = wait
        self.output: dict[str, Any] = {}


class Judge(Protocol):
    """A way to judge a case in one or more calls."""

    @property
    def name(self) -> str:
        """As in :data:`medtasks_utils.judging.judges.JUDGES`."""

    @property
    def rates(self) -> Sequence[str]:
        """Further numbers, 0–100, that its output holds beside the score."""

    @property
    def signature(self) -> str:
        """Every choice behind the number but the model, prompts' versions included, in one line."""

    async def judge(self, case: Case, ask: Ask) -> Verdict:
        """Judge one case.

        Raises:
            CallError: if a call failed for good.
        """
