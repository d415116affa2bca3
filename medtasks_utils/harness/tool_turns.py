"""Run and record the conversations of a task with tools.

With an API model, each conversation continues as soon as a reply arrives; with other models, all conversations proceed
turn by turn before the filters.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.options import switch_of, tools_in
from medtasks_utils.errors import UsageError
from medtasks_utils.inference.replies import Reply, as_reply
from medtasks_utils.statistics.metrics import TOOL_METRICS
from medtasks_utils.tools.calls import read_calls
from medtasks_utils.tools.loop import Conversation, Dialogue, Message
from medtasks_utils.tools.tool import Tool
from medtasks_utils.writing import JsonObject

from .api_batch import ApiBatch, NextPrompt
from .chat_template import ChatTemplate
from .lm_eval_names import Instance
from .models import most_in_any_process
from .reasoning import opened_by, separated
from .run_model import current_run
from .tool_format import ToolFormat, format_of


class ToolTurns:
    """The conversations of a task in which the model may call tools.

    The last reply of each conversation is scored and logged in ``resps``; filters ignore the calls in it. The sample's
    ``transcript`` contains the whole conversation.

    Args:
        task: a :class:`.task.MedTask` with tools.
    """

    _format: ToolFormat  # these are set when requests are built
    _render: Callable[..., Any]
    _batch: ApiBatch | None

    def __init__(self, task: Any) -> None:
        options = task.options
        self._task = task
        self._tools: dict[str, Tool] = {
            kind.name: kind(timeout=options.tool_timeout, weak_sandbox=options.weak_sandbox) for kind in options.tools
        }
        self.rendered: Sequence[Message] = ()  # the messages of the last prompt
        self._format_option = options.tool_format

    # ---- before the model runs

    def prepare(self, chat_template: ChatTemplate | None) -> Callable[..., Any]:
        """Start the tools, and decide on native or textual calls, before the model runs.

        The task's option ``tool_format`` becomes ``native`` or ``text``. This value and a description of the
        ``sandbox`` are added to the metadata of the results.

        Args:
            chat_template: the function that renders messages; None if there is none.

        Returns:
            A function that renders messages as ``chat_template`` does, with native tools, and records the messages for
            later turns, since lm_eval passes only the text to the task.

        Raises:
            UsageError: if there is no chat template, or the model does not support the requested format.
        """
        task = self._task
        if chat_template is None:
            raise UsageError(
                f"{task.task_name}: tools need a conversation with the model: add --apply_chat_template, or turn off "
                f"{' and '.join(map(switch_of, tools_in(task.options.model_dump())))}"
            )
        sandbox = "; ".join(filter(None, [tool.description_of_machine for tool in self._tools.values()]))
        self._format = format_of(task.model, self._tools, self._format_option, task.config.generation_kwargs)
        task.benchmark.options = task.options.model_copy(update={"tool_format": self._format.name})
        task.config.metadata["tool_format"] = self._format.name
        if sandbox:
            task.config.metadata["sandbox"] = sandbox
        if self._format.name == "text" and self._format_option == "auto":
            task.remark(f"tools are called in the text: {self._format.not_native}")

        self._render = chat_template
        if self._format.most_by_template:
            chat_template.tools = self._format.schemas

        def rendered(messages: Sequence[Message], **settings: Any) -> Any:
            self.rendered = messages
            return self._render(messages, **settings)

        return rendered

    @property
    def schemas(self) -> list[JsonObject]:
        """The schemas of native tools, which are sent with the prompt; empty if the prompt describes the tools."""
        return self._format.schemas if self._format.name == "native" else []

    def start_conversations(self) -> None:
        """Begin a conversation for each request; for an API model, register this object with the batch."""
        for instance in self._task.instances:
            prompt, settings = instance.args
            instance.arguments = (prompt, self._format.in_settings(settings))
            instance.replies = []
            instance.conversation = Conversation(f"{instance.doc_id}/{instance.idx}", [*instance.chat])
        run = current_run.get()
        self._batch = run.batch if run else None
        if self._batch:
            self._batch.conversations[self._task.task_name] = self.conversing

    # ---- further turns

    def finish(self) -> None:
        """Run the calls in replies and send the results to the model, until every conversation is over.

        With an API model, this concerns only conversations whose first reply came from lm_eval's cache.
        """
        unfinished = [instance for instance in self._task.instances if not instance.conversation.is_over]
        if self._batch is None:
            self._in_batches(unfinished)
        elif unfinished:  # their first replies came from lm_eval's cache
            self._batch.replies_to(unfinished)

    @contextmanager
    def conversing(self) -> Iterator[NextPrompt]:
        """Yield a function that returns a conversation's next prompt, or None when it is over; close tools on exit."""

        def next_prompt(instance: Instance, reply: Reply) -> Any:
            return self._prompt(instance.conversation) if _unfinished(dialogue, [instance], [reply]) else None

        with self._dialogue() as dialogue:
            yield next_prompt

    def _in_batches(self, instances: Sequence[Instance]) -> None:
        """Send each turn of all open conversations as one batch, until the conversations of every process are over.

        Args:
            instances: the first requests of the conversations, with their replies.
        """
        run: Any = current_run.get()
        replies = [instance.resps[0] for instance in instances]
        with self._dialogue() as dialogue:
            while most_in_any_process(run, len(instances := _unfinished(dialogue, instances, replies))):
                requests = [self._next_request(instance) for instance in instances]
                replies = run.generate_until(requests or self._task.instances[-1:])[: len(instances)]

    def _next_request(self, first: Instance) -> Instance:
        """Return the request for the next reply of a conversation, given its first request."""
        arguments = (self._prompt(first.conversation), first.args[1])
        request = Instance(first.request_type, first.doc, arguments, first.idx, (self._task.task_name, first.doc_id, 1))
        request.first = first.args
        return request

    def _prompt(self, conversation: Conversation) -> Any:
        return self._render(conversation.chat, add_generation_prompt=True)

    @contextmanager
    def _dialogue(self) -> Iterator[Dialogue]:
        """Yield the :class:`.loop.Dialogue` that continues the task's conversations; close the tools on exit."""
        with ExitStack() as stack:
            for tool in self._tools.values():
                stack.callback(tool.close)
            yield self._task.benchmark.dialogue_class(
                self._tools,
                self._task.benchmark.has_final_answer,
                self._task.options.max_turns,
                most_by_template=self._format.most_by_template,
            )

    # ---- answers and samples

    def response_to(self, first: Instance) -> Reply:
        """Return a conversation's last reply, given its first request, with tokens and reasoning of all replies."""
        return _in_all(first.conversation.reply, first.replies)

    def without_calls(self, response: str) -> str:
        """Return a response without the text of its calls, which cannot contain the answer."""
        return read_calls(response, self._tools)[1]

    def annotate(self, answer: Answer, instance: Instance) -> None:
        """Add the scores ``tool_calls``, ``turns`` and ``tool_errors``, and the transcript, to an answer."""
        conversation = instance.conversation
        answer.details["transcript"] = conversation.transcript
        for metric in TOOL_METRICS:
            answer.scores[metric.name] = float(getattr(conversation, metric.name))


