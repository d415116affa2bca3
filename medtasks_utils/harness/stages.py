"""Pass a run's requests through the stages before and after the model, for models of any kind.

::

    1  kept replies        a reply from an earlier run is reused       Stages.without_model
    2  prompts that fit    one that does not fit is not sent          Stages.without_model
    3  the model           a server gets requests concurrently,       api_batch.ApiBatch
                           other models by their own method           run_model.RunModel
    4  finish reasons      why replies in this process ended          in_process.Ends
    5  the store           new replies are kept                       Stages.keep
    6  the filters         the answer in each reply is read           early_reading.EarlyReading
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from medtasks_utils.errors import logger
from medtasks_utils.inference.replies import End, Reply, as_reply
from medtasks_utils.inference.reply_checks import Exchange
from medtasks_utils.inference.reply_store import Arguments, ReplyStore

from .lm_eval_names import LM, Instance
from .models import context_error_of
from .reasoning import closes_unopened


@dataclass(eq=False)
class Stages:
    """The stages before and after a model through which the requests of a run pass, as the module's table lists them.

    Attributes:
        model: the model.
        store: the store of replies; None to store nothing.
        ours: the titles of our tasks by name; only these accept an empty reply in place of a log-likelihood.
        cache_hook: lm_eval's own cache hook, for ``--use_cache``.
        readers: by task, a function called with each request and the last reply of its conversation.
    """

    model: LM
    store: ReplyStore | None
    ours: Mapping[str, str]

    def __post_init__(self) -> None:
        """Remember the model's own cache hook."""
        self.cache_hook = self.model.cache_hook
        self.readers: dict[str, Callable[[Instance, Any], None]] = {}
        self._closes_unopened: Counter[bool] = Counter()

    def without_model(self, method: str, task: str, arguments: Arguments, first: Arguments | None) -> list[Any] | None:
        """Return stored replies to a request, or empty ones if its prompt does not fit; None if it must be sent.

        Args:
            method: the name of the model's method, as lm_eval calls it.
            task: the task's name.
            arguments: the request's arguments.
            first: the arguments of the conversation's first request; None if the request itself is the first.
        """
        kept = self.store.take(method, arguments, first) if self.store else None
        if kept is not None:
            return kept
        if method == "loglikelihood" and task not in self.ours:
            return None
        context_error = context_error_of(self.model, *arguments[:2])
        return empty_replies(task, arguments, context_error) if context_error else None

    def title(self, task: str) -> str:
        """Return the title of our benchmark for a task, or the name of any other task."""
        return self.ours.get(task, task)

    def explain(self) -> None:
        """Log, with ``--extend``, the number of requests to send and the reasons."""
        if self.store:
            self.store.explain()

    def keep(self, method: str, arguments: Arguments, replies: Sequence[Any]) -> None:
        """Store the replies to a request, if there is a store."""
        if self.store:
            self.store.put(method, arguments, replies)

    def note_reply(self, request: Instance, reply: Any) -> None:
        """Pass a request and the last reply of its conversation to the task's reader, if there is one.

        If a server renders the prompt, also record whether the reply closes reasoning that it did not open, for
        :attr:`begins_in_reasoning`.
        """
        if isinstance(reply, str) and not isinstance(request.args[0], str):
            whole = as_reply(reply)
            self._closes_unopened[closes_unopened(whole)] += whole.ended != "length"
        if reader := self.readers.get(request.task_name):
            reader(request, reply)

    @property
    def begins_in_reasoning(self) -> bool:
        """True if the prompts that a server renders open the reasoning.

        This is inferred: more than half of the finished replies close reasoning that they did not open. All tasks of a
        run count together, so that all replies of a model are read alike.
        """
        return self._closes_unopened[True] > self._closes_unopened[False]


def empty_replies(task: str, arguments: Arguments, reason: str, ended: End = "unknown") -> list[Reply]:
    """Log why a prompt is not answered, and return as many empty replies as were requested, with the reason."""
    logger.info("%s: %s", task, reason)
    settings = arguments[1]
    number = settings.get("n", 1) if isinstance(settings, Mapping) else 1
    return [Reply(ended=ended, refusal=reason)] * number


def exchanges_of(request: Instance, model: str) -> Iterator[Exchange]:
    """Yield a request to a model with its reply; for a conversation with tools, yield one exchange for each reply."""
    prompt, settings = (*request.args, {}, {})[:2]
    prompt = question = str(getattr(prompt, "prompt", prompt) or "")
    with suppress(ValueError, TypeError):  # a prompt that is not a chat
        question = [message["content"] for message in json.loads(prompt) if message["role"] == "user"][-1]
    for reply in getattr(request, "replies", request.resps):
        yield Exchange(request.doc_id, prompt, str(question), settings, reply, model)
        prompt = ""
