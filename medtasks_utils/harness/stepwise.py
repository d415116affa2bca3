"""Evaluate tasks batch by batch until the comparison with a saved run is decided (``--against``).

Each batch is evaluated by itself, without explanation metrics. At the end, all examples of these batches are evaluated
together from the stored replies, so the results are those of an ordinary run on these examples.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from medtasks_utils.errors import logger
from medtasks_utils.inference.reply_store import ReplyStore
from medtasks_utils.writing import JsonObject, Settings

from .lm_eval_names import get_sample_size


def evaluate_in_steps(
    evaluate: Callable[..., Any],
    tasks: Mapping[str, Any],
    settings: Settings,
    saved: Any,
    store: ReplyStore,
) -> tuple[Any, JsonObject]:
    """Evaluate the tasks batch by batch until the comparison of each task is decided.

    Returns:
        The results of ``evaluate``, and by task the result of the comparison.

    Raises:
        MedtasksError: if the runs cannot be compared.
    """
    by_name = tasks["tasks"]
    comparisons = {
        name: saved.begin(name, task.eval_docs, _numbers(name, task, settings)) for name, task in by_name.items()
    }
    remarks = {name: list(task.config.metadata.get("remarks", ())) for name, task in by_name.items()}
    asked: dict[str, list[int]] = defaultdict(list)
    for task in by_name.values():
        task.with_batch_scores = False
    while batch := {name: task.next_batch() for name, task in comparisons.items() if task.is_open}:
        of_batch = {name: by_name[name] for name in batch}
        arguments = {**settings, "limit": None, "samples": batch, "log_samples": True}
        results = evaluate(task_dict={"tasks": of_batch, "groups": {}}, **arguments)
        for name, numbers in batch.items():
            asked[name] += numbers
            config = {"fewshot_seed": by_name[name].fewshot_seed}
            comparisons[name].add({**results, "config": config, "system_instruction": settings["system_instruction"]})
            logger.info("%s: %s", name, comparisons[name])
    reused = store.reused
    store.rewind()
    for name, task in by_name.items():
        standing = comparisons[name].standing
        task.with_batch_scores = True
        task.config.metadata["remarks"] = remarks[name]  # the last evaluation adds its own
        task.config.metadata["against"] = standing._asdict()
        if standing.asked < standing.of:
            task.remark(f"stopped early: {comparisons[name]}")
    whole = {**settings, "limit": None, "samples": {name: sorted(numbers) for name, numbers in asked.items()}}
    results = evaluate(task_dict=tasks, **whole)
    store.reused = reused  # without those of this run
    return results, {name: task.standing._asdict() for name, task in comparisons.items()}


def _numbers(name: str, task: Any, settings: Settings) -> Sequence[int]:
    """Return the indices of the examples that ``--samples`` or ``--limit`` selects; without them, all indices."""
    samples: Sequence[int] | None = (settings.get("samples") or {}).get(name)
    return samples or task.benchmark.first(task.eval_docs, get_sample_size(task, settings.get("limit")))
