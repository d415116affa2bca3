"""One response scored from Python, by the very path of a run.

>>> from medtasks_utils import score
>>> score("medcalc_bench", row, "<answer>4.2</answer>")["strict-match"].metrics["acc"]      # doctest: +SKIP
1.0
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import cards
from medtasks_utils.errors import DataError, UsageError

OWN_DEFAULTS = {"use_explanations": False, "add_python_tool": False, "add_calculator_tool": False}
"""Options that are off here unless given: they need files, models or many turns."""


class Scored(NamedTuple):
    """What one filter makes of a response.

    Attributes:
        answer: what it read, as samples show it; None if it found none.
        found_by: how it was found, as in ``box``; ``none`` if it was not.
        metrics: of this response, in the metrics' own units; None where one does not apply.
    """

    answer: str | None
    found_by: str
    metrics: dict[str, float | None]


def score(
    task: str, row: Mapping[str, Any], response: str, *, shown: str | None = None, **options: Any
) -> dict[str, Scored]:
    """Score one response under both filters.

    Args:
        task: as under ``--tasks``, or a benchmark.
        row: as in the data set; labels that come in several forms are read as on the hub.
        response: the model's; where it used tools, its last reply.
        shown: for MedHallu, whose rows make two examples: ``ground_truth`` or ``hallucinated``, which was shown.
        options: of the benchmark, as under ``--set``. Explanations are scored only if ``explanation_metrics``,
            ``use_explanations`` or ``use_judge`` asks for it.

    Returns:
        By filter, ``strict-match`` and ``flexible-extract``.

    Raises:
        UsageError: for a task or option that does not exist, or a row that makes several examples.
        DataError: for a row that cannot be read.
    """
    from medtasks_utils.harness.catalog import benchmark_of, configurations, our_manager

    settings = next(iter(configurations(our_manager(), [_task_name(task)])), None)
    benchmark = benchmark_of(settings) if settings else None
    if settings is None or benchmark is None:
        raise UsageError(f"there is no task {task!r}; medtasks eval --help lists all")
    with tempfile.TemporaryDirectory(prefix="medtasks_row_") as folder:
        for name in cards()[benchmark].row_files:
            file = Path(folder, benchmark, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(dict(row), ensure_ascii=False, default=str) + "\n", encoding="utf-8")
        metadata = {"medtasks_data": folder, benchmark: _with_defaults(benchmark, options)}
        try:
            built = our_manager(metadata).load([settings["task"]])["tasks"][settings["task"]]
        except DataError as error:
            raise DataError(re.sub(rf"{re.escape(folder)}[^\s,:]*(, row 1)?", "the row", str(error))) from None
        return _scored(built, _index(built, task, shown), response)


def _task_name(task: str) -> str:
    from medtasks_utils.harness.catalog import our_manager

    return cards()[task].default_task if task in cards() and task not in our_manager().all_tasks else task


def _with_defaults(benchmark: str, options: Mapping[str, Any]) -> dict[str, Any]:
    from medtasks_utils.harness.catalog import task_class_of
    from medtasks_utils.harness.options import read_options

    kind = task_class_of(benchmark).options_type
    known = kind.model_fields
    read_options(kind, benchmark, {}, {benchmark: options}, said_by="score")
    defaults = {name: value for name, value in OWN_DEFAULTS.items() if name in known}
    if options.keys() & {"explanation_metrics", "use_judge"}:
        defaults.pop("use_explanations", None)
    return {**defaults, **options}


def _index(task: Any, name: str, shown: str | None) -> int:
    """Which of the examples that the row makes is meant."""
    by_name = [str(doc.get("shown", "")) for doc in task.eval_docs]
    if len(by_name) == 1 and shown in (None, by_name[0]):
        return 0
    if shown not in by_name or by_name.count(shown) > 1:
        raise UsageError(f"{name}: say which answer the model was shown: shown={' or shown='.join(map(repr, by_name))}")
    return by_name.index(shown)


def _scored(task: Any, index: int, response: str) -> dict[str, Scored]:
    from medtasks_utils.harness.patches import no_progress_of_prompts

    with no_progress_of_prompts():
        task.build_all_requests()
    doc = task.eval_docs[index]
    for instance in task.instances:
        instance.resps = [response]
    task.apply_filters()
    instance = task.instances[index]
    found = {}
    for name, answer in instance.filtered_resps.items():
        metrics = task.process_results(doc, [answer])
        values = {metric: None if value is None else float(value) for metric, value in metrics.items()}
        shown = None if answer.value is None else str(answer)
        found[name] = Scored(shown, answer.details["found_by"], values)
    return found
