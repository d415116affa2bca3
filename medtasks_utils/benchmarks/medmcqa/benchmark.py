"""Define MedMCQA (Pal et al., CHIL 2022): its options and rows, and the reading and scoring of letters."""

import hashlib
import random
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.benchmarks.choices import ChoiceBenchmark, ChoiceOptions, choice_data
from medtasks_utils.benchmarks.facts import (
    BY_DOUBT,
    Breakdown,
    Example,
    Files,
    LoadReport,
    ReportFacts,
    Repository,
    Tasks,
    by_field,
)
from medtasks_utils.benchmarks.options import CHOOSES_ROWS, UNSIGNED
from medtasks_utils.benchmarks.tables import Row, Table, find_split, read_split, text_of
from medtasks_utils.errors import DataError, logger
from medtasks_utils.extraction.boxes import boxes
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.extraction.think import final_text, is_one_block_then_answer
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.statistics.scores import Score

_OPTION_COLUMNS = ("opa", "opb", "opc", "opd")
_VALIDATION = ("validation", "dev")


class MedMCQAOptions(ChoiceOptions):
    """Options of MedMCQA, set under ``medmcqa`` in ``--metadata`` or with ``--set``."""

    split: Annotated[Literal["validation", "train", "test"], CHOOSES_ROWS] = "validation"
    """the split to evaluate"""
    num_train_examples: Annotated[int, Field(ge=-1), UNSIGNED] = -1
    """number of train rows, counted from the first, to draw few-shot examples from; -1 for all"""
    num_eval_examples: Annotated[int, Field(ge=-1), CHOOSES_ROWS] = -1
    """number of rows, counted from the first, to evaluate; -1 for all"""
    cop_base: Annotated[Literal[0, 1] | None, UNSIGNED] = None
    """the integer in cop that means A, 0 or 1; by default, 1 if a 4 occurs, else 0"""


