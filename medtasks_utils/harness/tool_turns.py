"""The further turns of a task with tools, between generation and filters, and what is told of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property, partial
from typing import Any, Protocol

from medtasks_utils.benchmarks.base import Answer, Benchmark
from medtasks_utils.benchmarks.options import ToolOptions, switch_of
from medtasks_utils.errors import UsageError, logger
from medtasks_utils.statistics.metrics import OF_TOOLS
from medtasks_utils.tools.loop import Conversation, Dialogue, Message
from medtasks_utils.tools.tool import Tool
from medtasks_utils.writing import printable

from .api_batch import NextPrompt
from .lm_eval_names import Instance
from .models import most_in_any_process
from .patches.evaluator import api_batch
from .tool_format import ToolFormat


class TaskWithTools(Protocol):
    """What a conversation needs of its task, the :class:`.task.MedTask` of a benchmark whose options offer tools.

    Attributes:
        task_name: for messages and the harness's log.
        benchmark: says when a reply gives the final answer.
        options: of the benchmark.
        config: the harness's configuration of the task.
        instances: the requests, once they are built.
        model: that is asked; None until requests are built.
    """

    task_name: str
    benchmark: Benchmark
    options: ToolOptions
    config: Any
    instances: list[Any]
    model: Any


class ToolTurns:
    """The conversations of a task in which the model may call tools.

    What is scored, and what ``resps`` shows, is the last reply of each conversation, with calls left out of what the
    filters read. The sample's ``transcript`` has all of it.
    """

    _format: ToolFormat  # known once requests are built

    def __init__(self, task: TaskWithTools) -> None:
        self._task = task
        self._tools = {kind.name: kind for kind in task.options.tools}
        self._rendered: Sequence[Message] = ()  # the messages of the last prompt
        self._wanted = task.options.tool_format

    # ---- before the model runs

    def prepare(self, chat_template: Callable[..., Any] | None) -> tuple[dict[str, str], Callable[..., Any]]:
        """Let what cannot work say so before the model runs.

        Returns:
            What the results depend on: ``tool_format``, ``native`` or ``text``, and of this machine the ``sandbox``.
            And the chat template, watched: the harness gives a task its text only, and further turns need the messages.
        """
        task = self._task
        if chat_template is None:
            raise UsageError(
                f"{task.task_name}: tools need a conversation with the model: add --apply_chat_template "
                f"(or switch {' and '.join(map(switch_of, self._tools))} off)"
            )
        sandbox = "; ".join(filter(None, [tool.description_of_machine for tool in self._opened.values()]))
        self._format = ToolFormat(task.model, self._tools, self._wanted, task.config.generation_kwargs or {})
        how = "natively" if self._format.name == "native" else "in the text"
        logger.info("%s: tools are called %s: %s", task.task_name, how, self._format.reason)

        def rendered(messages: Sequence[Message], **settings: Any) -> Any:
            self._rendered = messages
            with self._format.rendering():
                return chat_template(messages, **settings)

        return {"tool_format": self._format.name, **({"sandbox": sandbox} if sandbox else {})}, rendered

    def add_messages(self, request: Instance) -> None:
        """Let the request know the messages of the last prompt, which the request cache keeps with it."""
        request.chat = [dict(message) for message in self._rendered]

    def requests_are_built(self) -> None:
        """Begin the conversations, with the tools where a server takes them; a batch of an API goes on in each."""
        for instance in self._task.instances:
            prompt, settings = instance.args
            instance.arguments = (prompt, self._format.in_settings(settings))
            instance.conversation = Conversation(f"{instance.doc_id}/{instance.idx}", [*instance.chat])
        batch = api_batch.get()
        if batch is not None:
            batch.join(self._task.task_name, self)

    # ---- further turns

    def finish(self) -> None:
        """Run the calls of all replies and ask the model again, until no example waits for a result."""
        batch = api_batch.get()
        if batch is None:
            self._in_batches()
        # Of an API, those whose first replies were in the cache of the harness are not over.
        elif waiting := [instance for instance in self._task.instances if not instance.conversation.is_over]:
            batch.generate_until(waiting)
        for instance in self._task.instances:
            instance.resps = [instance.conversation.reply]

    @contextmanager
    def conversing(self) -> Iterator[NextPrompt]:
        """How conversations go on one by one, while the tools are open."""

        def next_prompt(instance: Any, reply: str) -> Any:
            going = dialogue.go_on([instance.conversation], [printable(reply or "")])
            return self._prompt(instance.conversation) if going else None

        with self._dialogue() as dialogue:
            yield next_prompt

    def _in_batches(self) -> None:
        """Each turn is one batch over the conversations still going, in step with all processes."""
        model = self._task.model
        first = {instance.conversation.key: instance for instance in self._task.instances}
        spare = self._task.instances[-1]
        going = [instance.conversation for instance in self._task.instances]
        replies = [instance.resps[0] for instance in self._task.instances]
        with self._dialogue() as dialogue:
            while True:
                going = dialogue.go_on(going, [printable(reply or "") for reply in replies])
                most = most_in_any_process(model, len(going))
                if most == 0:
                    return
                requests = [self._again(first[each.key], each) for each in going]
                asked = model.generate_until([*requests, *[spare] * (most - len(requests))])
                replies = asked[: len(requests)]

    def _again(self, asked: Instance, conversation: Conversation) -> Instance:
        arguments = (self._prompt(conversation), asked.args[1])
        return Instance(asked.request_type, asked.doc, arguments, asked.idx, (self._task.task_name, asked.doc_id, 1))

    def _prompt(self, conversation: Conversation) -> Any:
        with self._format.rendering():
            return self._task.model.apply_chat_template(conversation.chat, add_generation_prompt=True)

    @contextmanager
    def _dialogue(self) -> Iterator[Dialogue]:
        with ExitStack() as stack:
            yield Dialogue(
                {name: stack.enter_context(closing(tool)) for name, tool in self._opened.items()},
                partial(self._task.benchmark.has_final_answer, options=self._task.options),
                self._task.options.max_turns,
                most_by_template=self._format.most_by_template,
                read=self._format.read,
            )

    @cached_property
    def _opened(self) -> dict[str, Tool]:
        """What :meth:`check` has started is what runs the calls."""
        options = self._task.options
        return {
            name: kind(timeout=options.tool_timeout, weak_sandbox=options.weak_sandbox)
            for name, kind in self._tools.items()
        }

    # ---- answers and samples

    def without_calls(self, response: str) -> str:
        """A response without the text of its calls, which is no answer."""
        return self._format.read(response, self._tools)[1]

    def annotate(self, answer: Answer, instance: Instance) -> None:
        """Add ``tool_calls``, ``turns`` and ``tool_errors`` to the metrics, and the transcript to the sample."""
        conversation = instance.conversation
        answer.details["transcript"] = conversation.transcript
        for metric in OF_TOOLS:
            answer.scores[metric.name] = float(getattr(conversation, metric.name))