def _unfinished(dialogue: Dialogue, instances: Sequence[Instance], replies: Sequence[Any]) -> list[Instance]:
    """Continue conversations with the model's replies, and return the first requests of those that are not over."""
    for instance, reply in zip(instances, replies, strict=True):
        instance.replies.append(separated(as_reply(reply), opened_by(instance.args[0])))
    places = [len(instance.conversation.transcript) for instance in instances]
    dialogue.go_on([instance.conversation for instance in instances], [instance.replies[-1] for instance in instances])
    for instance, place in zip(instances, places, strict=True):
        _return_reasoning(instance.conversation.transcript[place], instance.replies[-1])
    return [instance for instance in instances if not instance.conversation.is_over]


def _return_reasoning(message: Message, reply: Reply) -> None:
    """Add a reply's reasoning to its message if that has native calls, since DeepSeek requires this.

    Nothing is added if the server sent no reasoning in a field named ``reasoning_content`` or ``reasoning``.
    """
    if "tool_calls" in message and reply.reasoning_field in ("reasoning_content", "reasoning"):
        message[reply.reasoning_field] = reply.reasoning


def _in_all(text: str, replies: Sequence[Reply]) -> Reply:
    """Return ``text`` as the last reply of a conversation, with the tokens and reasoning of all of its replies.

    The number of tokens is None if that of any reply is unknown.
    """
    last, counts = replies[-1], [reply.tokens for reply in replies]
    tokens = None if None in counts else sum(count or 0 for count in counts)
    reasoning = "\n\n".join(reply.reasoning for reply in replies if reply.reasoning)
    return Reply(text, **{**last.attributes, "tokens": tokens, "reasoning": reasoning or None})
