"""MedHallu's card."""

from medtasks_utils.benchmarks.card import UNANSWERED, Breakdown, Card, Repository, Row, by_field
from medtasks_utils.metrics import ACC, ANSWERED, Metric

DIFFICULTIES = ("easy", "medium", "hard")
FACTUAL, HALLUCINATED, UNSURE = "0", "1", "2"


def _kind_of_hallucination(doc: Row) -> str | None:
    """The kind, of the examples that show the hallucinated answer: the true answer has none."""
    return str(doc["category"]) if doc.get("shown") == "hallucinated" and doc.get("category") else None


_REPOSITORY = Repository("UTAustin-AIHealth/MedHallu", "515060458a945c633debc6fd5baac7764416b724")

CARD = Card(
    name="medhallu",
    title="MedHallu",
    task_class="medtasks_utils.benchmarks.medhallu.task.MedHallu",
    default_task="medhallu",
    repositories={"hub": _REPOSITORY},
    file_patterns=("pqa_*/*", "pqa_*"),
    row_files=("pqa_labeled.jsonl", "pqa_artificial.jsonl"),
    metrics=(
        Metric("f1", "f1"),
        ACC,
        Metric("precision", "ratio"),
        Metric("recall", "ratio"),
        Metric("accuracy_answered", "ratio"),
        Metric("reward", unit="number"),
        Metric("unsure_rate", higher_is_better=False),
        ANSWERED,
        *(Metric(f"f1_{level}", "f1") for level in DIFFICULTIES),
    ),
    compared=("f1", "acc"),
    breakdowns=(
        Breakdown("difficulty", by_field("difficulty"), ("f1", "acc", "precision", "recall", "unsure_rate")),
        Breakdown("kind", _kind_of_hallucination, ("acc", "unsure_rate")),
    ),
    cluster="row",
    answers={FACTUAL: "factual", HALLUCINATED: "hallucinated", UNSURE: "unsure", UNANSWERED: "no answer"},
    unsure=UNSURE,
    checked_tasks=("medhallu",),
    known_answers="medtasks_utils.benchmarks.medhallu.known_answers.MedHalluAnswers",
)
