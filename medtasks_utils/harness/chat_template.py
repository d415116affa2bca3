"""Render messages with a model's chat template, after changes that keep the template from dropping words."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from datetime import date
from types import SimpleNamespace
from typing import Any

from medtasks_utils.errors import UsageError, reason_of
from medtasks_utils.writing import JsonObject, counted, shortened

from .lm_eval_names import LM
from .signature import generation_as_signed

Message = JsonObject
Messages = Sequence[Message]

TODAY = date(2024, 7, 26)
"""The current date for templates; without ``strftime_now``, Llama 3's template assumes this date."""
_NOW = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")
_LONGEST_QUOTED = 60  # maximum number of characters of a message in remarks
_OF_CALLS = ("tokenize", "add_generation_prompt", "continue_final_message", "chat_template", "tools")
"""Arguments of ``apply_chat_template`` itself, rather than switches of a template."""


def in_user_turn(messages: Messages) -> Messages:
    """Move the system message, if any, to the head of the first user turn.

    Authors of models without a system role advise this.
    """
    if messages[0]["role"] != "system":
        return messages
    system, user, *others = messages
    return [{**user, "content": f"{system['content']}\n\n{user['content']}"}, *others]


def without_switch(messages: Messages) -> Messages:
    """Replace ``<think>...</think>`` by ``<think>``, since some templates interpret ``/think`` as a switch."""
    return [
        {**message, "content": str(message.get("content") or "").replace("<think>...</think>", "<think>")}
        for message in messages
    ]


_CHANGES: dict[str, Callable[[Messages], Messages]] = {
    "system_in_user": in_user_turn,
    "think_unclosed": without_switch,
}
"""The functions that change messages, by their names in signatures."""
_WAYS = ((), ("system_in_user",), ("think_unclosed",), ("system_in_user", "think_unclosed"))
"""Combinations of changes, in order of preference. Of those with which the fewest messages lose words, the first is
used."""


