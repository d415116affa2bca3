"""Replies, calls and results in turn: what becomes of a conversation with each reply of the model.

A conversation ends with the first reply that holds a final answer or no call, whatever calls stand beside the answer,
and at the latest with reply number ``max_turns``. Results of native calls go back in messages of the role ``tool``.
Those of calls in the text go back in a user message, each in ``<tool_response>`` tags, those of one reply in one
message: chat templates know the role ``user``, many reject ``tool``, and some insist that user and assistant alternate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .calls import MAX_CALLS, Call, ReadCalls, read_calls
from .native import understand
from .tool import Outcome, Tool

Message = dict[str, Any]
"""``role`` and ``content``, with native calls ``tool_calls`` or ``tool_call_id``; in a transcript also ``calls``, on
each message with results."""

MAX_RESULT = 3_000
"""Characters of one result that the model is shown."""
MAX_RESULTS = 12_000
"""Characters of all results of one reply together."""
LAST_TURN = "No more calls will be run. Give the final answer now."


@dataclass
class Conversation:
    """One response in the making: the chat so far, and what the last reply asks for.

    Attributes:
        key: names the conversation among all of a run.
        transcript: all messages, the prompt's first. A message with results has ``calls``: a list of ``name``,
            ``argument`` and ``failed`` in the order of the results.
        reply: the text of the last reply.
        turns: how many replies there are.
        tool_calls: how many calls were made, malformed ones included.
        tool_errors: how many of them failed or were malformed.
        calls: those of the last reply, to be run; none once the conversation is over.
    """

    key: str
    transcript: list[Message]
    reply: str = ""
    turns: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    calls: Sequence[Call] = ()

    @property
    def is_over(self) -> bool:
        """Whether the last reply was heard to be the last."""
        return self.turns > 0 and not self.calls

    @property
    def chat(self) -> list[Message]:
        """The messages as a server or chat template takes them."""
        return [{key: message[key] for key in message if key != "calls"} for message in self.transcript]

    def answer(self, outcomes: Sequence[Outcome], is_last: bool) -> None:
        """Give the results of the calls."""
        limit = min(MAX_RESULT, MAX_RESULTS // min(len(outcomes), MAX_CALLS + 1))
        results = [_shown(outcome, limit) for outcome in outcomes]
        calls = [
            {"name": call.name, "argument": call.argument, "failed": outcome.failed}
            for call, outcome in zip(self.calls, outcomes, strict=True)
        ]
        last = f"\n{LAST_TURN}" if is_last else ""
        fields = self.transcript[-1].get("tool_calls")
        if fields:
            results[-1] += last
            for field, result, call in zip(fields, results, calls, strict=True):
                message = {"role": "tool", "tool_call_id": field["id"], "name": field["function"]["name"]}
                self.transcript.append({**message, "content": result, "calls": [call]})
        else:
            blocks = [f"<tool_response>\n{result}\n</tool_response>" for result in results]
            self.transcript.append({"role": "user", "content": "\n".join(blocks) + last, "calls": calls})
        self.tool_calls += len(outcomes)
        self.tool_errors += sum(outcome.failed for outcome in outcomes)


@dataclass(frozen=True)
class Dialogue:
    """How the conversations of a task go on.

    Attributes:
        tools: by name.
        has_answer: tells whether a reply, with its calls taken out, gives a final answer.
        max_turns: replies of a conversation, at most.
        most_by_template: see :func:`medtasks_utils.tools.native.understand`.
        read: likewise.
    """

    tools: Mapping[str, Tool]
    has_answer: Callable[[str], bool]
    max_turns: int
    most_by_template: int = 0
    read: ReadCalls = read_calls

    def go_on(self, conversations: Sequence[Conversation], replies: Sequence[str]) -> list[Conversation]:
        """Hear a reply in each conversation, run the calls, all at once, and give their results.

        Many threads may do so at the same time, each with conversations of its own. Those that are returned are not
        over, and ready for the next reply.
        """
        for conversation, reply in zip(conversations, replies, strict=True):
            self._hear(conversation, reply)
        going = [conversation for conversation in conversations if not conversation.is_over]
        outcomes = iter(self._outcomes([(each.key, call) for each in going for call in each.calls]))
        for each in going:
            each.answer(list(islice(outcomes, len(each.calls))), is_last=each.turns + 1 == self.max_turns)
        return going

    def _hear(self, conversation: Conversation, reply: str) -> None:
        understood = understand(
            reply,
            self.tools,
            most_by_template=self.most_by_template,
            calls_before=conversation.tool_calls,
            read=self.read,
        )
        conversation.reply = understood.text
        conversation.turns += 1
        conversation.transcript.append(understood.message)
        is_last = conversation.turns >= self.max_turns or self.has_answer(understood.rest)
        conversation.calls = () if is_last else understood.calls
        if conversation.is_over:
            for tool in self.tools.values():
                tool.forget(conversation.key)

    def _outcomes(self, calls: Sequence[tuple[str, Call]]) -> list[Outcome]:
        """What calls give, each with its session; each tool runs all of its calls at once."""
        outcomes = [Outcome(f"Error: {call.problem}", failed=True) for _, call in calls]
        for name, tool in self.tools.items():
            own = [place for place, (_, call) in enumerate(calls) if call.name == name and call.problem is None]
            asked = [(session, call.argument) for session, call in map(calls.__getitem__, own)]
            for place, outcome in zip(own, tool.run(asked), strict=True):
                outcomes[place] = outcome
        return outcomes


def _shown(outcome: Outcome, limit: int) -> str:
    """A result as the model sees it: of a long one both ends, and how much is left out between them."""
    text = outcome.text or "(no output)"
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters left out]\n{tail}"
