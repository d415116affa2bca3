"""MedExQA's card."""

from typing import NamedTuple

from medtasks_utils.benchmarks.card import UNANSWERED, Breakdown, Card, Repository, by_field
from medtasks_utils.explanations import METRICS as EXPLANATION_METRICS
from medtasks_utils.metrics import ACC, ANSWERED, Metric


class Specialty(NamedTuple):
    """One of the five: its name here, its code in the paper, and the stem of its files."""

    name: str
    code: str
    stem: str


SPECIALTIES = (
    Specialty("biomedical_engineering", "BE", "biomedical_engineer"),
    Specialty("clinical_laboratory_science", "CLS", "clinical_laboratory_scientist"),
    Specialty("clinical_psychology", "CP", "clinical_psychologist"),
    Specialty("occupational_therapy", "OT", "occupational_therapist"),
    Specialty("speech_language_pathology", "SLP", "speech_pathologist"),
)


_JUDGED = ("combined", "explanation", "support", "coverage")
_SCORES = ("combined", "explanation", *EXPLANATION_METRICS, "support", "coverage")

CARD = Card(
    name="medexqa",
    title="MedExQA",
    task_class="medtasks_utils.benchmarks.medexqa.task.MedExQA",
    default_task="medexqa",
    repositories={"hub": Repository("bluesky333/MedExQA", "3a9f80d6de2c354956d7e86d323214b92d547d6e")},
    file_patterns=("test/*", "dev/*"),
    row_files=tuple(f"test/{specialty.stem}_test.jsonl" for specialty in SPECIALTIES),
    metrics=(
        Metric("macro_acc", "macro"),
        ACC,
        *(Metric(name, unit="points", is_of_explanations=True, is_judged=name in _JUDGED) for name in _SCORES),
        ANSWERED,
        Metric("answer_accuracy", unit="points"),
        Metric("judge_failures", "total", unit="count", higher_is_better=False),
    ),
    beside=("explanation",),
    compared=("macro_acc", "acc", "combined", "explanation"),
    breakdowns=(Breakdown("specialty", by_field("specialty"), ("acc", "combined", "explanation")),),
    stratum="specialty",
    answers={"A": "A", "B": "B", "C": "C", "D": "D", UNANSWERED: "no answer"},
    checked_tasks=("medexqa", "medexqa_all"),
    known_answers="medtasks_utils.benchmarks.medexqa.known_answers.MedExQAAnswers",
)
