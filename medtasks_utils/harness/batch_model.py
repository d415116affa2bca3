"""Models that are reached by files: they hand all requests of a run to :data:`answering`, which gives the replies.

Each is the API model of lm_eval that sends the same requests to a server, so that the bodies are the same.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from medtasks_utils.errors import UsageError

from .lm_eval_names import Instance, LocalChatCompletion, LocalCompletionsAPI, model_registry
from .replies import Reply

Answering = Callable[[Any, Sequence[Instance]], list[Reply]]
"""Returns the reply to each request, given the model too."""

answering: ContextVar[Answering] = ContextVar("answering")
"""What answers the requests of the current run."""

_NO_LIMIT = 1 << 40  # of the context, which only the server knows


class _ReachedByFiles:
    """What both models have in common."""

    amodel_call = None  # no request is sent, so that there is no server to probe

    def generate_until(self, requests: Sequence[Instance], disable_tqdm: bool = False) -> list[Reply]:
        """Return the replies to requests."""
        return answering.get()(self, requests)


class BatchChat(_ReachedByFiles, LocalChatCompletion):  # type: ignore[misc]
    """Sends chats."""

    url = "/v1/chat/completions"


class BatchCompletions(_ReachedByFiles, LocalCompletionsAPI):  # type: ignore[misc]
    """Sends prompts as text, rendered by the chat template of a tokenizer if the run applies one."""

    url = "/v1/completions"

    def __init__(self, tokenizer: str | None = None, **arguments: Any) -> None:
        backend = "huggingface" if tokenizer else None
        settings = {"tokenizer_backend": backend, "tokenized_requests": False, "max_length": _NO_LIMIT, **arguments}
        super().__init__(tokenizer=tokenizer, **settings)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Return a chat as the tokenizer renders it.

        Raises:
            UsageError: without a tokenizer.
        """
        if self.tokenizer is None:
            raise UsageError("--apply_chat_template: name the model's tokenizer with --model_args tokenizer=NAME")
        text: str = self.tokenizer.apply_chat_template(
            chat_history,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=not add_generation_prompt,
        )
        return text


FORMS = {"chat": "batch-chat-completions", "completions": "batch-completions"}
"""The name that ``--model`` takes, by the form of the requests."""
model_registry.register(FORMS["chat"])(BatchChat)
model_registry.register(FORMS["completions"])(BatchCompletions)
