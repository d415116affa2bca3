"""Auditing saved runs: which responses are read by the LLM, what came of it, and the files that say so."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from medtasks_utils.audit.auditor import Asked, Auditor, kind_of, right, same
from medtasks_utils.audit.estimate import Counts, Estimate, changed, share
from medtasks_utils.benchmarks.base import UNANSWERED
from medtasks_utils.benchmarks.medcalc_bench.kinds import NOT_AVAILABLE
from medtasks_utils.errors import MedtasksError, meant
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import JudgeSettings, judge_all
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.writing import write_whole

FILTERS = "strict-match", "flexible-extract"
DOUBTFUL, OTHERS = "doubtful", "others"
_UNSURE_WAYS = {"fuzzy", "none"}
_UNSURE_BELOW = 0.5
_END = 300


@dataclass(frozen=True)
class Item:
    """A response: its example, its number among the example's, and what the filters read in it."""

    sample: Sample
    generation: int
    kind: str

    def read(self, filter_name: str) -> str:
        """What the filter read."""
        return self.sample.answers[filter_name][self.generation]

    def is_right(self, filter_name: str) -> bool:
        """Whether what the filter read is right."""
        recorded = self.sample.metrics.get(filter_name, {}).get("acc")
        if len(self.sample.responses) == 1 and recorded is not None:
            return recorded == 1.0
        return right(self.read(filter_name), self.sample.doc, self.kind)

    @property
    def is_doubtful(self) -> bool:
        """Whether a filter found nothing, the filters differ, or the flexible one was unsure."""
        strict, flexible = map(self.read, FILTERS)
        if UNANSWERED in (strict, flexible) or not same(strict, flexible, self.kind):
            return True
        told = [self.sample.details.get(FILTERS[1], {}).get(name) for name in ("certainty", "found_by")]
        certainty, way = (each[self.generation] if isinstance(each, list) else each for each in told)
        return certainty < _UNSURE_BELOW if isinstance(certainty, float | int) else way in _UNSURE_WAYS

    def asked(self, may_abstain: bool) -> Asked:
        """What the LLM is given: neither the truth nor what the rules read."""
        doc, response = self.sample.doc, final_text(self.sample.responses[self.generation]).strip()
        options = tuple(map(str, doc.get("options") or ())) if self.kind == "letter" else ()
        shown = str(doc.get("answer", "")) if self.kind == "verdict" else ""
        return Asked(self.kind, may_abstain, str(doc.get("question", "")), options, shown, response)


def audit(
    runs: Iterable[Run],
    settings: JudgeSettings,
    sample: int = 200,
    doubtful: int = 1000,
    task: str | None = None,
    log: Callable[[str], object] = lambda line: None,
) -> list[dict[str, Any]]:
    """Audit every task of the runs whose model writes text, or one task, and write a file beside each sample log.

    Args:
        settings: how the LLM is asked.
        sample: how many of the responses that are not doubtful are drawn, by task.
        doubtful: how many of those that are, at most; more are drawn from, too.
        log: told of what is left out.

    Returns:
        What the files hold, as :func:`read_audit` gives it.

    Raises:
        MedtasksError: if there is nothing to audit.
        JudgeError: if the endpoint cannot be used.
    """
    found, known = [], []
    for run in runs:
        for each in run.tasks.values():
            known.append(each.task)
            items = [] if task not in (None, each.task) or each.samples_path is None else list(_items(each))
            if items:
                found.append(_audited(run, each, items, settings, (doubtful, sample)))
            elif task in (None, each.task):
                log(f"{run.name}, {each.task}: left out, no responses with both filters' answers were logged")
    if not found:
        there = f"{task}: no such task here{meant(task, known)}; " if task and task not in known else ""
        raise MedtasksError(
            f"{there}nothing to audit: it takes runs of this pack's generation tasks, saved with --log_samples"
        )
    return found


def _items(task: TaskRun) -> Iterator[Item]:
    for sample in task.samples:
        kind = kind_of(sample.doc) if task.benchmark else None
        if kind and all(len(sample.answers.get(name, ())) == len(sample.responses) for name in FILTERS):
            yield from (Item(sample, generation, kind) for generation in range(len(sample.responses)))


