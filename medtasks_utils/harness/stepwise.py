"""Evaluate tasks batch by batch until the comparison with a saved run is decided (``--against``).

Each batch is evaluated separately, without explanation metrics. At the end, all examples of these batches are evaluated
together from the stored replies, so the results are those of an ordinary run on these examples.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
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
    """Evaluate the tasks batch by batch until the comparison of each task or group is decided.

    Args:
        evaluate: lm_eval's ``evaluate``, with the model already passed.
        tasks: the tasks and groups, as lm_eval loads them.
        settings: the other arguments of ``evaluate``.
        saved: the :class:`medtasks_utils.compare.against.SavedRun` to compare with.
        store: the store of replies, from which the last evaluation takes them.

    Returns:
        The results of ``evaluate``, and the comparisons by group and task; tasks share their group's comparison.

    Raises:
        MedtasksError: if the runs cannot be compared.
    """
    by_name = tasks["tasks"]
    comparisons = {}
    for name, members in _topics(tasks).items():
        examples = {task: (by_name[task].eval_docs, _numbers(by_name[task], settings)) for task in members}
        comparisons[name] = saved.begin(name, examples)
    remarks = {name: list(task.config.metadata.get("remarks", ())) for name, task in by_name.items()}
    asked: dict[str, list[int]] = defaultdict(list)
    for task in by_name.values():
        task.with_batch_scores = False
    while batches := {name: topic.next_batch() for name, topic in comparisons.items() if topic.is_open}:
        batch = dict(chain.from_iterable(numbers.items() for numbers in batches.values()))
        of_batch = {name: by_name[name] for name in batch}
        arguments = {**settings, "limit": None, "samples": batch, "log_samples": True}
        results = evaluate(task_dict={"tasks": of_batch, "groups": {}}, **arguments)
        for name, numbers in batch.items():
            asked[name] += numbers
            results["config"] = {"fewshot_seed": by_name[name].fewshot_seed}  # lm_eval sets one for all tasks
        results["system_instruction"] = settings["system_instruction"]
        for name in batches:
            comparisons[name].add(results)
            logger.info("%s: %s", name, comparisons[name])
    reused = store.reused
    store.rewind()
    standings = {}
    for name, topic in comparisons.items():
        standings[name] = topic.standing._asdict()
        for task in topic.tasks:
            standings[task] = standings[name]
            by_name[task].with_batch_scores = True
            by_name[task].config.metadata["remarks"] = remarks[task]  # the last evaluation adds its own
            by_name[task].config.metadata["against"] = standings[name]
            if topic.standing.asked < topic.standing.of:
                by_name[task].remark(f"stopped early: {topic}")
    whole = {**settings, "limit": None, "samples": {name: sorted(numbers) for name, numbers in asked.items()}}
    results = evaluate(task_dict=tasks, **whole)
    store.reused = reused  # without those of this run
    return results, standings


def _topics(tasks: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of the tasks of each comparison, by the comparison's name.

    The tasks of a group are compared together if they have the same benchmark and none of them is in an earlier group
    of this kind. Every other task is compared alone.
    """
    topics: dict[str, list[str]] = {}
    grouped: set[str] = set()
    for name, group in tasks["groups"].items():
        members = {task.task_name: task.benchmark.name for task in group.get_all_tasks()}
        if len({*members.values()}) == 1 and grouped.isdisjoint(members):
            topics[name] = [*members]
            grouped |= members.keys()
    return topics | {name: [name] for name in tasks["tasks"] if name not in grouped}


def _numbers(task: Any, settings: Settings) -> Sequence[int]:
    """Return the indices of the examples that ``--samples`` or ``--limit`` selects; by default, all indices."""
    samples: Sequence[int] | None = (settings.get("samples") or {}).get(task.task_name)
    return samples or task.benchmark.first(task.eval_docs, get_sample_size(task, settings.get("limit")))
