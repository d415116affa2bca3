"""Read replies in a thread while the model still generates, so that little is left to read at the end."""

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.facts import Example


class EarlyReading:
    """A task's answers, read in advance of its filters.

    A response that was not read in advance, such as one that a filter changed, is read on request.

    Args:
        read: a function that returns the answer, given a reading (``strict`` or ``flexible``), a response and its
            example.
        readings: the readings of the task's filters.
        thread: an executor with one thread, which calls ``read``.
    """

    def __init__(
        self, read: Callable[[str, str, Example], Answer], readings: Collection[str], thread: Executor
    ) -> None:
        self._read, self._readings, self._thread = read, readings, thread
        self._begun: dict[tuple[str, str, int], Future[Answer]] = {}

    def begin(self, response: str, doc: Example) -> None:
        """Start to read a response in the background; an error is raised only when a filter requests the answer."""
        for reading in self._readings:
            self._begun[reading, response, id(doc)] = self._thread.submit(self._read, reading, response, doc)

    def take(self, reading: str, response: str, doc: Example) -> Answer:
        """Return the answer in a response, read in advance or now."""
        begun = self._begun.pop((reading, response, id(doc)), None)
        return begun.result() if begun else self._read(reading, response, doc)
