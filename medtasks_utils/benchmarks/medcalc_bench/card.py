"""MedCalc-Bench's card."""

from medtasks_utils.benchmarks.card import Breakdown, Card, Repository, by_field
from medtasks_utils.metrics import ACC, ANSWERED, OF_TOOLS, Metric

CATEGORIES = ("lab_test", "physical", "date", "dosage", "risk", "severity", "diagnosis")

CARD = Card(
    name="medcalc_bench",
    title="MedCalc-Bench",
    task_class="medtasks_utils.benchmarks.medcalc_bench.task.MedCalcBench",
    default_task="medcalc_bench",
    repositories={
        "verified": Repository("nsk7153/MedCalc-Bench-Verified", "591157b3343b4dda247294f9d929da4c75026fa8"),
        "1.2": Repository("ncbi/MedCalc-Bench-v1.2", "acb17912657c084f5bf08b8fd029812f84630497"),
    },
    file_patterns=("data/*", "*.parquet", "*.csv", "*.jsonl", "*.json"),
    row_files=("test.jsonl", "one_shot.jsonl"),
    metrics=(ACC, ANSWERED, *OF_TOOLS, *(Metric(f"acc_{category}") for category in CATEGORIES)),
    compared=("acc",),
    breakdowns=(Breakdown("category", by_field("category")), Breakdown("calculator", by_field("calculator_name"))),
    prompt_fields=("example_note", "example_question", "example_explanation", "example_answer"),
    checked_tasks=("medcalc_bench",),
    known_answers="medtasks_utils.benchmarks.medcalc_bench.known_answers.MedCalcBenchAnswers",
)
