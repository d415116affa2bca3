"""Which runs, tasks and examples are compared with which, and whether they may be."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from medtasks_utils.benchmarks import cards, metric_of
from medtasks_utils.harness.signature import digest, incompatibilities
from medtasks_utils.results import ResultsError, Run, Sample, TaskRun, read_runs

_FIELDS_THAT_PAIRING_SETTLES = ("rows", "n")
_MOST_LISTED = 8


class CompareError(ResultsError):
    """Results that cannot be compared, or not without a word from the user."""


@dataclass
class Pairing:
    """The examples of a task in two runs.

    Attributes:
        pairs: those in both, in the first run's order.
        only_a: those in the first run alone.
        only_b: those in the second run alone.
    """

    pairs: list[tuple[Sample, Sample]]
    only_a: list[Sample]
    only_b: list[Sample]


def one_run(path: str | Path, tasks: Sequence[str] = ()) -> Run:
    """The run at a path; where there are several, the one that holds all of ``tasks``, if they are given.

    Raises:
        ResultsError: where there is none.
        CompareError: where there are several, naming them.
    """
    runs = read_runs(path)
    holding = [run for run in runs if tasks and all(task in run.tasks or task in run.groups for task in tasks)]
    runs = holding or runs
    if len(runs) == 1:
        return runs[0]
    listed = "; ".join(f"{run.path} ({', '.join(run.tasks) or 'unreadable'})" for run in runs[:_MOST_LISTED])
    more = f"; and {len(runs) - _MOST_LISTED} more" if len(runs) > _MOST_LISTED else ""
    raise CompareError(f"{path} holds {len(runs)} runs, and one is needed; name a file: {listed}{more}")


def pair(a: TaskRun, b: TaskRun) -> Pairing:
    """Pair examples by the hash of their documents; equal documents in the order in which they come.

    Runs of other origin than the harness are paired by the fields that set examples apart.
    """
    fields = a.identity or b.identity
    waiting: dict[str, list[Sample]] = defaultdict(list)
    for sample in reversed(b.samples):
        waiting[identity(sample, b, fields)].append(sample)
    pairs, only_a = [], []
    for sample in a.samples:
        same = waiting[identity(sample, a, fields)]
        if same:
            pairs.append((sample, same.pop()))
        else:
            only_a.append(sample)
    return Pairing(pairs, only_a, [sample for samples in waiting.values() for sample in samples])


def common_examples(tasks: Sequence[TaskRun]) -> list[tuple[Sample, ...]]:
    """The examples that all runs of a task have, a sample of each run, in the first run's order."""
    rows = (tuple(sample for sample in row if sample is not None) for row in all_examples(tasks))
    return [row for row in rows if len(row) == len(tasks)]


def all_examples(tasks: Sequence[TaskRun]) -> list[tuple[Sample | None, ...]]:
    """The examples that any run of a task has, a sample of each run that does, the first run's first."""
    found: list[dict[tuple[str, int], Sample]] = []
    for task in tasks:
        seen: Counter[str] = Counter()
        own: dict[tuple[str, int], Sample] = {}
        for sample in task.samples:
            key = identity(sample, task)
            own[key, seen[key]] = sample
            seen[key] += 1
        found.append(own)
    return [tuple(own.get(key) for own in found) for key in dict.fromkeys(key for own in found for key in own)]


def identity(sample: Sample, task: TaskRun, fields: Sequence[str] = ()) -> str:
    """What two runs' samples of one example share: a solved example shown with it belongs to the prompt."""
    if fields and all(sample.doc.get(name) for name in fields):
        return digest(
            [" ".join(json.dumps(sample.doc[name]).replace("\\n", " ").split()) for name in fields], length=64
        )
    of_prompt = cards()[task.benchmark].prompt_fields if task.benchmark else ()
    if not of_prompt:
        return sample.doc_hash
    return digest({name: value for name, value in sample.doc.items() if name not in of_prompt}, length=64)


def check_examples(a: TaskRun, b: TaskRun, pairing: Pairing, *, common: bool) -> list[str]:
    """Warnings about examples that only one run has.

    Raises:
        CompareError: if there are such examples and ``common`` is false, or there are no others.
    """
    for run, which in ((a, "first"), (b, "second")):
        if not run.samples:
            raise CompareError(
                f"{run.task}: the {which} run has no samples to pair; run lm_eval with --log_samples, or name other "
                "tasks with --task"
            )
    if not pairing.pairs:
        raise CompareError(
            f"{a.task}: the runs have no example in common ({len(a.samples)} in A, {len(b.samples)} in B); they were "
            "run on different data"
        )
    if not pairing.only_a and not pairing.only_b:
        return []
    counts = f"{len(pairing.pairs)} in both, {len(pairing.only_a)} only in A, {len(pairing.only_b)} only in B"
    if not common:
        raise CompareError(f"{a.task}: the runs hold different examples: {counts}; --common compares those in both")
    return [f"compared on the examples in both runs only: {counts}"]


def check_signatures(
    a: TaskRun, b: TaskRun, filter_name: str, pairing: Pairing, metrics: Sequence[str], *, force: bool
) -> list[str]:
    """Warnings about what sets the two results apart; the pairing settles whether the rows are equal.

    Raises:
        CompareError: if they measure different things and ``force`` is false.
    """
    signed = a.signatures.get(filter_name), b.signatures.get(filter_name)
    if not signed[0] or not signed[1]:
        return _check_without_signature(pairing, signed)
    found = [
        difference
        for difference in incompatibilities(signed[0], signed[1])
        if difference.field not in _FIELDS_THAT_PAIRING_SETTLES
        and (difference.field != "scorers" or any(metric_of(name, a.benchmark).is_of_explanations for name in metrics))
    ]
    refused = [difference.message for difference in found if difference.refuse]
    if refused and not force:
        raise CompareError(f"{a.task}: not comparable: {'; '.join(refused)}; --force compares all the same")
    return [difference.message for difference in found]


def _check_without_signature(pairing: Pairing, signed: tuple[str | None, str | None]) -> list[str]:
    which = "neither run has" if not any(signed) else f"the {'second' if signed[0] else 'first'} run lacks"
    warnings = [f"{which} a signature, so options and versions cannot be checked"]
    other = sum(_texts(first) != _texts(second) for first, second in pairing.pairs)
    if other:
        warnings.append(f"the prompts differ in {other} of {len(pairing.pairs)} examples")
    return warnings


def _texts(sample: Sample) -> str:
    return json.dumps([message["content"] for message in sample.messages])
