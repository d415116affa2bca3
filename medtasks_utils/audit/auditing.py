"""Audit saved runs: draw responses, have an LLM read them, and write the results next to the sample logs."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.judging import Judgement, JudgeSettings, judge_all
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.runs import audit_file
from medtasks_utils.writing import JsonObject, one_line, write_whole

from .auditor import Auditor, Item
from .estimate import estimated
from .person_marks import Marks, mark_of

_END = 300  # number of characters of a response that are written, from its end
_SHOWN = 20  # maximum number of disagreements shown for each audit


def audit(
    runs: Iterable[Run], settings: JudgeSettings, limits: Mapping[str, int], task: str | None, marks: Marks
) -> list[JsonObject]:
    """Audit the generation tasks of runs, and write a file next to each sample log.

    Args:
        runs: the runs, saved with their samples.
        settings: the LLM and its endpoint.
        limits: by stratum, the maximum number of responses per task to draw.
        task: the only task to audit; None for all tasks.
        marks: readings by a person, to compare with the LLM's.

    Returns:
        The contents of the files, each with its ``path``.

    Raises:
        MedtasksError: if there is nothing to audit, or a file cannot be written.
        JudgeError: if the endpoint cannot be used.
    """
    audits, problems = [], []
    for run in runs:
        for task_run in run.tasks.values():
            problems += task_run.problems
            items = list(_items(task_run)) if task in (None, task_run.task) else []
            if items:
                audits.append(_audit_task(run, task_run, items, settings, limits, marks))
    if not audits:
        raise MedtasksError(
            f"nothing to audit{f' in the task {task}' if task else ''}: name runs of this package's generation tasks, "
            f"saved with --log_samples{'; '.join(['', *problems[:1]])}"
        )
    return audits


def _items(task: TaskRun) -> Iterator[Item]:
    """Yield the responses that both filters scored, from samples that contain the question and the label."""
    if task.benchmark is None:
        return
    fields = {*task.benchmark.data.shown, task.benchmark.data.truth}
    for sample in task.samples:
        count = len(sample.responses)
        if fields <= sample.doc.keys() and all(len(sample.scores_of(name, "acc")) == count for name in FILTERS):
            yield from (Item(task.benchmark, sample, generation) for generation in range(count))


def _audit_task(
    run: Run, task: TaskRun, items: Sequence[Item], settings: JudgeSettings, limits: Mapping[str, int], marks: Marks
) -> JsonObject:
    """Audit the responses to a task, write the audit file, and return its content with its path."""
    # Seeded, so that the same command reads the same responses.
    generator = random.Random(f"{run.model} {task.task} {len(items)}")
    drawn: list[Item] = []
    strata: dict[str, Counter[str]] = {}
    for name, limit in limits.items():
        members = [item for item in items if item.stratum == name]
        of_stratum = generator.sample(members, min(limit, len(members)))
        drawn += of_stratum
        strata[name] = Counter(responses=len(members), drawn=len(of_stratum), read=0)
    judgements = judge_all(Auditor(), settings, drawn, check_first=True)
    readings = []
    for item, judgement in zip(drawn, judgements, strict=True):
        facts = _facts(item, judgement.output.get("stated"))
        strata[item.stratum].update(facts)
        readings.append(_record(item, judgement, facts, mark_of(marks, run, task, item.sample)))
    filters: dict[str, JsonObject] = {
        name: {
            "accuracy": sum(item.is_scored_right(name) for item in items) / len(items),
            "misread": estimated(strata, f"misread {name}"),
            "missed": estimated(strata, f"missed {name}"),
        }
        for name in FILTERS
    }
    result = {
        "run": run.name,
        "task": task.task,
        "signature": f"{Auditor.signature}|model:{settings.model}",
        "responses": len(items),
        "filters": filters,
        "accuracy_as_read": estimated(strata, "gained", "lost", filters[FLEXIBLE]["accuracy"]),
        "strata": strata,
        "readings": readings,
    }
    path = audit_file(task.samples_path or Path())
    write_whole(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return result | {"path": str(path)}


def _record(item: Item, judgement: Judgement, facts: Sequence[str], person: str | None) -> JsonObject:
    """Return the audit file's entry for a drawn response: the readings of the filters, the LLM and a person."""
    stated = judgement.output.get("stated")
    return {
        "doc_id": item.sample.doc_id,
        "generation": item.generation,
        "stratum": item.stratum,
        **{name: item.answer_of(name) for name in FILTERS},
        "stated": stated,
        "person": person,
        "person_agrees": None if person is None or stated is None else item.is_same(person, stated),
        "differs": any(fact.endswith(FILTERS) for fact in facts),
        "failure": judgement.failure,
        "end": item.response[-_END:],
    }


def _facts(item: Item, stated: str | None) -> list[str]:
    """Compare the filters' answers with the answer that the LLM read.

    Returns:
        Labels of the response; none if the LLM failed. ``read`` is always among them. A filter whose answer differs
        from the LLM's adds ``missed`` (no answer) or ``misread`` (a different answer), followed by its name. ``gained``
        means that the LLM's answer is right and the flexible filter's is not, and ``lost`` the reverse.
    """
    if stated is None:
        return []
    facts = ["read"]
    for name in FILTERS:
        answer = item.answer_of(name)
        if not item.is_same(answer, stated):
            facts.append(f"{'missed' if answer == UNANSWERED else 'misread'} {name}")
    is_right = item.is_right(stated)
    if is_right != item.is_scored_right(FLEXIBLE):
        facts.append("gained" if is_right else "lost")
    return facts


# ---- as text


def summary_lines(audits: Sequence[JsonObject]) -> Iterator[str]:
    """Yield lines about each audit: strata, error rates, accuracy, agreement with a person, first disagreements."""
    for audited in audits:
        yield f"{audited['run']}, {audited['task']}: {audited['responses']} responses"
        for name, stratum in audited["strata"].items():
            yield f"  {name}: {stratum['responses']}, of which {stratum['drawn']} were drawn and {stratum['read']} read"
        if audited["accuracy_as_read"] is None:
            yield f"  no response was read, so the rates of misreadings are unknown; failures: {audited['path']}"
            continue
        for name, rates in audited["filters"].items():
            yield f"  {name}: misread {_percent(rates['misread'])}, missed {_percent(rates['missed'])}"
        by_rules = ", ".join(f"{name} {rates['accuracy']:.1%}" for name, rates in audited["filters"].items())
        yield f"  accuracy: {by_rules}, by the LLM's readings {_percent(audited['accuracy_as_read'])}"
        agreements = [row["person_agrees"] for row in audited["readings"] if row["person_agrees"] is not None]
        if agreements:
            shared = f"{sum(agreements)} of {len(agreements)} marked responses"
            yield f"  the LLM read the same answer as a person in {shared}"
        for row in [row for row in audited["readings"] if row["differs"]][:_SHOWN]:
            readings = ", ".join(f"{name} {row[name]}" for name in audited["filters"])
            yield f"    {row['doc_id']}: {readings}, LLM {row['stated']}: …{one_line(row['end'])[-120:]}"
        yield f"  all responses that were read: {audited['path']}"


def _percent(estimate: dict[str, float]) -> str:
    value, low, high = (round(estimate[name], 3) + 0.0 for name in ("value", "low", "high"))  # not -0.0
    return f"{value:.1%} ({low:.1%} to {high:.1%})"
