"""Decide how tools are called in a run: natively, in fields of the message, or within the text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.inference.responses import ServerUnavailable
from medtasks_utils.tools.calls import MAX_CALLS, read_calls
from medtasks_utils.tools.loop import Conversation
from medtasks_utils.tools.native import understand
from medtasks_utils.tools.tool import CallResult, Tool
from medtasks_utils.writing import JsonObject, Settings

from .chat_template import ChatTemplate
from .lm_eval_names import LM, LocalChatCompletion
from .server_model import probe


class ToolFormat(NamedTuple):
    """The form in which the tools of a task are called in a run.

    Attributes:
        schemas: the JSON schemas of the tools, for servers and chat templates.
        not_native: why calls are not native; empty if they are.
        most_by_template: the number of calls that the model's chat template can write in one reply, at most
            :data:`~medtasks_utils.tools.calls.MAX_CALLS`; 0 if it cannot write calls, if a server renders prompts, and
            with ``tool_format=text``.
    """

    schemas: list[JsonObject]
    not_native: str
    most_by_template: int = 0

    @property
    def name(self) -> str:
        """The value of the option ``tool_format`` for this form: ``native`` or ``text``."""
        return "text" if self.not_native else "native"

    def in_settings(self, settings: JsonObject) -> JsonObject:
        """Return a request's settings, with the tools if a server renders them, so that cache keys include them."""
        by_server = self.name == "native" and not self.most_by_template
        return {**settings, "tools": self.schemas} if by_server else settings


def format_of(model: Any, tools: Mapping[str, Tool], option: str, settings: Settings) -> ToolFormat:
    """Return the form in which a model calls tools.

    Args:
        model: the model of the run; None if it is not known.
        tools: the tools by name.
        option: the option ``tool_format``.
        settings: the task's ``generation_kwargs``, for a trial request to the server.

    Raises:
        UsageError: for ``native`` if the model does not support tools.
        MedtasksError: if the server fails on the trial requests for a reason other than the tools.
    """
    schemas = [tool.schema() for tool in tools.values()]
    not_native, most = "", 0
    if option == "text":
        not_native = "tool_format=text was set"
    elif isinstance(model, LocalChatCompletion):
        not_native = _unsupported_by_server(model, schemas, settings)
    elif not hasattr(getattr(model, "tokenizer", None), "apply_chat_template"):
        not_native = "the model does not accept tools separately from its prompt"
    else:
        apply = ChatTemplate(model, model.apply_chat_template)
        apply.tools = schemas
        for number, possible in ((1, 1), (2, MAX_CALLS)):
            if all(_template_writes(model, apply, tools, tool, number) for tool in tools.values()):
                most = possible
        not_native = "" if most else "the model's chat template does not write tool calls in a form that can be read"
    if option == "native" and not_native:
        raise UsageError(f"tool_format=native: {not_native}: omit tool_format, or set tool_format=text")
    return ToolFormat(schemas, not_native, most)


def _template_writes(model: LM, apply: ChatTemplate, tools: Mapping[str, Tool], tool: Tool, number: int) -> bool:
    """Return whether a chat template renders a tool's name, its calls and their results.

    ``read_calls`` must be able to parse the rendered calls. The template is tested on a conversation whose reply
    has ``number`` calls.
    """
    question = {"role": "user", "content": "Hi"}
    calls = [{"name": tool.name, "arguments": {tool.argument: f'"{index}"\n + 1.5'}} for index in range(number)]
    parsed = understand(json.dumps(calls), tools, number, 0)
    trial = Conversation("", [question, parsed.message], calls=parsed.calls)
    trial.add_results([CallResult("2.25", failed=False)] * number, ["2.25"] * number)
    try:
        first = str(apply([question], add_generation_prompt=False))
        text = str(apply(trial.chat))
    except Exception:  # templates raise all kinds of errors for messages that they do not support
        return False
    if tool.name not in first or "2.25" not in text:
        return False
    reply = text.removeprefix(first).partition("2.25")[0]
    if hasattr(model, "tok_decode"):  # some models drop special tokens from replies
        reply = str(model.tok_decode(model.tok_encode(reply, add_special_tokens=False)))
    return read_calls(reply, tools)[0] == parsed.calls


def _unsupported_by_server(model: LM, schemas: Sequence[JsonObject], settings: Settings) -> str:
    """Return why a server does not support tools; empty if it does.

    Servers that accept tools but leave them out of the prompt are detected by the number of prompt tokens.

    Raises:
        MedtasksError: if the server refuses the request without tools, or fails for a reason other than the tools.
    """
    without = probe(model, settings)
    try:
        with_tools = probe(model, {**settings, "tools": schemas})
    except MedtasksError as error:
        if isinstance(error, ServerUnavailable) and "tool" not in error.body.lower():
            raise  # the error has a different reason
        return str(error)
    if with_tools is None or without is None:
        raise ServerUnavailable(
            f"{model.base_url} was too slow or too busy for a trial request with tools: try again, or set "
            "tool_format=native or tool_format=text"
        )
    tokens_with, tokens_without = (completion.usage.get("prompt") for completion in (with_tools, without))
    ignored = tokens_with is not None and tokens_with == tokens_without
    return f"{model.base_url} leaves tools out of the prompt" if ignored else ""
