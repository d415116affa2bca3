"""What a check found: in a few lines of words, as the whole table, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.selfcheck.answers import BEHAVIOURS
from medtasks_utils.selfcheck.check import Checked, Score
from medtasks_utils.writing import table

_STRICT = "strict-match"


def in_words(checked: Checked) -> list[str]:
    """Ten lines: what was checked, by which answers, and what each of them scored."""
    scores, missed = checked.scores, checked.missed
    head = f"{len(missed)} of {len(scores)} scores are not" if missed else f"all {len(scores)} scores are"
    lines = [
        f"{head} what they must be: lm_eval asked {checked.answers} questions, and was given answers known beforehand "
        f"({checked.seconds:.1f} s)",
        f"checked: {len({(score.task, score.metric) for score in scores})} metrics of "
        f"{len({score.task for score in scores})} tasks and groups, by both filters",
        "accuracy (strict-match) if the answer is",
    ]
    width = max(map(len, BEHAVIOURS.values()))
    lines += [f"  {meaning:<{width}}  {_accuracies(scores, behaviour)}" for behaviour, meaning in BEHAVIOURS.items()]
    return lines + [f"MISS: {_missed(score)}" for score in missed]


def _accuracies(scores: Sequence[Score], behaviour: str) -> str:
    found = []
    for card in benchmarks().values():
        of_card = [s for s in scores if s.task in card.checked_tasks and s.behaviour == behaviour]
        value = next((s.value for s in of_card if (s.metric, s.filter_name) == ("acc", _STRICT)), None)
        if isinstance(value, int | float):
            found.append(f"{card.title} {metric_of('acc', card.name).shown(value)}")
    return ", ".join(found)


def _missed(score: Score) -> str:
    wanted = "no such metric" if score.limits is None else f"{score.limits[0]:.4g}-{score.limits[1]:.4g}"
    where = f"{score.task} {score.metric} {score.filter_name} on {score.behaviour} answers"
    return f"{where}: {_shown(score.value)}, expected {wanted}"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def as_table(checked: Checked) -> str:
    """Every score, with its floor and ceiling where they are not one."""
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for score in checked.scores:
        cells.setdefault((score.task, score.metric, score.filter_name), {})[score.behaviour] = _cell(score)
    rows = [[*key, *(by_behaviour[behaviour] for behaviour in BEHAVIOURS)] for key, by_behaviour in cells.items()]
    return table(rows, ["task", "metric", "filter", *BEHAVIOURS], left=3)


def _cell(score: Score) -> str:
    if not score.is_as_expected:
        return f"{_shown(score.value)} MISS"
    if score.limits is None or score.limits[0] == score.limits[1]:
        return _shown(score.value)
    return f"{_shown(score.value)} [{score.limits[0]:g}-{score.limits[1]:g}]"


def as_data(checked: Checked) -> dict[str, Any]:
    """All of it as JSON can hold it."""
    scores = [{**asdict(score), "as_expected": score.is_as_expected} for score in checked.scores]
    return {"passed": not checked.missed, "answers": checked.answers, "seconds": checked.seconds, "scores": scores}
