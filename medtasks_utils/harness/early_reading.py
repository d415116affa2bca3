"""Read replies in a thread while the model still answers, so that little is left to read after the last one."""

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, wait

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example

Read = Callable[[str, str, Example], Answer]
"""A function of a reading, ``strict`` or ``flexible``, a response and its example that returns the answer."""


class EarlyReading:
    """The answers of one task that are read before the filters ask for them.

    A response that is not among them, since a filter or another reply changed it, is read when a filter asks for it.

    Args:
        read: the function that reads.
        readings: the readings of the task's filters.
        thread: what runs the function, one response at a time.
    """

    def __init__(self, read: Read, readings: Collection[str], thread: Executor) -> None:
        self._read, self._readings, self._thread = read, readings, thread
        self._begun: list[Future[None]] = []
        self._answers: dict[tuple[str, str, int], Answer] = {}

    def begin(self, response: Callable[[], str], doc: Example) -> None:
        """Read a response, which the function returns, in the thread; an error shows when a filter asks for it."""
        self._begun.append(self._thread.submit(self._add, response, doc))

    def _add(self, response: Callable[[], str], doc: Example) -> None:
        text = response()
        for reading in self._readings:
            self._answers[reading, text, id(doc)] = self._read(reading, text, doc)

    def finish(self) -> None:
        """Wait until all responses are read."""
        wait(self._begun)

    def take(self, reading: str, response: str, doc: Example) -> Answer:
        """Return the answer in a response."""
        answer = self._answers.pop((reading, response, id(doc)), None)
        return self._read(reading, response, doc) if answer is None else answer
