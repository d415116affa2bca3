"""Evaluate tasks batch by batch until the comparison with a saved run is decided (``--against``).

Each batch is evaluated by itself, without explanation metrics. At the end, all examples of these batches are evaluated
together from the stored replies, so the results are those of an ordinary run on these examples.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.errors import UsageError, logger

from .lm_eval_names import get_sample_size
from .reply_store import ReplyStore


class ReplayedReplies(ReplyStore):
    """A reply store that can replay this run's replies, in the order in which they arrived.

    Args:
        folder: the folder of the results.
        model: the model's kind, arguments and seeds, which identify it.
        fresh: True to ignore the replies of earlier runs.
        extend: True to also reuse replies of finished runs.
        keep: True to store replies in the folder, and not only in memory.

    Attributes:
        is_whole: True if the run evaluated all examples. Otherwise its replies are not archived at the end, so that the
            same command can continue the run.
    """

    def __init__(
        self, folder: Path, model: Mapping[str, Any], fresh: bool = False, extend: bool = False, *, keep: bool = True
    ) -> None:
        super().__init__(folder, model, fresh or not keep, extend)
        self._is_fresh &= keep
        self.is_whole = True
        self._keep = keep
        self._passed: dict[str, list[Any]] = defaultdict(list)
        self._again: dict[str, list[Any]] = {}

    def rewind(self) -> None:
        """Replay all replies so far: equal requests get the same replies again."""
        self._again, self._passed = self._passed, defaultdict(list)

    def take(  # noqa: D102
        self, method: str, arguments: Sequence[Any], first: Sequence[Any] | None = None
    ) -> list[Any] | None:
        key = repr((method, arguments))
        passed = self._again.get(key)
        replies = passed.pop(0) if passed else super().take(method, arguments, first)
        if replies is not None:
            self._passed[key].append(replies)
        return replies

    def put(self, method: str, arguments: Sequence[Any], replies: Sequence[Any]) -> None:  # noqa: D102
        self._passed[repr((method, arguments))].append(replies)
        if self._keep:
            super().put(method, arguments, replies)

    def end(self) -> None:  # noqa: D102
        if self._keep and self.is_whole:
            super().end()
        self.close()

    @property
    def way_on(self) -> str:  # noqa: D102
        return super().way_on if self._keep else "no replies were kept"


def evaluate_in_steps(
    evaluate: Callable[..., Any],
    tasks: Mapping[str, Any],
    settings: Mapping[str, Any],
    saved: Any,
    store: ReplayedReplies,
) -> tuple[Any, dict[str, Any]]:
    """Evaluate the tasks batch by batch until the comparison of each task is decided.

    Args:
        evaluate: lm_eval's ``evaluate``, called with ``task_dict`` and the settings.
        tasks: lm_eval's ``task_dict``.
        settings: the other arguments of ``evaluate``.
        saved: the run to compare with, an :class:`~medtasks_utils.compare.against.Against`.
        store: the store with the replies of this run.

    Returns:
        The results of ``evaluate``, and by task the result of the comparison.

    Raises:
        MedtasksError: if the runs cannot be compared.
        UsageError: for tasks outside this package.
    """
    by_name = tasks["tasks"]
    others = [name for name, task in by_name.items() if not hasattr(task, "with_batch_scores")]
    if others:
        raise UsageError(f"--against works only with tasks of this package, not with {', '.join(others)}")
    comparisons = {
        name: saved.begin(name, task.eval_docs, _numbers(name, task, settings)) for name, task in by_name.items()
    }
    remarks = {name: list(task.config.metadata.get("remarks", ())) for name, task in by_name.items()}
    asked: dict[str, list[int]] = defaultdict(list)
    while batch := {name: task.next_batch() for name, task in comparisons.items() if task.is_open}:
        of_batch = {name: by_name[name] for name in batch}
        for task in of_batch.values():
            task.with_batch_scores = False
        arguments = {**settings, "limit": None, "samples": batch, "log_samples": True}
        results = evaluate(task_dict={"tasks": of_batch, "groups": {}}, **arguments)
        for name, numbers in batch.items():
            asked[name] += numbers
            comparisons[name].add(results["samples"][name], by_name[name].config.metadata["signature"])
            logger.info("%s: %s", name, comparisons[name])
    store.rewind()
    for name, task in by_name.items():
        standing = comparisons[name].standing
        task.with_batch_scores = True
        task.config.metadata["remarks"] = remarks[name]  # the last evaluation adds its own
        task.config.metadata["against"] = standing._asdict()
        if standing.asked < standing.of:
            task.remark(f"stopped early: {comparisons[name]}")
            store.is_whole = False
    whole = {**settings, "limit": None, "samples": {name: sorted(numbers) for name, numbers in asked.items()}}
    results = evaluate(task_dict=tasks, **whole)
    return results, {name: task.standing._asdict() for name, task in comparisons.items()}


def _numbers(name: str, task: Any, settings: Mapping[str, Any]) -> Sequence[int]:
    """Return the indices of the examples that ``--samples`` or ``--limit`` selects; without them, all indices."""
    samples: Sequence[int] = (settings.get("samples") or {}).get(name, ())
    limited: Sequence[int] = task.benchmark.first(task.eval_docs, get_sample_size(task, settings.get("limit")))
    return samples or limited
