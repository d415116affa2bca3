"""MedCalc-Bench's rows as examples; the labels of benchmark and physicians beside each other."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import partial

from medtasks_utils.benchmarks.base import Example
from medtasks_utils.benchmarks.tables import Row, Table, text_of
from medtasks_utils.errors import DataError

from .kinds import (
    CALCULATORS,
    CATEGORIES,
    KINDS,
    NOT_AVAILABLE,
    Truth,
    is_right,
)

_CALCULATORS = {key: calculator for calculator in CALCULATORS for key in (str(calculator.id), calculator.name.lower())}
_CALCULATORS["estimated of conception"] = _CALCULATORS["estimated date of conception"]  # so in the first release


def example_of(by_physicians: bool, row: Row) -> Example:
    """A row as an example: of the benchmark, or of the file with the labels that physicians corrected.

    Raises:
        KeyError: for a column that is missing.
        ValueError: for an unknown calculator or category, or a truth or limit that cannot be read.
    """
    cells = {name: text_of(cell).strip() for name, cell in row.items()}
    if by_physicians:
        cells.update(dict.fromkeys(("Category", "Output Type", "Ground Truth Explanation"), ""))
    key = "Calculator Name" if by_physicians else "Calculator ID"
    calculator = _CALCULATORS.get(cells[key].lower().removesuffix(".0"))
    if calculator is None:
        raise ValueError(f"unknown {key} {cells[key]!r}: how answers are judged is known for those in calculators.csv")
    label = calculator.category if by_physicians else cells["Category"]
    category = "lab_test" if label == "lab" else label.lower().replace(" ", "_")
    if category not in CATEGORIES:
        raise ValueError(f"unknown Category {label!r}; known: {', '.join(CATEGORIES)}")
    truth = cells["Ground Truth Answer"]
    kind = KINDS["days"] if by_physicians and calculator.kind.name == "weeks_days" else calculator.kind
    if by_physicians and truth == NOT_AVAILABLE:
        labelled = Truth(truth)
    else:
        labelled = kind.truth(truth, (cells["Lower Limit"], cells["Upper Limit"]))
    return {
        "row_number": cells["Unique ID" if "Unique ID" in cells else "Row Number"],
        "calculator_id": calculator.id,
        "calculator_name": cells["Calculator Name"],
        "category": category,
        "output_type": cells["Output Type"],
        "judgement": kind.name,
        "note": cells["Patient Note"],
        "question": cells["Question"],
        "ground_truth": truth,
        **labelled._asdict(),
        "explanation": cells["Ground Truth Explanation"],
        **dict.fromkeys(("example_note", "example_question", "example_explanation", "example_answer"), ""),
        **({"labels": "physicians"} if by_physicians else {}),
    }


def stratified(examples: list[Example], per_calculator: int) -> list[Example]:
    """The same ``per_calculator`` examples of each calculator on every machine, in the order of the data."""

    def rank(index: int) -> bytes:
        return hashlib.sha256(f"medcalc_bench:{examples[index]['row_number']}".encode()).digest()

    by_calculator: dict[int, list[int]] = defaultdict(list)
    for index, example in enumerate(examples):
        by_calculator[example["calculator_id"]].append(index)
    chosen = [index for indices in by_calculator.values() for index in sorted(indices, key=rank)[:per_calculator]]
    return [examples[index] for index in sorted(chosen)]


def add_solved_examples(examples: Iterable[Example], table: Table) -> None:
    """Show each example the solved one of its calculator, out of the split ``one_shot``.

    Raises:
        DataError: for a calculator without one.
    """
    solved = {each["calculator_id"]: each for each in table.made(partial(example_of, False))}
    for example in examples:
        if example["calculator_id"] not in solved:
            raise DataError(f"{table.path} has no example for calculator {example['calculator_id']}")
        shown = solved[example["calculator_id"]]
        answer, is_in_days = shown["shown_truth"], example["judgement"] == "days"
        example["example_note"] = shown["note"]
        # The solved one asks for weeks and days, which corrected rows give in days.
        example["example_question"] = example["question"] if is_in_days else shown["question"]
        example["example_answer"] = f"{KINDS['days'].strict(answer):.0f}" if is_in_days else answer
        example["example_explanation"] = shown["explanation"]


def add_other_labels(examples: Iterable[Example], table: Table, by_physicians: bool) -> None:
    """Put the physicians' label of each of the benchmark's examples, or the benchmark's of each of theirs, into it.

    It is under ``other_label``, None where the table has none: what :func:`.kinds.is_right` takes for the example, and
    whether the physicians' label is wrong by the benchmark's (``differs``).
    """
    others = {_question_of(other): other for other in table.made(partial(example_of, by_physicians))}
    names = ("judgement", "ground_truth", "shown_truth", "lower_limit", "upper_limit")
    for example in examples:
        example["other_label"] = None
        if other := others.get(_question_of(example)):
            theirs, own = (other, example) if by_physicians else (example, other)
            truth = theirs["ground_truth"]
            value = truth if truth == NOT_AVAILABLE else KINDS[theirs["judgement"]].strict(truth)
            differs = not is_right(value, own)
            example["other_label"] = {**{name: other[name] for name in names}, "differs": differs}


def _question_of(example: Example) -> tuple[int, str, str]:
    """What an example asks, whatever its label."""
    return example["calculator_id"], " ".join(example["note"].split()), " ".join(example["question"].split())
