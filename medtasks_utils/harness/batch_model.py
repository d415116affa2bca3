"""Define models that take replies from the function in :data:`answering` instead of a server, for batch files.

Each derives from the lm_eval model that would send the requests to a server, so the request bodies are the same.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from medtasks_utils.errors import UsageError
from medtasks_utils.inference.replies import Reply

from .lm_eval_names import Instance, LocalChatCompletion, LocalCompletionsAPI, OpenAIChatCompletion, model_registry
from .server_model import NO_LIMIT

Answering = Callable[[Any, Sequence[Instance]], list[Reply]]
"""A function that returns the replies to all requests of a model."""

answering: ContextVar[Answering] = ContextVar("answering")
"""The function that answers the current run's requests."""


class _ReachedByFiles:
    """A mixin that takes replies from :data:`answering` instead of a server."""

    amodel_call = None  # nothing is sent, so no server needs to be probed
    api_key = ""

    def generate_until(self, requests: Sequence[Instance]) -> list[Reply]:
        """Return the reply to each request from the function in :data:`answering`."""
        return answering.get()(self, requests)


class BatchChat(_ReachedByFiles, LocalChatCompletion):  # type: ignore[misc]
    """A model whose requests contain chat messages."""

    url = "/v1/chat/completions"


class BatchOpenAIChat(_ReachedByFiles, OpenAIChatCompletion):  # type: ignore[misc]
    """A model whose requests contain chat messages, with the settings that OpenAI's own models accept."""

    url = "/v1/chat/completions"


class BatchCompletions(_ReachedByFiles, LocalCompletionsAPI):  # type: ignore[misc]
    """A model whose requests contain plain prompts; with ``--apply_chat_template``, a tokenizer renders them."""

    url = "/v1/completions"

    def __init__(self, tokenizer: str | None = None, **arguments: Any) -> None:
        backend = "huggingface" if tokenizer else None
        settings = {"tokenizer_backend": backend, "tokenized_requests": False, "max_length": NO_LIMIT, **arguments}
        super().__init__(tokenizer=tokenizer, **settings)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Render a chat with the tokenizer's chat template.

        Raises:
            UsageError: if no tokenizer is named.
        """
        if self.tokenizer is None:
            raise UsageError("--apply_chat_template: name the model's tokenizer with --model_args tokenizer=NAME")
        return self.tokenizer.apply_chat_template(  # type: ignore[no-any-return]
            chat_history,
            tokenize=False,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=not add_generation_prompt,
        )


FORMS = {
    "chat": "batch-chat-completions",
    "openai": "batch-openai-chat-completions",
    "completions": "batch-completions",
}
"""The value of ``--model`` for each request format."""
model_registry.register(FORMS["chat"])(BatchChat)
model_registry.register(FORMS["openai"])(BatchOpenAIChat)
model_registry.register(FORMS["completions"])(BatchCompletions)
