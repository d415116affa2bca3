"""Read replies in a thread while the model still answers, so that little is left to read after the last one."""

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, wait
from typing import Any

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example

from .lm_eval_names import Instance


class EarlyReading:
    """The answers of one task that are read before the filters ask for them.

    A response that is not among them, since a filter or another reply changed it, is read when a filter asks for it.

    Args:
        response_to: a function that returns what is read of a reply to a request.
        read: a function of a reading, ``strict`` or ``flexible``, a response and its example that returns the answer.
        readings: the readings of the task's filters.
        thread: what runs the functions, for one reply at a time.
    """

    def __init__(
        self,
        response_to: Callable[[Instance, Any], str],
        read: Callable[[str, str, Example], Answer],
        readings: Collection[str],
        thread: Executor,
    ) -> None:
        self._response_to, self._read, self._readings, self._thread = response_to, read, readings, thread
        self._begun: list[Future[None]] = []
        self._answers: dict[tuple[str, str, int], Answer] = {}

    def begin(self, request: Instance, reply: Any) -> None:
        """Read a reply, the last of its conversation, in the thread; an error shows when a filter asks for it."""
        self._begun.append(self._thread.submit(self._add, request, reply))

    def _add(self, request: Instance, reply: Any) -> None:
        text = self._response_to(request, reply)
        for reading in self._readings:
            self._answers[reading, text, id(request.doc)] = self._read(reading, text, request.doc)

    def finish(self) -> None:
        """Wait until all replies are read."""
        wait(self._begun)

    def take(self, reading: str, response: str, doc: Example) -> Answer:
        """Return the answer in a response."""
        answer = self._answers.pop((reading, response, id(doc)), None)
        return self._read(reading, response, doc) if answer is None else answer
