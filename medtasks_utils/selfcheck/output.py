"""What a check found: in a few lines of words, as the whole table, as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.writing import table

from .answers import BEHAVIOURS
from .check import Checked, Score

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
    return [*lines, *([as_table(missed)] if missed else [])]


def _accuracies(scores: Sequence[Score], behaviour: str) -> str:
    found = []
    for card in benchmarks().values():
        of_card = [s for s in scores if s.task in card.checked_tasks and s.behaviour == behaviour]
        value = next((s.value for s in of_card if (s.metric, s.filter_name) == ("acc", _STRICT)), None)
        if isinstance(value, int | float):
            found.append(f"{card.title} {metric_of('acc', card.name).shown(value)}")
    return ", ".join(found)


def as_table(scores: Sequence[Score]) -> str:
    """Scores, with what they must be."""
    rows = [(s.task, s.metric, s.filter_name, s.behaviour, _shown(s.value), _shown(s.expected)) for s in scores]
    return table(rows, ("task", "metric", "filter", "answers", "score", "expected"), left=4)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)


def as_data(checked: Checked) -> dict[str, Any]:
    """All of it as JSON can hold it."""
    scores = [{**asdict(score), "as_expected": score.is_as_expected} for score in checked.scores]
    return {"passed": not checked.missed, "answers": checked.answers, "seconds": checked.seconds, "scores": scores}
