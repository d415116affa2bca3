"""How a run's tools are called: natively, in fields beside the text, or in the text; and what the model is sent."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.tools.calls import MAX_CALLS, Call, ReadCalls, read_calls
from medtasks_utils.tools.template import CallForm
from medtasks_utils.tools.tool import Tool

from .lm_eval_names import LM, LocalChatCompletion
from .model_server import probe
from .models import probe_of, tools_in_template


class ToolFormat:
    """How the tools of a task are called in a run.

    Args:
        model: the run's; None where it is not known.
        tools: by name.
        wanted: the option ``tool_format``.
        settings: the task's ``generation_kwargs``, with which the server is tried.

    Raises:
        UsageError: for ``native`` where the model takes no tools.
    """

    def __init__(self, model: LM | None, tools: Mapping[str, type[Tool]], wanted: str, settings: Mapping[str, Any]):
        self._model: Any = model
        self._tools = tools
        self.most_by_template = 0  # calls of a reply, where the chat template writes them for the model
        self.read: ReadCalls = read_calls
        refusal = "as tool_format says" if wanted == "text" else self._refusal(settings)
        if wanted == "native" and refusal:
            raise UsageError(f"tool_format=native: {refusal}: leave tool_format out, or make it text")
        self.name = "text" if refusal else "native"
        self.reason = refusal or "the model takes tools"

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """The tools as native calls have them."""
        return [tool.schema() for tool in self._tools.values()]

    def in_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings of a request; where a server takes tools, with them: in what it is sent, and in cache keys."""
        by_server = self.name == "native" and not self.most_by_template
        return {**settings, "tools": self.schemas} if by_server else settings

    def rendering(self) -> AbstractContextManager[None]:
        """What chats are rendered within."""
        return tools_in_template(self._model, self.schemas) if self.most_by_template else nullcontext()

    # ---- whether the model takes tools

    def _refusal(self, settings: Mapping[str, Any]) -> str:
        """Why calls cannot be native; empty where they can."""
        if isinstance(self._model, LocalChatCompletion):
            return self._refusal_of_server(settings)
        if not hasattr(getattr(self._model, "tokenizer", None), "apply_chat_template"):
            return "the model takes no tools beside its prompt"
        for number, most in ((2, MAX_CALLS), (1, 1)):
            if all(self._template_writes(tool, number) for tool in self._tools.values()):
                self.most_by_template = most
                return ""
        self.read = read_calls
        return "the model's chat template has no tool calls, or none that can be read"

    def _template_writes(self, tool: type[Tool], number: int) -> bool:
        """Whether the template shows a tool, so many calls of one reply, in a form that is read, and their results."""
        wanted = [Call(tool.name, f'"{each}"\n + 1.5') for each in range(number)]
        functions = [{"name": tool.name, "arguments": {tool.argument: call.argument}} for call in wanted]
        calls = [{"id": f"call0000{i}", "type": "function", "function": each} for i, each in enumerate(functions)]
        results = [{"role": "tool", "tool_call_id": c["id"], "name": tool.name, "content": "2.25"} for c in calls]
        asked = {"role": "user", "content": "Hi"}
        apply = self._model.apply_chat_template
        try:
            with tools_in_template(self._model, self.schemas):
                first = str(apply([asked], add_generation_prompt=False))
                text = str(apply([asked, {"role": "assistant", "content": "", "tool_calls": calls}, *results]))
        except Exception:  # whatever a template raises of messages that it does not know
            return False
        if tool.name not in first or "2.25" not in text:
            return False
        reply = text.removeprefix(first).partition("2.25")[0]
        if hasattr(self._model, "tok_decode"):  # of what the model writes, some models hand over no special tokens
            reply = str(self._model.tok_decode(self._model.tok_encode(reply, add_special_tokens=False)))
        if self.read(reply, self._tools)[0] != wanted and self.read is read_calls:
            with suppress(ValueError):
                self.read = CallForm(reply, tool.name, tool.argument, wanted[0].argument, "call00000").read
        return self.read(reply, self._tools)[0] == wanted

    def _refusal_of_server(self, settings: Mapping[str, Any]) -> str:
        """Why a server takes no tools; empty if it does.

        One that takes them and leaves them out of the model's prompt does not; it shows in the number of prompt tokens.
        """
        model = self._model
        plain = probe_of(model, settings)
        try:
            with_tools = probe({**plain, "json": {**plain["json"], "tools": self.schemas}}, model.model)
            without = probe(plain, model.model)
        except MedtasksError as error:
            return str(error)
        counts = [(said.get("usage") or {}).get("prompt_tokens") for said in (with_tools, without)]
        ignored = counts[0] is not None and counts[0] == counts[1]
        return f"{model.base_url} leaves tools out of the prompt" if ignored else ""
