"""A benchmark's extraction and scores without a run of the harness: for responses that are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.task import TaskConfig

from medtasks_utils.aggregation import Example
from medtasks_utils.benchmarks import cards
from medtasks_utils.harness.answer import Answer, combined
from medtasks_utils.harness.catalog import task_class_of
from medtasks_utils.harness.options import read_options
from medtasks_utils.harness.sources import Row
from medtasks_utils.harness.task import MedTask


class Scorer:
    """Reads answers out of responses and scores them, as the benchmark's default task does.

    Raises:
        OptionError: for a misspelt or ill-typed option.
    """

    def __init__(self, benchmark: str, options: Mapping[str, Any]) -> None:
        task_class = task_class_of(benchmark)
        # Not by its constructor, which loads rows.
        self._task: MedTask = object.__new__(task_class)
        self._task.options = read_options(task_class.options_type, benchmark, {}, {benchmark: options})
        self._task._config = TaskConfig(task=cards()[benchmark].default_task, generation_kwargs={"until": []})

    def strict(self, doc: Row, responses: Sequence[str]) -> tuple[list[Answer], dict[str, Example | None]]:
        """The answers to one example under the strict filter, and its metrics, the means over the responses."""
        answers = [self._task.strict(response, doc) for response in responses]
        scores = [self._task.score(doc, answer) for answer in answers]
        cluster, stratum = self._task.cluster(doc), self._task.stratum(doc)
        return answers, {name: combined([score[name] for score in scores], cluster, stratum) for name in scores[0]}
