"""The card of a benchmark of yes and no."""

from pathlib import Path

from medtasks_utils.benchmarks.card import Breakdown, Card, Repository, by_field
from medtasks_utils.metrics import ACC, ANSWERED, Metric

CARD = Card(
    name="toybench",
    title="ToyBench",
    task_class="toybench.task.ToyBench",
    default_task="toybench",
    repositories={"hub": Repository("nobody/toybench", "0123456")},
    file_patterns=("*.jsonl",),
    metrics=(ACC, ANSWERED, Metric("letters", unit="count", higher_is_better=None)),
    compared=("acc",),
    breakdowns=(Breakdown("colour", by_field("colour")),),
    answers={"yes": "yes", "no": "no"},
    checked_tasks=("toybench",),
    known_answers="toybench.known_answers.ToyAnswers",
    sample=Path(__file__).parent / "sample",
    tasks=Path(__file__).parent / "tasks",
)
