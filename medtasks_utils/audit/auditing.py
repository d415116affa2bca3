"""Audit saved runs: draw responses, have an LLM read them, and write the results next to the sample logs."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark
from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.think import final_text
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.judging import Judgement, JudgeSettings, judge_all
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.runs import audit_file
from medtasks_utils.writing import JsonObject, write_whole

from .auditor import AuditCase, Auditor, right, same
from .estimate import Counts, changed, share
from .person_marks import Marks, mark_of

DOUBTFUL, OTHERS = "doubtful", "others"
_UNSURE_BELOW = 0.5
_END = 300


class Item(NamedTuple):
    """A response to audit: its benchmark, its sample, and the index of the generation."""

    benchmark: Benchmark
    sample: Sample
    generation: int

    def read(self, filter_name: str) -> str:
        """Return the answer that a filter read."""
        return self.sample.answers[filter_name][self.generation]

    def is_right(self, filter_name: str) -> bool:
        """Return True if the answer that a filter read is right."""
        return self.sample.scores_of(filter_name, "acc")[self.generation] == 1.0

    @property
    def is_doubtful(self) -> bool:
        """True if a filter found no answer, the filters disagree, or the flexible reading is uncertain."""
        strict, flexible = map(self.read, FILTERS)
        if UNANSWERED in (strict, flexible) or not self.is_same(strict, flexible):
            return True
        certainty = self.sample.details[FLEXIBLE].get("certainty")
        if isinstance(certainty, list):
            certainty = certainty[self.generation]
        return certainty is not None and certainty < _UNSURE_BELOW

    def is_same(self, first: str, second: str) -> bool:
        """Return True if two readings are the same answer, or neither is an answer."""
        return same(first, second, self.benchmark, self.sample.doc)

    def case(self) -> AuditCase:
        """Return the case for the LLM, which contains the text after the reasoning."""
        response = final_text(self.sample.responses[self.generation]).strip()
        return AuditCase(self.benchmark, self.sample.doc, response)


def audit(
    runs: Iterable[Run],
    settings: JudgeSettings,
    sample: int,
    doubtful: int,
    task: str | None,
    log: Callable[[str], object],
    marks: Marks,
) -> list[JsonObject]:
    """Audit the generation tasks of runs, or one of them, and write a file next to each sample log.

    Args:
        runs: the runs.
        settings: the LLM, its endpoint and its limits.
        sample: the number of responses per task to draw from those that are not doubtful.
        doubtful: the maximum number of doubtful responses per task.
        task: the only task to audit; None for all tasks.
        log: a function that is called with a line for each task that is left out.
        marks: a person's readings, which are compared with the LLM's.

    Returns:
        The contents of the files, each with its ``path``.

    Raises:
        MedtasksError: if there is nothing to audit.
        JudgeError: if the endpoint cannot be used.
    """
    audits = []
    for run in runs:
        for task_run in run.tasks.values():
            if task not in (None, task_run.task):
                continue
            items = list(_items(task_run))
            if items:
                limits = {DOUBTFUL: doubtful, OTHERS: sample}
                audits.append(_audit_task(run, task_run, items, settings, limits, marks))
            else:
                log(f"{run.name}, {task_run.task}: left out, since it has no responses with both filters' answers")
    if not audits:
        raise MedtasksError(
            f"nothing to audit{f' in the task {task}' if task else ''}: name runs of this package's generation tasks, "
            "saved with --log_samples"
        )
    return audits


def _items(task: TaskRun) -> Iterator[Item]:
    """Yield the responses of those samples of a task that both filters have scored."""
    if task.benchmark is None:
        return
    for sample in task.samples:
        count = len(sample.responses)
        if all(len(sample.scores_of(name, "acc")) == count for name in FILTERS):
            yield from map(partial(Item, task.benchmark, sample), range(count))


def _audit_task(
    run: Run,
    task: TaskRun,
    items: Sequence[Item],
    settings: JudgeSettings,
    limits: Mapping[str, int],
    marks: Marks,
) -> JsonObject:
    """Audit a task and write its file; ``limits`` has, by stratum, the maximum number of responses to read."""
    # Seeded, so that the same command reads the same responses.
    generator = random.Random(f"{run.model} {task.task} {len(items)}")
    auditor = Auditor()
    strata: dict[str, dict[str, int]] = {}
    counted: dict[str, Counter[str]] = {}
    readings: list[JsonObject] = []
    for name, limit in limits.items():
        members = [item for item in items if item.is_doubtful is (name == DOUBTFUL)]
        drawn = generator.sample(members, min(limit, len(members)))
        judgements = judge_all(auditor, settings, [item.case() for item in drawn], check_first=True)
        read = sum("stated" in judgement.output for judgement in judgements)  # missing if the LLM failed
        strata[name], counted[name] = {"responses": len(members), "drawn": len(drawn), "read": read}, Counter()
        for item, judgement in zip(drawn, judgements, strict=True):
            facts = _facts(item, judgement.output.get("stated"))
            counted[name].update(facts)
            readings.append(_reading(item, name, judgement, facts, mark_of(marks, run, task, item.sample)))

    def counts(fact: str) -> list[Counts]:
        return [Counts(counted[name][fact], of["read"], of["responses"]) for name, of in strata.items()]

    filters: dict[str, JsonObject] = {}
    for name in FILTERS:
        filters[name] = {"accuracy": sum(item.is_right(name) for item in items) / len(items)}
        filters[name] |= {kind: share(counts(f"{kind} {name}")) for kind in ("misread", "missed")}
    result = {
        "run": run.name,
        "task": task.task,
        "signature": f"{auditor.signature}|model:{settings.model}",
        "responses": len(items),
        "filters": filters,
        "accuracy_as_read": changed(filters[FLEXIBLE]["accuracy"], counts("gained"), counts("lost")),
        "strata": strata,
        "failures": dict(Counter(row["failure"] for row in readings if row["failure"])),
        "readings": readings,
    }
    path = audit_file(task.samples_path or Path())
    write_whole(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return result | {"path": str(path)}


def _reading(item: Item, stratum: str, judgement: Judgement, facts: Sequence[str], person: str | None) -> JsonObject:
    """Return the record of a response that was drawn: what the filters, the LLM and a person read in it."""
    stated = judgement.output.get("stated")
    return {
        "doc_id": item.sample.doc_id,
        "generation": item.generation,
        "stratum": stratum,
        **{filter_name: item.read(filter_name) for filter_name in FILTERS},
        "stated": stated,
        "person": person,
        "person_agrees": None if person is None or stated is None else item.is_same(person, stated),
        "differs": any(fact.endswith(FILTERS) for fact in facts),
        "failure": judgement.failure,
        "end": item.sample.responses[item.generation][-_END:],
    }


def _facts(item: Item, stated: str | None) -> list[str]:
    """Compare the filters' answers with the one that the LLM read.

    Returns:
        For each filter whose answer differs from the LLM's, ``missed`` (no answer) or ``misread`` (another answer) with
        its name; ``gained`` if the LLM's answer is right and the flexible filter's is not, ``lost`` for the reverse. An
        empty list if the LLM failed.
    """
    facts: list[str] = []
    if stated is None:
        return facts
    for name in FILTERS:
        answer = item.read(name)
        if not item.is_same(answer, stated):
            facts.append(f"{'missed' if answer == UNANSWERED else 'misread'} {name}")
    is_right = right(stated, item.benchmark, item.sample.doc)
    if is_right != item.is_right(FLEXIBLE):
        facts.append("gained" if is_right else "lost")
    return facts
