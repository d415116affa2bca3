"""MedCalc-Bench's card."""

from medtasks_utils.benchmarks.card import Breakdown, Card, PinnedFile, Repository, by_field
from medtasks_utils.metrics import ACC, ANSWERED, OF_TOOLS, Metric

CATEGORIES = ("lab_test", "physical", "date", "dosage", "risk", "severity", "diagnosis")
NOT_AVAILABLE = "N/A"
"""The right answer where the note lacks what is needed, in the rows that have such a label."""

OF_ABSTAINING = (Metric("acc_answerable"), Metric("acc_unanswerable"), Metric("na_rate", higher_is_better=None))
"""Where the note may lack what is needed: accuracy where it does not and where it does; how often that is said."""

CARD = Card(
    name="medcalc_bench",
    title="MedCalc-Bench",
    task_class="medtasks_utils.benchmarks.medcalc_bench.task.MedCalcBench",
    default_task="medcalc_bench",
    repositories={
        "verified": Repository("nsk7153/MedCalc-Bench-Verified", "591157b3343b4dda247294f9d929da4c75026fa8"),
        "1.2": Repository("ncbi/MedCalc-Bench-v1.2", "acb17912657c084f5bf08b8fd029812f84630497"),
        "corrected": Repository(
            "junzeye/validate-medcalc-labels",
            "b6f0416858f0b1cbb6dcb2ff93214275d0276c49",
            files=(
                PinnedFile(
                    "data/medcalc_v1_corrected.csv",
                    "f6db9ab8b7bba365f7a0c30127aea0284446fe0269e8f72a7f34e8c52506ce97",
                    "corrected.csv",
                ),
                PinnedFile(
                    "data/phase1/original_test_labels.csv",
                    "6a21796ea1c8cecaf6e7e907e209444284bf9ecd61f2969a710451f8a476120c",
                    "original.csv",
                ),
            ),
        ),
    },
    file_patterns=("data/*", "*.parquet", "*.csv", "*.jsonl", "*.json"),
    row_files=("test.jsonl", "one_shot.jsonl"),
    metrics=(
        ACC,
        Metric("by_calculator", "by_stratum"),
        ANSWERED,
        *OF_ABSTAINING,
        *OF_TOOLS,
        *(Metric(f"acc_{category}") for category in CATEGORIES),
    ),
    compared=("acc",),
    breakdowns=(Breakdown("category", by_field("category")), Breakdown("calculator", by_field("calculator_name"))),
    cluster="note",
    stratum="calculator_name",
    example_fields=("calculator_id", "calculator_name", "category", "note", "question"),
    prompt_fields=("example_note", "example_question", "example_explanation", "example_answer"),
    checked_tasks=("medcalc_bench", "medcalc_bench_corrected"),
    known_answers="medtasks_utils.benchmarks.medcalc_bench.known_answers.MedCalcBenchAnswers",
)