def _audited(
    run: Run, task: TaskRun, items: Sequence[Item], settings: JudgeSettings, limits: tuple[int, int]
) -> dict[str, Any]:
    may_abstain = any(item.sample.doc.get("ground_truth") == NOT_AVAILABLE for item in items)
    strata = {name: [item for item in items if item.is_doubtful is (name == DOUBTFUL)] for name in (DOUBTFUL, OTHERS)}
    chance = random.Random(f"{run.model} {task.task} {len(items)}")  # the same responses whenever it is typed
    drawn = {
        name: chance.sample(members, min(limit, len(members)))
        for (name, members), limit in zip(strata.items(), limits, strict=True)
    }
    todo = [(name, item) for name, members in drawn.items() for item in members]
    auditor = Auditor()
    judgements = judge_all(auditor, settings, [item.asked(may_abstain) for _, item in todo], check_first=True)
    readings = []
    known: dict[str, list[tuple[Item, str]]] = {name: [] for name in strata}
    for (name, item), judgement in zip(todo, judgements, strict=True):
        readings.append(_row(name, item, judgement.output.get("stated"), judgement.failure))
        if judgement.failure is None:
            known[name].append((item, judgement.output["stated"]))

    def estimate(has: Callable[[Item, str], bool]) -> Estimate | None:
        return share([Counts(sum(has(*pair) for pair in known[name]), len(known[name]), len(strata[name]))
                      for name in strata])  # fmt: skip

    accuracy = {name: sum(item.is_right(name) for item in items) / len(items) for name in FILTERS}
    gains, losses = (estimate(partial(_is_changed, to)) for to in (True, False))
    result = {
        "run": run.name,
        "task": task.task,
        "signature": f"{auditor.signature}|model:{settings.model}",
        "responses": len(items),
        "strata": {
            name: {"responses": len(own), "drawn": len(drawn[name]), "read": len(known[name])}
            for name, own in strata.items()
        },
        "failures": dict(Counter(row["failure"] for row in readings if row["failure"])),
        "filters": {
            name: {
                "accuracy": accuracy[name],
                "misread": estimate(partial(_differs, name, False)),
                "missed": estimate(partial(_differs, name, True)),
            }
            for name in FILTERS
        },
        "accuracy_as_read": changed(accuracy[FILTERS[1]], gains, losses) if gains and losses else None,
        "readings": readings,
    }
    path = audit_file(task.samples_path or Path())
    write_whole(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    table = io.StringIO()
    writer = csv.DictWriter(table, list(readings[0]))
    writer.writeheader()
    writer.writerows(readings)
    write_whole(path.with_suffix(".csv"), table.getvalue())
    return result | {"path": str(path)}


def _row(stratum: str, item: Item, stated: str | None, failure: str | None) -> dict[str, Any]:
    read = {name: item.read(name) for name in FILTERS}
    differs = stated is not None and not all(same(own, stated, item.kind) for own in read.values())
    end = item.sample.responses[item.generation][-_END:]
    place = {"doc_id": item.sample.doc_id, "generation": item.generation, "stratum": stratum}
    return {**place, **read, "stated": stated, "differs": differs, "failure": failure, "end": end}


def _differs(filter_name: str, is_missed: bool, item: Item, reading: str) -> bool:
    own = item.read(filter_name)
    return (own == UNANSWERED) is is_missed and not same(own, reading, item.kind)


def _is_changed(to: bool, item: Item, reading: str) -> bool:
    """Whether the LLM's reading is right and the flexible one wrong, or the other way round."""
    return right(reading, item.sample.doc, item.kind) is to is not item.is_right(FILTERS[1])


def audit_file(samples: Path) -> Path:
    """Where the audit of a sample log is kept."""
    return samples.with_name(f"audit_{samples.stem.removeprefix('samples_')}.json")


def read_audit(samples: Path) -> dict[str, Any] | None:
    """The audit of a sample log, as in ``docs/audit.md``; None where there is none that can be read."""
    try:
        found = json.loads(audit_file(samples).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "filters" in found else None


def disagreements(audited: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The readings in which the LLM and a filter differ."""
    return (row for row in audited["readings"] if row["differs"])