class ChatTemplate:
    """A function that renders the messages of a run, changed if the template would drop words or fail.

    The first messages decide the changes for the whole run, such as moving the system message to the user turn.

    Args:
        model: the model; None if it is not known.
        apply: the model's function that renders messages.
        system_role: the option ``system_role``: ``auto``, ``user`` or ``system``.

    Attributes:
        tools: the schemas of tools to pass to the template; empty for none.
    """

    def __init__(self, model: LM | None, apply: Callable[..., Any], system_role: str = "auto") -> None:
        self.tools: list[JsonObject] = []
        self._apply, self._role = apply, system_role
        self._way: Sequence[str] | None = None
        self._has_date = self._has_today = False
        self._rendered_last: tuple[Messages, JsonObject, str] = ([], {}, "")  # messages, settings, prompt
        self._switches: JsonObject = {}  # those that change the prompt
        self._count = 0
        self._losses: list[str] = []
        self._tokenizer: Any = None
        if hasattr(getattr(model, "tokenizer", None), "apply_chat_template"):
            self._tokenizer = model.tokenizer  # type: ignore[union-attr]
            rendering = copy(model)  # with the same weights
            rendering.tokenizer = SimpleNamespace(apply_chat_template=self._by_tokenizer)  # type: ignore[union-attr]
            self._apply = rendering.apply_chat_template  # type: ignore[union-attr]

    def __call__(self, messages: Messages, **settings: Any) -> Any:
        """Return the prompt, or the changed messages if a server renders them.

        Raises:
            UsageError: if the template cannot render the messages, or if the first messages begin with a system message
                and lose words despite ``system_role=system``.
        """
        prompt, losses = self._rendered(self.decide(messages, **settings), messages, settings)
        self._count += 1
        self._losses += losses[:1]
        return prompt

    def decide(self, messages: Messages, **settings: Any) -> Sequence[str]:
        """Return the names of the changes to all messages of a run.

        The first call decides them from its messages; later calls return the same names.

        Raises:
            UsageError: as in :meth:`__call__`.
        """
        if self._way is None:
            moved = {"auto": (False, True), "user": (True,), "system": (False,)}[self._role]
            ways = [way for way in _WAYS if ("system_in_user" in way) in moved]
            self._way = min(ways, key=lambda way: self._number_lost(way, messages, settings))
            _, losses = self._rendered(self._way, messages, settings)
            self._switches = self._effective_switches()
            if self._role == "system" and losses and messages[0]["role"] == "system":
                raise UsageError(
                    f"system_role=system: the model's chat template drops a part of the prompt ({losses[0]!r}): set "
                    "it to auto"
                )
        return self._way

    @property
    def changes(self) -> list[str]:
        """The changes to prompts, as signed: changes to messages, switches, and a fixed date."""
        switches = [generation_as_signed(self._switches)] if self._switches else []
        return [*(self._way or ()), *switches, *([f"date={TODAY}"] if self._has_date else [])]

    def remarks(self) -> Iterator[str]:
        """Yield remarks for readers of the results: on changes, the date of the run, and words that are still lost."""
        way = self._way or ()
        if "system_in_user" in way and self._role == "auto":
            yield (
                "the model's chat template drops words of a system message, so it was moved to the head of the first "
                "user turn (with system_role=system, this is an error)"
            )
        if "think_unclosed" in way:
            yield (
                "the model's chat template interprets /think as a switch, so prompts have <think> instead of "
                "<think>...</think>"
            )
        if self._has_today:
            yield "the model's chat template may put the date of the run into prompts, which then differ by day"
        if self._losses:
            yield (
                f"the model's chat template drops words of {len(self._losses)} of {counted(self._count, 'prompt')}, "
                f"such as {self._losses[0]!r}"
            )

    # ---- rendering

    def _number_lost(self, way: Sequence[str], messages: Messages, settings: JsonObject) -> float:
        """Return the number of messages that lose words with the changes in ``way``; infinity if rendering fails."""
        try:
            return len(self._rendered(way, messages, settings)[1])
        except UsageError:
            return float("inf")

    def _rendered(self, way: Sequence[str], messages: Messages, settings: JsonObject) -> tuple[Any, list[str]]:
        """Return the prompt, and the beginnings of the messages that lose words.

        The list of beginnings is empty if the prompt was not rendered by a tokenizer here.
        """
        for change in way:
            messages = _CHANGES[change](messages)
        prompt = self._apply(messages, **settings)
        if self._tokenizer is None or not isinstance(prompt, str):  # a server renders them, or the model in its own way
            return prompt, []
        words = _spaced(prompt)
        contents = [str(message.get("content") or "") for message in messages]
        lost = (content for content in contents if _spaced(content) not in words and in_json(content) not in words)
        return prompt, [shortened(_spaced(content), _LONGEST_QUOTED) for content in lost]

    def _by_tokenizer(self, messages: Messages, **settings: Any) -> Any:
        """Render messages and tools with the tokenizer, with :data:`TODAY` as the date and without None settings.

        Raises:
            UsageError: if the template cannot render the messages.
        """
        arguments = {name: value for name, value in settings.items() if value is not None}
        if self.tools:
            arguments["tools"] = self.tools
        template: Any = arguments.get("chat_template") or getattr(self._tokenizer, "chat_template", None)
        dates = {TODAY.strftime(now[2]) for now in _NOW.finditer(template)} if isinstance(template, str) else ()
        if dates:
            arguments["chat_template"] = _NOW.sub(lambda now: repr(TODAY.strftime(now[2])), template)
        self._has_today = "strftime_now(" in str(arguments.get("chat_template") or template)
        try:
            prompt = self._tokenizer.apply_chat_template(messages, **arguments)
        except Exception as error:  # templates raise any error; lm_eval answers some by dropping the system message
            raise UsageError(f"the model's chat template cannot render the messages: {reason_of(error)}") from None
        self._has_date = any(date in prompt for date in dates)
        self._rendered_last = messages, arguments, prompt
        return prompt

    def _effective_switches(self) -> JsonObject:
        """Return the switches, such as ``enable_thinking``, that affect the prompt rendered last."""
        messages, arguments, prompt = self._rendered_last

        def without(name: str) -> Any:
            return self._tokenizer.apply_chat_template(
                messages, **{key: arguments[key] for key in arguments if key != name}
            )

        return {name: arguments[name] for name in arguments if name not in _OF_CALLS and without(name) != prompt}


def _spaced(text: str) -> str:
    return " ".join(text.split())


def in_json(text: str) -> str:
    """Return a text with JSON escapes and single spaces, since some templates embed texts as JSON."""
    return _spaced(json.dumps(text.strip(), ensure_ascii=False)[1:-1])
