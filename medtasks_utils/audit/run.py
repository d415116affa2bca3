"""Auditing saved runs: which responses are read by the LLM, what came of it, and the files that say so."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks.base import UNANSWERED, Benchmark
from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.think import final_text
from medtasks_utils.filters import FILTERS, FLEXIBLE
from medtasks_utils.judging import JudgeSettings, judge_all
from medtasks_utils.results import Run, Sample, TaskRun
from medtasks_utils.results.runs import audit_file
from medtasks_utils.writing import write_whole

from .auditor import Asked, Auditor, right, same
from .estimate import Counts, Estimate, changed, share

DOUBTFUL, OTHERS = "doubtful", "others"
_UNSURE_BELOW = 0.5
_END = 300


@dataclass(frozen=True)
class Item:
    """A response: its benchmark and example, its number among the example's, and what the filters read in it."""

    benchmark: Benchmark
    sample: Sample
    generation: int

    def read(self, filter_name: str) -> str:
        """What the filter read."""
        return self.sample.answers[filter_name][self.generation]

    def is_right(self, filter_name: str) -> bool:
        """Whether what the filter read is right."""
        return self.sample.scores_of(filter_name, "acc")[self.generation] == 1.0

    @property
    def is_doubtful(self) -> bool:
        """Whether a filter found nothing, the filters differ, or the flexible one was unsure."""
        strict, flexible = map(self.read, FILTERS)
        if UNANSWERED in (strict, flexible) or not self.is_same(strict, flexible):
            return True
        certainty = self.sample.details[FLEXIBLE].get("certainty")
        own = certainty[self.generation] if isinstance(certainty, list) else certainty
        return own is not None and own < _UNSURE_BELOW

    def is_same(self, one: str, other: str) -> bool:
        """Whether two readings are of the same answer, or both of none."""
        return same(one, other, self.benchmark, self.sample.doc)

    def asked(self) -> Asked:
        """What the LLM is asked about: the text after the reasoning."""
        response = final_text(self.sample.responses[self.generation]).strip()
        return Asked(self.benchmark, self.sample.doc, response)


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
    found = []
    for run in runs:
        for each in run.tasks.values():
            if task in (None, each.task):
                items = list(_items(each))
                if items:
                    found.append(_audited(run, each, items, settings, {DOUBTFUL: doubtful, OTHERS: sample}))
                else:
                    log(f"{run.name}, {each.task}: left out, no responses with both filters' answers were logged")
    if not found:
        raise MedtasksError(
            f"nothing to audit{f' of a task {task}' if task else ''}: it takes runs of this pack's generation tasks, "
            "saved with --log_samples"
        )
    return found


def _items(task: TaskRun) -> Iterator[Item]:
    card = task.card
    for sample in task.samples if card else ():
        if card and all(len(sample.scores_of(name, "acc")) == len(sample.responses) for name in FILTERS):
            yield from (Item(card, sample, generation) for generation in range(len(sample.responses)))


def _audited(
    run: Run, task: TaskRun, items: Sequence[Item], settings: JudgeSettings, limits: Mapping[str, int]
) -> dict[str, Any]:
    chance = random.Random(f"{run.model} {task.task} {len(items)}")  # the same responses whenever it is typed
    auditor = Auditor()
    strata, readings = {}, []
    known: dict[str, list[dict[str, bool]]] = defaultdict(list)
    for name, limit in limits.items():
        members = [item for item in items if item.is_doubtful is (name == DOUBTFUL)]
        drawn = chance.sample(members, min(limit, len(members)))
        asked = [item.asked() for item in drawn]
        for item, judgement in zip(drawn, judge_all(auditor, settings, asked, check_first=True), strict=True):
            stated = judgement.output.get("stated")  # not where it failed
            facts = {} if stated is None else _facts(item, stated)
            known[name] += [facts] if facts else []
            readings.append(
                {
                    "doc_id": item.sample.doc_id,
                    "generation": item.generation,
                    "stratum": name,
                    **{way: item.read(way) for way in FILTERS},
                    "stated": stated,
                    "differs": any(facts.get(f"{kind} {way}") for kind in ("misread", "missed") for way in FILTERS),
                    "failure": judgement.failure,
                    "end": item.sample.responses[item.generation][-_END:],
                }
            )
        strata[name] = {"responses": len(members), "drawn": len(drawn), "read": len(known[name])}

    def estimate(fact: str) -> Estimate | None:
        return share(
            [
                Counts(sum(facts[fact] for facts in known[name]), own["read"], own["responses"])
                for name, own in strata.items()
            ]
        )

    accuracy = {name: sum(item.is_right(name) for item in items) / len(items) for name in FILTERS}
    gains, losses = estimate("gained"), estimate("lost")
    result = {
        "run": run.name,
        "task": task.task,
        "signature": f"{auditor.signature}|model:{settings.model}",
        "responses": len(items),
        "strata": strata,
        "failures": dict(Counter(row["failure"] for row in readings if row["failure"])),
        "filters": {
            name: {"accuracy": own, **{kind: estimate(f"{kind} {name}") for kind in ("misread", "missed")}}
            for name, own in accuracy.items()
        },
        "accuracy_as_read": changed(accuracy[FLEXIBLE], gains, losses) if gains and losses else None,
        "readings": readings,
    }
    path = audit_file(task.samples_path or Path())
    write_whole(path, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return result | {"path": str(path)}


def _facts(item: Item, stated: str) -> dict[str, bool]:
    """What an LLM's reading says of the filters' (``misread``, ``missed``), and what the flexible one costs."""
    is_right, was_right = right(stated, item.benchmark, item.sample.doc), item.is_right(FLEXIBLE)
    facts = {"gained": is_right and not was_right, "lost": was_right and not is_right}
    for name in FILTERS:
        own = item.read(name)
        differs = not item.is_same(own, stated)
        facts |= {f"missed {name}": differs and own == UNANSWERED, f"misread {name}": differs and own != UNANSWERED}
    return facts


def disagreements(audited: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The readings in which the LLM and a filter differ."""
    return (row for row in audited["readings"] if row["differs"])
