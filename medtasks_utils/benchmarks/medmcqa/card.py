"""MedMCQA's card."""

from medtasks_utils.benchmarks.card import UNANSWERED, Breakdown, Card, Repository, by_field
from medtasks_utils.metrics import ACC, ANSWERED, Metric

CARD = Card(
    name="medmcqa",
    title="MedMCQA",
    task_class="medtasks_utils.benchmarks.medmcqa.task.MedMCQA",
    default_task="medmcqa_openmed",
    repositories={"hub": Repository("openlifescienceai/medmcqa", "91c6572c454088bf71b679ad90aa8dffcd0d5868")},
    file_patterns=("data/*", "*.parquet", "*.jsonl", "*.json", "*.csv"),
    row_files=("validation.jsonl",),
    metrics=(ACC, ANSWERED, Metric("format")),
    compared=("acc",),
    breakdowns=(Breakdown("subject", by_field("subject_name")),),
    answers={"A": "A", "B": "B", "C": "C", "D": "D", UNANSWERED: "no answer"},
    checked_tasks=("medmcqa_openmed",),
    known_answers="medtasks_utils.benchmarks.medmcqa.known_answers.MedMCQAAnswers",
)
