"""A task's extraction and scores without a run of the harness: for responses that are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from medtasks_utils.harness.catalog import our_manager
from medtasks_utils.harness.options import DATA_KEY
from medtasks_utils.harness.patches.tasks import ScoresAndDetails
from medtasks_utils.harness.task import MedTask


def load_task(name: str, data: str | None, metadata: Mapping[str, Any]) -> MedTask:
    """A task with its rows; ``data`` is where they come from, None for where runs read them.

    Raises:
        DataError: for rows that cannot be had.
    """
    given = {**metadata, **({} if data is None else {DATA_KEY: data})}
    task: MedTask = our_manager(given).load([name])["tasks"][name]
    return task


def scored(task: MedTask, doc: Mapping[str, Any], responses: Sequence[str]) -> dict[str, tuple[list[str], Any]]:
    """By filter, the answers to one example, and its metrics and details as a run has them."""
    found: dict[str, tuple[list[str], ScoresAndDetails]] = {}
    for name, extract in task.extractors.items():
        answers = [extract(response, dict(doc)) for response in responses]
        found[name] = list(map(str, answers)), task.process_results(dict(doc), answers)  # type: ignore[assignment]
    return found
