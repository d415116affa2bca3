"""Our readings as filters of the harness: ``function: medtasks_read`` with ``reading: strict`` or ``flexible``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.errors import DataError

READINGS = ("strict", "flexible")

Read = Callable[[str, str, dict[str, Any]], Answer]
"""Given ``strict`` or ``flexible``, a response and its document: the answer."""


@register_filter("medtasks_read")
class ReadFilter(Filter):  # type: ignore[misc]
    """What a response answers, by the benchmark's published rule or by our best reading.

    Args:
        reading: ``strict`` or ``flexible``.
        read: put there by the task (:class:`medtasks_utils.harness.task.MedTask`), which knows benchmark and options.
    """

    def __init__(self, reading: str | None = None, read: Read | None = None, **others: Any) -> None:
        if reading not in READINGS or others:
            raise DataError(
                f"filter_list: medtasks_read takes reading: {' or '.join(READINGS)}, and nothing else; not "
                f"{ ({'reading': reading} | others)!r}"
            )
        if read is None:
            raise DataError("filter_list: medtasks_read is for the tasks of this pack (class: MedTask)")
        self._reading = reading
        self._read = read

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[Answer]]:
        """The answers to each document's responses."""
        return [
            [self._read(self._reading, response, doc) for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
