"""Replies, calls and results in turn: what becomes of a conversation with each reply of the model.

A conversation ends with the first reply that holds a final answer or no call, whatever calls stand beside the answer,
and at the latest with reply number ``max_turns``. Results of native calls go back in messages of the role ``tool``.
Those of calls in the text go back in a user message, each in ``<tool_response>`` tags, those of one reply in one
message: chat templates know the role ``user``, many reject ``tool``, and some insist that user and assistant alternate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from medtasks_utils.tools.calls import MAX_CALLS, Call, ReadCalls, read_calls
from medtasks_utils.tools.native import Reply, understand
from medtasks_utils.tools.tool import Outcome, Tool

Message = dict[str, Any]
"""``role`` and ``content``, with native calls ``tool_calls`` or ``tool_call_id``; in a transcript also ``calls``, on
each message with results."""

MAX_RESULT = 3_000
"""Characters of one result that the model is shown."""
MAX_RESULTS = 12_000
"""Characters of all results of one reply together."""
LAST_TURN = "No more calls will be run. Give the final answer now."


class Conversation:
    """One response in the making: the chat so far, and what the last reply asks for.

    Args:
        key: names the conversation among all of a run.
        chat: the messages that the first reply answers.

    Attributes:
        transcript: all messages, the prompt's first. A message with results has ``calls``: a list of ``name``,
            ``argument`` and ``failed`` in the order of the results.
        reply: the text of the last reply.
        turns: how many replies there are.
        tool_calls: how many calls were made, malformed ones included.
        tool_errors: how many of them failed or were malformed.
        is_over: whether the last reply was heard to be the last.
    """

    def __init__(self, key: str, chat: Sequence[Message]) -> None:
        self.key = key
        self.transcript: list[Message] = [dict(message) for message in chat]
        self.reply = ""
        self.turns = 0
        self.tool_calls = 0
        self.tool_errors = 0
        self.is_over = False
        self.waiting_for: list[Call] = []

    @property
    def chat(self) -> list[Message]:
        """The messages as a server or chat template takes them."""
        return [{key: message[key] for key in message if key != "calls"} for message in self.transcript]

    def add_reply(self, reply: Reply, *, ends: bool) -> None:
        """Take a reply; unless it ends the conversation, its calls are waited for."""
        self.reply = reply.text
        self.turns += 1
        self.transcript.append(reply.message)
        self.is_over = ends or not reply.calls
        self.waiting_for = [] if self.is_over else reply.calls

    def answer(self, outcomes: Sequence[Outcome], is_last: bool) -> None:
        """Give the results of the calls that were waited for."""
        limit = min(MAX_RESULT, MAX_RESULTS // min(len(outcomes), MAX_CALLS + 1))
        results = [_shown(outcome, limit) for outcome in outcomes]
        calls = [
            {"name": call.name, "argument": call.argument, "failed": outcome.failed}
            for call, outcome in zip(self.waiting_for, outcomes, strict=True)
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
        self.waiting_for = []


class Dialogue:
    """How the conversations of a task go on, given its tools.

    ``has_answer`` tells whether a reply, with its calls taken out, gives a final answer; a conversation has
    ``max_turns`` replies at most. ``most_by_template`` and ``read`` are told
    :func:`medtasks_utils.tools.native.understand`.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        has_answer: Callable[[str], bool],
        max_turns: int,
        *,
        most_by_template: int = 0,
        read: ReadCalls = read_calls,
    ) -> None:
        self._tools = tools
        self._has_answer = has_answer
        self._max_turns = max_turns
        self._most_by_template = most_by_template
        self._read = read

    def go_on(self, conversations: Sequence[Conversation], replies: Sequence[str]) -> list[Conversation]:
        """Hear a reply in each conversation, run the calls, all at once, and give their results.

        Many threads may do so at the same time, each with conversations of its own. Those that are returned are not
        over, and ready for the next reply.
        """
        for conversation, reply in zip(conversations, replies, strict=True):
            self._hear(conversation, reply)
        going = [conversation for conversation in conversations if not conversation.is_over]
        for conversation, outcomes in zip(going, run_calls(going, self._tools), strict=True):
            conversation.answer(outcomes, is_last=conversation.turns + 1 == self._max_turns)
        return going

    def _hear(self, conversation: Conversation, reply: str) -> None:
        understood = understand(
            reply,
            self._tools,
            most_by_template=self._most_by_template,
            calls_before=conversation.tool_calls,
            read=self._read,
        )
        ends = conversation.turns + 1 >= self._max_turns or self._has_answer(understood.rest)
        conversation.add_reply(understood, ends=ends)
        if conversation.is_over:
            for tool in self._tools.values():
                tool.forget(conversation.key)


def run_calls(conversations: Sequence[Conversation], tools: Mapping[str, Tool]) -> list[list[Outcome]]:
    """The outcomes of the calls that each conversation waits for; each tool runs all of its calls at once."""
    calls = {(i, j): call for i, each in enumerate(conversations) for j, call in enumerate(each.waiting_for)}
    outcomes = {
        place: Outcome(f"Error: {call.problem}", failed=True)
        for place, call in calls.items()
        if call.problem is not None
    }
    for tool in tools.values():
        own = [place for place, call in calls.items() if call.problem is None and call.name == tool.name]
        if own:
            run = tool.run([(conversations[i].key, calls[i, j].argument) for i, j in own])
            outcomes.update(zip(own, run, strict=True))
    return [[outcomes[i, j] for j in range(len(each.waiting_for))] for i, each in enumerate(conversations)]


def _shown(outcome: Outcome, limit: int) -> str:
    """A result as the model sees it: of a long one both ends, and how much is left out between them."""
    text = outcome.text or "(no output)"
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters left out]\n{tail}"
