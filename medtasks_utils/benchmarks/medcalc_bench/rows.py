"""Convert the rows of MedCalc-Bench to examples, and attach physicians' labels to them."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice, zip_longest

from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.benchmarks.tables import Row, Table, text_of
from medtasks_utils.errors import DataError
from medtasks_utils.writing import one_line

from .kinds import CALCULATORS, KINDS, NOT_AVAILABLE, Truth, is_right

_CALCULATORS = {str(calculator.id): calculator for calculator in CALCULATORS}
_CALCULATORS |= {calculator.name.lower(): calculator for calculator in CALCULATORS}
_CALCULATORS["estimated of conception"] = _CALCULATORS["estimated date of conception"]  # as in the first release


def example_of(by_physicians: bool, row: Row) -> Example:
    """Convert a row to an example.

    Args:
        by_physicians: True if the row is from the file with corrected labels.
        row: the row.

    Raises:
        KeyError: for a missing column.
        ValueError: for an unknown calculator, or an unreadable answer or limit.
    """
    cells = {name: text_of(cell).strip() for name, cell in row.items()}
    key = "Calculator Name" if by_physicians else "Calculator ID"
    calculator = _CALCULATORS.get(cells[key].lower().removesuffix(".0"))
    if calculator is None:
        raise ValueError(f"unknown {key} {cells[key]!r}; calculators.csv lists the known calculators")
    truth = cells["Ground Truth Answer"]
    kind = KINDS["days"] if by_physicians and calculator.kind.name == "weeks_days" else calculator.kind
    labelled = Truth(truth) if by_physicians and truth == NOT_AVAILABLE else kind.truth(cells)
    return {
        "row_number": cells["Unique ID" if by_physicians else "Row Number"],
        "calculator_id": calculator.id,
        "calculator_name": cells["Calculator Name"],
        "category": calculator.category,
        "output_type": cells.get("Output Type", ""),
        "judgement": kind.name,
        "note": cells["Patient Note"],
        "question": cells["Question"],
        "ground_truth": truth,
        **labelled._asdict(),
        "explanation": cells.get("Ground Truth Explanation", ""),
        **dict.fromkeys(("example_note", "example_question", "example_explanation", "example_answer"), ""),
        **({"labels": "physicians"} if by_physicians else {}),
    }


def in_turn(examples: Sequence[Example], most: int | None = None) -> list[int]:
    """Return the indices of examples in a reproducible order in which calculators alternate.

    Args:
        examples: the examples.
        most: the maximum number of examples per calculator; None for all.
    """
    ranks = [hashlib.sha256(f"medcalc_bench:{example['row_number']}".encode()).digest() for example in examples]
    by_calculator: dict[int, list[int]] = defaultdict(list)
    for place in sorted(range(len(examples)), key=ranks.__getitem__):
        by_calculator[examples[place]["calculator_id"]].append(place)
    turns = zip_longest(*(places for _, places in sorted(by_calculator.items())))
    return [place for place in chain.from_iterable(islice(turns, most)) if place is not None]


def add_solved_examples(examples: Iterable[Example], table: Table) -> None:
    """Add the solved example of the same calculator, from the split ``one_shot``, to each example.

    Raises:
        DataError: for a calculator without a solved example.
    """
    solved = {example["calculator_id"]: example for example in table.made(partial(example_of, False))}
    for example in examples:
        if example["calculator_id"] not in solved:
            raise DataError(f"{table.path} has no example of calculator {example['calculator_id']}; omit one_shot")
        shown = solved[example["calculator_id"]]
        answer, is_in_days = shown["shown_truth"], example["judgement"] == "days"
        example["example_note"] = shown["note"]
        # Solved examples give gestational ages in weeks and days, but the corrected rows ask for days.
        example["example_question"] = example["question"] if is_in_days else shown["question"]
        example["example_answer"] = f"{KINDS['days'].strict(answer):.0f}" if is_in_days else answer
        example["example_explanation"] = shown["explanation"]


def add_other_labels(examples: Iterable[Example], table: Table) -> None:
    """Attach the physicians' label to each example, as the field ``other_label``.

    The field is None if the table has no row with the same calculator, note and question. Otherwise it contains
    ``ground_truth``, and ``differs``, which is True if the example's label would score the physicians' value as wrong.

    Args:
        examples: the examples to extend.
        table: the rows with the physicians' labels.
    """
    others = {_question_of(other): other for other in table.made(partial(example_of, True))}
    for example in examples:
        example["other_label"] = None
        if other := others.get(_question_of(example)):
            truth = other["ground_truth"]
            value = KINDS[other["judgement"]].strict(truth)  # None, which is never right, for N/A
            example["other_label"] = {"ground_truth": truth, "differs": not is_right(value, example)}


def _question_of(example: Example) -> tuple[int, str, str]:
    """Return a key that identifies an example across data sets: its calculator, note and question."""
    return example["calculator_id"], one_line(example["note"]), one_line(example["question"])
