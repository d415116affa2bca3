"""Run conversations with tools: the model replies, its calls are run, and it receives their results.

A conversation ends with the first reply that contains no call or gives a final answer (calls in it are not run), or
after ``max_turns`` replies. Results of native calls go back in messages of the role ``tool``. Results of calls in the
text go back in one user message, each in ``<tool_response>`` tags, because every chat template knows the role ``user``,
many reject ``tool``, and some insist that user and assistant alternate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import NamedTuple

from medtasks_utils.writing import JsonObject

from .calls import MAX_CALLS, Call
from .native import ParsedReply, understand
from .tool import CallResult, Tool

Message = JsonObject
"""A chat message: ``role`` and ``content``, for native calls also ``tool_calls`` or ``tool_call_id``. In a transcript,
a message with results also has ``calls``."""

MAX_RESULT = 3_000
"""Maximum number of characters of one result for the model, without the note on omitted text."""
MAX_RESULTS = 12_000
"""Maximum number of characters of all results for one reply, divided equally among its calls."""
LAST_TURN = "No more calls will be run. Give the final answer now."


@dataclass
class Conversation:
    """A conversation with the model on one example.

    Attributes:
        key: the conversation's name, unique in its task; also the key of its session in each tool.
        transcript: all messages, beginning with the prompt. A message with results has ``calls``: a list of dicts with
            ``name``, ``argument`` and ``failed``, in the order of the results.
        reply: the text of the last reply.
        turns: number of replies so far.
        tool_calls: number of calls with a result so far, including malformed ones, whose result is an error.
        tool_errors: number of calls in ``tool_calls`` that failed or were malformed.
        calls: the calls in the last reply that are run; empty before the first reply and when the conversation is over.
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
        """True if the last reply ended the conversation."""
        return self.turns > 0 and not self.calls

    @property
    def chat(self) -> list[Message]:
        """The messages in the form for servers and chat templates, without the field ``calls`` of transcripts."""
        messages = [dict(message) for message in self.transcript]
        for message in messages:
            message.pop("calls", None)
        return messages

    def add_results(self, results: Sequence[CallResult], texts: Sequence[str], notice: str = "") -> None:
        """Add the results of the last reply's calls, one for each, to the transcript, and count the calls.

        Args:
            results: the results.
            texts: the results as shown to the model.
            notice: a message to the model after the results; empty for none.
        """
        texts = [*texts]
        calls = [
            {"name": call.name, "argument": call.argument, "failed": result.failed}
            for call, result in zip(self.calls, results, strict=True)
        ]
        last = f"\n{notice}" if notice else ""
        fields = self.transcript[-1].get("tool_calls")
        if fields:
            texts[-1] += last
            for field, text, call in zip(fields, texts, calls, strict=True):
                self.transcript.append(
                    {
                        "role": "tool",
                        "tool_call_id": field["id"],
                        "name": field["function"]["name"],
                        "content": text,
                        "calls": [call],
                    }
                )
        else:
            blocks = [f"<tool_response>\n{text}\n</tool_response>" for text in texts]
            self.transcript.append({"role": "user", "content": "\n".join(blocks) + last, "calls": calls})
        self.tool_calls += len(results)
        self.tool_errors += sum(result.failed for result in results)


class Dialogue(NamedTuple):
    """The rules by which a task's conversations continue.

    Attributes:
        tools: the tools by name.
        has_answer: a function that returns True if a reply, given without its calls, contains a final answer.
        max_turns: maximum number of replies in a conversation.
        most_by_template: maximum number of calls in a text that are returned as ``tool_calls``; see
            :func:`medtasks_utils.tools.native.understand`.
        last_turn: a message to the model before its last reply; empty for none.
    """

    tools: Mapping[str, Tool]
    has_answer: Callable[[str], bool]
    max_turns: int
    most_by_template: int
    last_turn: str = LAST_TURN

    def split_reply(self, reply: str, calls_before: int) -> ParsedReply:
        """Split a reply into text and calls; ``calls_before`` is the number of earlier calls in the conversation."""
        return understand(reply, self.tools, self.most_by_template, calls_before)

    def messages_of(self, results: Sequence[CallResult]) -> list[str]:
        """Return the results of a reply's calls as texts for the model, each cut to at most :data:`MAX_RESULT`.

        For more than four calls, the limit is lower, so that all results together have at most :data:`MAX_RESULTS`.
        """
        limit = min(MAX_RESULT, MAX_RESULTS // min(len(results), MAX_CALLS + 1))
        return [_result_text(result, limit) for result in results]

    def go_on(self, conversations: Sequence[Conversation], replies: Sequence[str]) -> None:
        """Add a reply to each conversation; if it then continues, run the reply's calls and add their results.

        This is thread-safe if each thread works on different conversations.
        """
        for conversation, reply in zip(conversations, replies, strict=True):
            self._add_reply(conversation, reply)
        unfinished = [conversation for conversation in conversations if not conversation.is_over]
        calls = [zip(repeat(conversation.key), conversation.calls) for conversation in unfinished]
        results = iter(self._results_of(list(chain.from_iterable(calls))))
        for conversation in unfinished:
            of_reply = list(islice(results, len(conversation.calls)))
            is_last = conversation.turns + 1 == self.max_turns
            conversation.add_results(of_reply, self.messages_of(of_reply), self.last_turn if is_last else "")

    def _add_reply(self, conversation: Conversation, reply: str) -> None:
        """Add a reply to a conversation; if the conversation is then over, end its session in each tool."""
        understood = self.split_reply(reply, conversation.tool_calls)
        conversation.reply = understood.text
        conversation.turns += 1
        conversation.transcript.append(understood.message)
        is_last = conversation.turns >= self.max_turns or self.has_answer(understood.rest)
        conversation.calls = () if is_last else understood.calls
        if conversation.is_over:
            for tool in self.tools.values():
                tool.forget(conversation.key)

    def _results_of(self, calls: Sequence[tuple[str, Call]]) -> list[CallResult]:
        """Run calls, pairs of a session's key and a call, tool by tool, and return their results in the same order.

        The result of a call with a problem is an error.
        """
        results = [CallResult(f"Error: {call.problem}", failed=True) for _, call in calls]
        for name, tool in self.tools.items():
            arguments = {
                index: (key, call.argument)
                for index, (key, call) in enumerate(calls)
                if call.name == name and call.problem is None
            }
            for index, result in zip(arguments, tool.run(list(arguments.values())), strict=True):
                results[index] = result
        return results


def _result_text(result: CallResult, limit: int) -> str:
    """Return a result for the model: a long one is cut in the middle, with a note of the number of omitted characters.

    An empty result becomes ``(no output)``.
    """
    text = result.text or "(no output)"
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-(limit // 3) :]
    return f"{head}\n[{len(text) - len(head) - len(tail):,} characters left out]\n{tail}"