class MedMCQA(ChoiceBenchmark[MedMCQAOptions]):
    """``medmcqa_openmed``: the model reasons and then gives a boxed letter. The default split is ``validation``."""

    name = "medmcqa"
    title = "MedMCQA"
    data = choice_data(
        repositories={"hub": Repository("openlifescienceai/medmcqa", "91c6572c454088bf71b679ad90aa8dffcd0d5868")},
        shortcuts=Path(__file__).with_name("shortcuts.json"),
    )
    tasks = Tasks(default="medmcqa_openmed")
    metrics: ClassVar[tuple[Metric, ...]] = (ACC, ANSWERED, Metric("format"), Metric("one_box"))
    report = ReportFacts(breakdowns=(Breakdown("subject", by_field("subject_name")), BY_DOUBT))
    are_numbered = True

    # ---- rows

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of the split, the first ones if an option limits their number.

        The option is ``num_eval_examples`` for the evaluated split, and ``num_train_examples`` for any other. If there
        is no validation split, a tenth of train is held out as one.
        """
        folder, options = files.folder(self.repository), self.options
        names = _VALIDATION if split == "validation" else (split,)
        is_divided = split != "test" and not find_split(folder, *_VALIDATION)
        table = read_split(folder, *names, *(("train",) if is_divided else ()))
        if is_divided and split == options.split:
            report.remarks.append("there is no validation split, so a tenth of train is held out as one")
        examples = self._labelled(table, report, _held_out(len(table.rows), split) if is_divided else None)
        count = options.num_eval_examples if split == options.split else options.num_train_examples
        return examples if count < 0 else examples[:count]

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert the rows; leave out and count those without a label or a question."""
        return self._labelled(table, report)

    def _labelled(self, table: Table, report: LoadReport, indices: Sequence[int] | None = None) -> list[Example]:
        """Convert the rows, or only those at ``indices``; the whole table determines the form of ``cop``."""
        examples = table.made(_example)
        labels = label_indices(table, self.options.cop_base, report)
        chosen = range(len(labels)) if indices is None else indices
        labelled = [
            {**examples[index], "answer_letter": LETTERS[label], "answer_idx": label}
            for index in chosen
            if (label := labels[index]) is not None
        ]
        if len(labelled) < len(chosen):
            report.left_out["no usable label in cop"] += len(chosen) - len(labelled)
        shuffled = self.reordered(report.with_text(labelled, "question"))
        return [self.in_order(example, self.first_order(example)) for example in shuffled]

    def settle(self, rows: Sequence[Row]) -> None:
        """Infer the option ``cop_base`` if it is unset and ``cop`` has only integers 0 to 4; warn if there is no 0."""
        labels = {_label(row.get("cop")) for row in rows}
        if labels and labels <= {*"01234"} and self.options.cop_base is None:
            base: Literal[0, 1] = 1 if "4" in labels else 0
            self.options = self.options.model_copy(update={"cop_base": base})
            if remark := _on_base(labels):
                logger.warning("%s: %s", self.task.name, remark)

    # ---- orders

    def first_order(self, example: Example) -> str:
        """Return the order determined by a hash of the id or, without one, of the question."""
        return choice_order(example["id"] or example["question"])

    def in_data_order(self, example: Example) -> Example:
        """Return the example as it would be without ``order_seed``, in its fields and in the choices of its prompt."""
        original = super().in_data_order(example)
        return example if original is example else self.in_order(original, self.first_order(original))

    def in_order(self, example: Example, order: str) -> Example:
        """Return the example with its choices in the given order, one per line, as the field ``choices``."""
        return {**example, "choices": _lines(example["options"], order)}

    # ---- scores

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score ``acc``, ``answered``, ``format`` and ``one_box``.

        ``format`` is 1 if the response is one think block followed by some text, as the parser of the environment that
        the task follows checks; a box is not required. ``one_box`` is 1 if exactly one box follows the reasoning.
        """
        count = len(boxes(final_text(answer.response)))
        well_formed = float(is_one_block_then_answer(answer.response))
        return {**super().scores(answer, example), "format": well_formed, "one_box": float(count == 1)}


BENCHMARK = MedMCQA


def _held_out(count: int, split: str) -> list[int]:
    """Return the row indices of a split after dividing train 9 to 1 as ``datasets`` does with the seed 42."""
    from datasets import Dataset  # takes half a second

    parts = Dataset.from_dict({"index": range(count)}).train_test_split(test_size=0.1, seed=42)
    return list(parts["test" if split == "validation" else "train"]["index"])


def choice_order(identifier: str) -> str:
    """Return the order of the four choices in the prompt, by the rule of the environment that the task follows.

    Args:
        identifier: the row's id, or its question if it has no id.

    >>> choice_order("b64a9cd7")
    'BCDA'
    """
    digest = hashlib.md5(identifier.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    letters = list(LETTERS)
    random.Random(int(digest[:8], 16)).shuffle(letters)
    return "".join(letters)


def label_indices(table: Table, base: int | None, report: LoadReport) -> list[int | None]:
    """Return the index of each row's right choice, or None if the row has no usable label.

    ``cop`` may be a letter, an integer or the text of a choice; the form that fits most rows is used. Integers count
    from ``base``. If ``base`` is None, they count from 1 in a file in which a 4 occurs, and from 0 in any other table;
    a remark is added if no 0 occurs. The whole split shares one form and base, since some rows have choices such as "2"
    and "a".

    Raises:
        DataError: if no row has a usable label, or if ``cop`` has an integer that ``base`` excludes, or both 0 and 4.
    """
    labels = table.made(lambda row: _label(row["cop"]))
    is_file = table.path is not None  # a single row cannot tell
    first = int(is_file and "4" in labels) if base is None else base
    forms = [
        [_place(label, "abcd") for label in labels],
        [_place(label, "1234" if first else "0123") for label in labels],
        [_place(label, _as_texts(row)) for label, row in zip(labels, table.rows, strict=True)],
    ]
    form = max(forms, key=lambda indices: sum(index is not None for index in indices))
    excluded = {"0", "4"} if base is None else {"04"[1 - base]}
    if form is forms[1] and excluded <= {*labels}:
        seen = " in some rows and ".join(sorted(excluded))
        bases = "0 or 1" if base is None else base
        raise DataError(
            f"{table.path}: cop is {seen} in some rows, which does not fit a base of {bases}; correct the column cop, "
            "or the option medmcqa.cop_base"
        )
    if form is forms[1] and base is None and (remark := _on_base({*labels})):
        report.remarks.append(remark)
    if all(index is None for index in form):
        seen = str(table.rows[0]["cop"])[:99]
        raise DataError(
            f"{table.path or 'the row'} has no usable label: cop is {seen} (-1 marks withheld labels), but must be a "
            "letter A-D, an integer, or a choice's text. Integers are 0-3, or 1-4 in a whole file or with "
            "medmcqa.cop_base=1. The Hub has labels for validation and train"
        )
    return form


def _label(cop: Any) -> str:
    """Return a label in lower case; 2.0, from a column of floats, becomes 2."""
    return text_of(cop).strip().casefold().removesuffix(".0")


def _on_base(labels: Container[str]) -> str | None:
    """Return a remark on the integer that was inferred to mean A; None if a 0 occurs, which leaves no doubt."""
    if "0" in labels:
        return None
    if "4" in labels:
        return "cop is 4 in some rows, so 1 was read as A"
    return "cop has neither a 0 nor a 4, so 0 was read as A, as on the Hub; if 1 means A, set medmcqa.cop_base=1"


def _place(label: str, known: Iterable[Container[str]]) -> int | None:
    """Return the index of the container with the label; None if no container has it, or more than one."""
    places = [index for index, texts in enumerate(known) if label and label in texts]
    return places[0] if len(places) == 1 else None


def _as_texts(row: Row) -> Iterator[tuple[str, ...]]:
    """Yield, for each choice, its possible labels: its text in lower case, with and without its letter."""
    for letter, column in zip("abcd", _OPTION_COLUMNS, strict=True):
        text = text_of(row[column]).strip().casefold()
        yield text, f"{letter}. {text}", f"({letter}) {text}"


def _lines(options: Sequence[str], order: str) -> str:
    return "\n".join(f"{letter}. {options[LETTERS.index(letter)]}" for letter in order)


def _example(row: Row) -> Example:
    """Convert a row to an example without a label."""
    options = [text_of(row[column]) for column in _OPTION_COLUMNS]
    return {
        "id": text_of(row.get("id")),
        "question": text_of(row["question"]),
        "options": options,
        "choices": "",
        "exp": text_of(row.get("exp")),
        **{name: text_of(row.get(name)) for name in ("choice_type", "subject_name", "topic_name")},
    }
