"""Define MedExQA (Kim et al., arXiv:2406.06331): its rows, and the reading and scoring of answers and explanations."""

import random
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import ClassVar

from medtasks_utils.benchmarks.answers import Answer, BatchScorer
from medtasks_utils.benchmarks.choices import ChoiceBenchmark, choice_data
from medtasks_utils.benchmarks.facts import (
    BY_DOUBT,
    Breakdown,
    Example,
    Files,
    LoadReport,
    ReportFacts,
    Repository,
    Resource,
    Tasks,
    by_field,
)
from medtasks_utils.benchmarks.known_issues import OTHER_ROW
from medtasks_utils.benchmarks.tables import Row, Table, read_split, text_of
from medtasks_utils.errors import DataError
from medtasks_utils.extraction.letters import LETTERS, letter_of
from medtasks_utils.extraction.plain import stated, tidied, without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.statistics.aggregation import MACRO, TOTAL
from medtasks_utils.statistics.metrics import ACC, ANSWERED, Metric
from medtasks_utils.statistics.scores import Score

from .alignment import realigned, shifted_specialties
from .authors import authors_answer, misspelt_option, only_letter
from .explanations import Explanations, case_of, metric_names, references
from .metrics import METRICS as EXPLANATION_METRICS
from .options import SPECIALTIES, MedExQAOptions, Specialty

COLUMNS = ("question", "A", "B", "C", "D", "explanation_1", "explanation_2", "answer")
_GUESSED = 0.5
"""Certainty of an answer that is inferred because the response does not state one."""

_SCORES = ("combined", "explanation", *EXPLANATION_METRICS, "support", "coverage")


def _resources() -> Sequence[Resource]:
    from .metrics import bertscore, meteor

    return (*meteor.RESOURCES, bertscore.SCIBERT)


