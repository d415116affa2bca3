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
from medtasks_utils.harness.catalog import benchmark_of, configurations, our_manager, task_class_of
from medtasks_utils.harness.options import DATA_KEY, read_options
from medtasks_utils.harness.patches.tasks import no_progress_of_prompts

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
        task: as under ``--tasks``, or a benchmark; of a group, whose tasks score alike, the first.
        row: as in the data set. MedMCQA's ``cop`` is, as on the hub, 0 to 3 for A to D if it is a number: of one row
            alone, it cannot be told whether its file counts from 1.
        response: the model's text; where it used tools, its last reply.
        shown: for MedHallu, whose rows make two examples: ``ground_truth`` or ``hallucinated``, which was shown.
        options: of the benchmark, as under ``--set``. Explanations are scored only if ``explanation_metrics``,
            ``use_explanations`` or ``use_judge`` asks for it.

    Returns:
        By filter, ``strict-match`` and ``flexible-extract``.

    Raises:
        UsageError: for a task or option that does not exist, arguments that are no row and no text, or a row that makes
            several examples.
        DataError: for a row that cannot be read.
    """
    if not isinstance(task, str):
        raise UsageError(f"score: task is a name, not {_kind(task)}")
    if not isinstance(row, Mapping):
        raise UsageError(f"score: row is a mapping of columns to values, as in the data set, not {_kind(row)}")
    if not isinstance(response, str):
        raise UsageError(f"score: response is the model's text, not {_kind(response)}")
    name, benchmark = _single_task(task)
    task_class_of(benchmark).check_single_row(row)
    with tempfile.TemporaryDirectory(prefix="medtasks_row_") as folder:
        for place in cards()[benchmark].row_files:
            file = Path(folder, benchmark, place)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(dict(row), ensure_ascii=False, default=str) + "\n", encoding="utf-8")
        metadata = {DATA_KEY: folder, benchmark: _with_defaults(benchmark, options)}
        try:
            built = our_manager(metadata).load([name])["tasks"][name]
        except DataError as error:
            raise DataError(re.sub(rf"{re.escape(folder)}[^\s,:)]*(, row 1)?", "the row", str(error))) from None
        return _scored(built, _index(built, task, shown), response)


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _single_task(name: str) -> tuple[str, str]:
    """The task that a name stands for, and its benchmark.

    Raises:
        UsageError: for a name that is none, stands for several benchmarks, or for tasks that read no text.
    """
    known = our_manager()
    own = cards()[name].default_task if name in cards() and name not in known.all_tasks else name
    found = list(configurations(known, [own]))
    benchmarks = {benchmark: None for settings in found if (benchmark := benchmark_of(settings))}
    if not benchmarks:
        raise UsageError(f"there is no task {name!r}; medtasks eval --help lists all")
    if len(benchmarks) > 1:
        raise UsageError(f"{name} is a group of several benchmarks: name the row's own, {' or '.join(benchmarks)}")
    if found[0].get("output_type") in ("multiple_choice", "loglikelihood"):
        raise UsageError(f"{name} scores log-likelihoods, no text: name {found[0]['task'].removesuffix('_logits')}")
    return found[0]["task"], *benchmarks


def _with_defaults(benchmark: str, options: Mapping[str, Any]) -> dict[str, Any]:
    kind = task_class_of(benchmark).options_type
    known = kind.model_fields
    if options.get("repeats") not in (None, 1):
        raise UsageError("score: repeats is of runs; here one response is scored")
    read_options(kind, benchmark, {}, {benchmark: options}, said_by="score")
    defaults = {name: value for name, value in OWN_DEFAULTS.items() if name in known}
    if options.keys() & {"explanation_metrics", "use_judge"}:
        defaults.pop("use_explanations", None)
    return {**defaults, **options}


def _index(task: Any, name: str, shown: str | None) -> int:
    """Which of the examples that the row makes is meant."""
    by_name = [str(doc.get("shown", "")) for doc in task.eval_docs]
    if not any(by_name):
        if shown is not None:
            raise UsageError(f"{name}: shown is for MedHallu, whose rows make two examples; leave it out")
        return 0
    if len(by_name) == 1 and shown in (None, by_name[0]):
        return 0
    if shown not in by_name or by_name.count(shown) > 1:
        raise UsageError(f"{name}: say which answer the model was shown: shown={' or shown='.join(map(repr, by_name))}")
    return by_name.index(shown)


def _scored(task: Any, index: int, response: str) -> dict[str, Scored]:
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
        values = {name: None if value is None or value != value else float(value) for name, value in metrics.items()}
        shown = None if answer.value is None else str(answer)
        found[name] = Scored(shown, answer.details["found_by"], values)
    return found
