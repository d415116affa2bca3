"""A task with tools: its options, the further turns between generation and extraction, what is told of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from lm_eval.api.instance import Instance
from pydantic import Field, create_model

from medtasks_utils.errors import MedtasksError, OptionError, logger
from medtasks_utils.extraction.printable import printable
from medtasks_utils.harness.answer import Answer
from medtasks_utils.harness.free import FreeBatch, NextPrompt
from medtasks_utils.harness.options import Need, Options
from medtasks_utils.harness.patches.models import can_be_asked_singly
from medtasks_utils.harness.sources import Row
from medtasks_utils.harness.task import MedTask
from medtasks_utils.harness.turns import Model
from medtasks_utils.metrics import OF_TOOLS, Metric
from medtasks_utils.tools import TOOLS
from medtasks_utils.tools.calls import read_calls
from medtasks_utils.tools.loop import Conversation, Dialogue, Message
from medtasks_utils.tools.tool import Tool


class _TurnOptions(Options):
    needs: ClassVar = {
        "max_turns": Need(" or ".join(f"add_{name}_tool=true" for name in TOOLS), lambda options: options.tools),
        **dict.fromkeys(
            ("tool_timeout", "weak_sandbox"), Need("add_python_tool=true", lambda options: options.add_python_tool)
        ),
    }

    max_turns: int = Field(20, ge=1, description="replies of the model per example, at most, when it has tools")
    tool_timeout: float = Field(10.0, gt=0, allow_inf_nan=False, description="seconds for one call of the Python tool")
    weak_sandbox: bool = Field(
        False,
        description="where the kernel cannot confine the Python tool: accept RestrictedPython, which is no boundary",
    )

    @property
    def tools(self) -> list[type[Tool]]:
        """The tools that are on."""
        return [kind for name, kind in TOOLS.items() if getattr(self, f"add_{name}_tool")]


if TYPE_CHECKING:

    class ToolOptions(_TurnOptions):
        """Options of a benchmark that offers tools: ``add_<name>_tool`` for each that there is, and their limits."""

        add_python_tool: bool
        add_calculator_tool: bool

else:
    ToolOptions = create_model(
        "ToolOptions",
        __base__=_TurnOptions,
        **{
            f"add_{name}_tool": (bool, Field(False, description=f"let the model {kind.offers}"))
            for name, kind in TOOLS.items()
        },
    )


@dataclass
class ChatInstance(Instance):  # type: ignore[misc]
    """A request that knows its messages, and what came of it; the request cache keeps the messages with the prompt."""

    chat: list[Message] = field(default_factory=list)

    @cached_property
    def conversation(self) -> Conversation:
        """What begins with the reply to this request."""
        return Conversation(f"{self.doc_id}/{self.idx}", self.chat)


class ToolTask(MedTask):
    """A benchmark in which the model may call tools, where ``options.tools`` has any; else a plain task.

    What is scored, and what ``resps`` shows, is the last reply of each conversation, with calls left out of what the
    filters read. The sample's ``transcript`` has all of it.
    """

    _rendered: Sequence[Message] | None = None  # the messages of the last prompt
    _free: FreeBatch | None = None

    @abstractmethod
    def has_final_answer(self, text: str) -> bool:
        """Whether a reply, with its calls taken out, gives the final answer in the form that was asked for."""

    def metrics(self) -> Sequence[Metric]:
        """Without tools, not those of tools."""
        return [metric for metric in super().metrics() if self.options.tools or metric not in OF_TOOLS]

    # ---- before the model runs

    def adjust_config(self, config: dict[str, Any]) -> None:
        """With a tool that runs code, let the harness ask for ``--confirm_run_unsafe_code``."""
        if not self.options.tools:
            return
        config["unsafe_code"] = any(tool.runs_code for tool in self.options.tools)
        if config["unsafe_code"]:
            logger.warning(
                "%s: code that the model writes will be run, in a sandbox. lm_eval asks you to confirm that with "
                "--confirm_run_unsafe_code",
                config["task"],
            )

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the prompts, and remember the messages that they are made of."""
        if self.options.tools:
            if not kwargs.get("apply_chat_template"):
                raise OptionError(
                    f"{self.config.task}: tools need a conversation with the model: add --apply_chat_template "
                    "(or switch add_python_tool and add_calculator_tool off)"
                )
            self._check_tools()
        super().build_all_requests(**kwargs)
        goes_freely = self.options.tools and can_be_asked_singly(self.model)
        self._free = FreeBatch.of(self.model) if goes_freely else None
        if self._free is not None:
            self._free.join(self.config.task, self)

    def watched(self, chat_template: Callable[..., Any]) -> Callable[..., Any]:
        """The chat template; the harness gives a task its text only, and further turns need the messages."""

        def rendered(messages: Sequence[Message], **settings: Any) -> Any:
            self._rendered = messages
            return chat_template(messages, **settings)

        return rendered

    def _check_tools(self) -> None:
        """Let a tool that cannot work on this machine say so before the model runs."""
        with self._opened_tools() as tools:
            for tool in tools.values():
                (outcome,) = tool.run([("", "1 + 1")])
                if outcome.failed:
                    raise MedtasksError(f"{self.config.task}: the {tool.name} tool does not work: {outcome.text}")
                if tool.description_of_machine:
                    self.config.metadata["sandbox"] = tool.description_of_machine

    def prompt_parts(self) -> list[str]:
        """What the system message tells of the tools."""
        return [
            text for tool in self.options.tools for text in (tool.name, tool.argument, tool.description, tool.example)
        ]

    def construct_requests(self, doc: Row, ctx: Any, **kwargs: Any) -> Any:
        """The requests with their messages."""
        requests = super().construct_requests(doc, ctx, **kwargs)
        if not self.options.tools or self._rendered is None:
            return requests
        chat = [dict(message) for message in self._rendered]
        return [
            ChatInstance(request.request_type, doc, request.arguments, request.idx, request.metadata, chat=chat)
            for request in requests
        ]

    # ---- further turns

    def continue_generation(self) -> None:
        """Run the calls of all replies and ask the model again, until no example waits for a result."""
        if not self.options.tools:
            return
        if self._free is not None:
            self._free.finish()
        else:
            self._go_in_rounds()
        for instance in self.instances:
            instance.resps = [instance.conversation.reply]

    def unfinished(self) -> list[ChatInstance]:
        """The requests whose conversations are not over, or have not begun."""
        return [instance for instance in self.instances if not instance.conversation.is_over]

    @contextmanager
    def conversing(self) -> Iterator[NextPrompt]:
        """How conversations go on one by one, while the tools are open."""
        model = self._asked_again()

        def next_prompt(instance: ChatInstance, reply: str) -> tuple[Any, int]:
            conversation = instance.conversation
            before = conversation.tool_calls
            going = dialogue.go_on([conversation], [printable(reply or "")])
            return model.prompt(conversation.chat) if going else None, conversation.tool_calls - before

        with self._dialogue() as dialogue:
            yield next_prompt

    def _go_in_rounds(self) -> None:
        """Each round is one batch over the conversations still going, in all processes."""
        model = self._asked_again()
        conversations = {instance.conversation.key: instance for instance in self.instances}
        replies: list[str] | None = [instance.resps[0] for instance in self.instances]
        going = [instance.conversation for instance in self.instances]
        turn = 0
        with self._dialogue() as dialogue:
            while replies is not None:
                turn += 1
                going = dialogue.go_on(going, replies)
                if going and model.is_first_process:
                    logger.info(
                        "%s: %d of %d go on after turn %d", self.config.task, len(going), len(conversations), turn
                    )
                replies = self._generate(model, [(conversations[each.key], each) for each in going])

    def _asked_again(self) -> Model:
        if self.model is None:
            raise MedtasksError(
                f"{self.config.task}: tools need the model, and the chat template that build_all_requests was given is "
                "not a method of one"
            )
        return Model(self.model, spare=self.instances[-1])

    def _generate(self, model: Model, going: Sequence[tuple[ChatInstance, Conversation]]) -> list[str] | None:
        """The next reply in each conversation, given its first request; None once no process has any left."""
        if model.most_in_any_process(len(going)) == 0:
            return None
        requests = []
        for asked, conversation in going:
            arguments = (model.prompt(conversation.chat), deepcopy(asked.args[1]))
            metadata = (self.config.task, asked.doc_id, 1)
            requests.append(Instance(asked.request_type, asked.doc, arguments, asked.idx, metadata))
        return [printable(response or "") for response in model.generate(requests)]

    @contextmanager
    def _dialogue(self) -> Iterator[Dialogue]:
        with self._opened_tools() as tools:
            yield Dialogue(tools, self.has_final_answer, self.options.max_turns)

    @contextmanager
    def _opened_tools(self) -> Iterator[dict[str, Tool]]:
        with ExitStack() as stack:
            settings = {"timeout": self.options.tool_timeout, "weak_sandbox": self.options.weak_sandbox}
            yield {kind.name: stack.enter_context(kind.opened(**settings)) for kind in self.options.tools}

    # ---- extraction and samples

    @property
    def extractors(self) -> dict[str, Callable[[str, Row], Answer]]:
        """The filters by name; a call's text is no answer."""
        extractors = super().extractors
        if not self.options.tools:
            return extractors
        kinds = {kind.name: kind for kind in self.options.tools}

        def without_calls(extract: Callable[[str, Row], Answer], response: str, doc: Row) -> Answer:
            return extract(read_calls(response, kinds)[1], doc)

        return {name: partial(without_calls, extract) for name, extract in extractors.items()}

    def annotate(self, answer: Answer, instance: Instance) -> None:
        """Add ``tool_calls``, ``turns`` and ``tool_errors`` to the metrics, and the transcript to the sample."""
        if self.options.tools:
            conversation = instance.conversation
            answer.details["transcript"] = conversation.transcript
            for metric in OF_TOOLS:
                answer.scores[metric.name] = float(getattr(conversation, metric.name))

    def kept(self, instance: Instance) -> dict[str, Any]:
        """With the last response, the conversation that led to it."""
        if not isinstance(instance, ChatInstance) or not instance.conversation.turns:
            return super().kept(instance)
        conversation = instance.conversation
        return {**super().kept(instance), "resps": [conversation.reply], "transcript": conversation.transcript}