class MedExQA(ChoiceBenchmark[MedExQAOptions]):
    """``medexqa_<specialty>``, whose YAML names the specialty in ``dataset_name``, and ``medexqa_all``."""

    name = "medexqa"
    title = "MedExQA"
    data = choice_data(
        repositories={"hub": Repository("bluesky333/MedExQA", "3a9f80d6de2c354956d7e86d323214b92d547d6e")},
        stratum="specialty",
        shortcuts=Path(__file__).with_name("shortcuts.json"),
        resources=_resources,
    )
    tasks = Tasks(default="medexqa", whole="medexqa_all", checked=("medexqa", "medexqa_all"))
    metrics = (
        Metric("macro_acc", MACRO),
        ACC,
        *(Metric(name, unit="points", is_of_explanations=True) for name in _SCORES),
        ANSWERED,
        Metric("answer_accuracy", unit="points"),
        Metric("judge_failures", TOTAL, unit="count", higher_is_better=False),
    )
    report = ReportFacts(
        headline=("explanation",),
        compared=("macro_acc", "acc", "combined", "explanation"),
        breakdowns=(Breakdown("specialty", by_field("specialty"), ("acc", "combined", "explanation")), BY_DOUBT),
        marks={"judge_failures": "the judge failed"},
    )
    written = "The answer is %s."
    packages: ClassVar[tuple[str, ...]] = ("thefuzz", "rapidfuzz")
    case_of = staticmethod(case_of)
    explanations_class: ClassVar[type[Explanations]] = Explanations

    def reported(self) -> list[Metric]:
        """Return the metrics; ``macro_acc`` only for all specialties, scores of explanations only if they are on."""
        names = {"acc", "answered", "answer_accuracy"}
        if self.task.subset is None:
            names.add("macro_acc")
        if self._scores_explanations:
            names.update(metric_names(self.options))
        return [metric for metric in self.metrics if metric.name in names]

    # ---- rows

    def load(self, files: Files, split: str, report: LoadReport) -> list[Example]:
        """Return the examples of the task's specialties.

        Evaluated examples of more than one specialty are shuffled by ``seed``; without a seed, the specialties
        alternate, so that ``--limit`` covers all of them. ``label_offset`` applies only to the evaluated split.

        Raises:
            DataError: if a specialty has no rows, since a macro average over the remaining ones would look complete.
        """
        options = self.options
        folder = files.folder(self.repository)
        names = (self.task.subset,) if self.task.subset else options.specialty
        parts = []
        for specialty in SPECIALTIES:
            if specialty.name in names:
                stem = f"{specialty.stem}_{split}"
                table = read_split(folder, f"{split}/{stem}", stem, columns=COLUMNS)
                rows = _examples(table, specialty, split)
                is_evaluated = split == options.split
                parts.append(report.with_text(realigned(rows, is_evaluated * options.label_offset), "question"))
        parts = [self.reordered(part) for part in parts]
        examples = list(chain.from_iterable(parts))
        if split != options.split:
            return examples
        for name, shift in shifted_specialties(examples).items():
            report.remarks.append(f"{name}: labels seem misaligned: the explanations support {shift}")
        without = sum(not references(example) for example in examples)
        if without and self._scores_explanations:
            report.remarks.append(
                "examples without a reference explanation (they get no explanation score): "
                f"{without} of {len(examples)}"
            )
        if options.seed is None:
            return list(filter(None, chain.from_iterable(zip_longest(*parts))))
        if len(parts) > 1:
            random.Random(options.seed).shuffle(examples)
        return examples

    def examples(self, table: Table, report: LoadReport) -> list[Example]:
        """Convert rows of unknown specialty, as rows of the first specialty."""
        return self.reordered(_examples(table, SPECIALTIES[0], "test"))

    def known_issues(self, examples: Sequence[Example]) -> list[list[str]]:
        """Return the issues of each example, including misaligned labels in its specialty."""
        shifted = shifted_specialties(examples)
        pairs = zip(examples, super().known_issues(examples), strict=True)
        return [[*issues, *[OTHER_ROW] * (example["specialty"] in shifted)] for example, issues in pairs]

    # ---- reading

    def strict(self, text: str, example: Example) -> Answer:
        """Read the answer by the authors' rules; a blank response is unanswered."""
        final = final_text(text)
        if not final.strip():
            return Answer(None, text)
        letter, rule = authors_answer(final, example["options"])
        return Answer(letter, text, found_by=rule)

    def flexible(self, text: str, example: Example) -> Answer:
        """Read the letter that the response chooses.

        In a response without candidates, the letter by the authors' rules is used, unless the text mentions other
        letters. If this gives no letter, or if there are candidates but none of them matches a row of the reading
        table, the choice that the response almost quotes is used. Without such a choice, the response is unanswered.
        """
        reading = self.read(text, example)
        if reading.value is not None or any(candidate.cue != "mention" for candidate in reading.candidates):
            return Answer(
                reading.value, text, found_by=self.found_by(reading), certainty=reading.certainty, words=reading.words
            )
        final = tidied(stated(final_text(without_continuation(text))))
        letter = None if reading.candidates else only_letter(final, example["options"])
        if letter is not None:
            return Answer(letter, text, found_by="letter", certainty=_GUESSED)
        return Answer(misspelt_option(final, example["options"]), text, found_by="fuzzy", certainty=_GUESSED)

    # ---- scores

    def scores(self, answer: Answer, example: Example) -> dict[str, Score]:
        """Score ``acc`` (0 or 1, also as ``macro_acc``), ``answer_accuracy`` (0 or 100) and ``answered``."""
        right = float(self.is_right(answer.value, example))
        return {**super().scores(answer, example), "answer_accuracy": 100.0 * right, "macro_acc": right}

    @property
    def _scores_explanations(self) -> bool:
        """True if a metric or a judge scores explanations in this task."""
        return self.task.generates and bool(self.options.lexical_metrics or self.options.judges)

    def batch_scorer(self, examples: Sequence[Example] | None = None, processes: int = 1) -> BatchScorer | None:
        """Return the scorer of explanations; None if they are not scored, or no example has a reference.

        Raises:
            DataError: if a judge is requested, but no example has a reference.
            MedtasksError: if a metric or the judge is unusable.
        """
        if not self._scores_explanations:
            return None
        if examples is None or any(map(references, examples)):
            return self.explanations_class(self.options, self.task.name, processes, type(self).case_of)
        if self.options.judges:
            raise DataError(
                f"{self.task.name}: use_judge: no example has a reference explanation, so nothing can be judged; omit "
                "use_judge, or use rows with explanations"
            )
        return None


BENCHMARK = MedExQA


def _examples(table: Table, specialty: Specialty, split: str) -> list[Example]:
    return [
        {"id": f"{specialty.name}/{split}/{index}", "specialty": specialty.name, **example}
        for index, example in enumerate(table.made(_example))
    ]


def _example(row: Row) -> Example:
    """Convert a row to an example; raise ValueError if its answer is not A to D."""
    cells = {column: text_of(row[column]) for column in COLUMNS}
    answer = letter_of(cells["answer"])
    if answer is None:
        raise ValueError(f"the answer is {row['answer']!r}, not A, B, C or D")
    return {
        "question": cells["question"],
        "options": [cells[letter] for letter in LETTERS],
        "answer_letter": answer,
        "answer_idx": LETTERS.index(answer),
        "explanation_1": cells["explanation_1"],
        "explanation_2": cells["explanation_2"],
    }
