"""MedExQA (Kim et al., arXiv:2406.06331): rows, the authors' extraction and ours, score."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from typing import Any, ClassVar

from medtasks_utils.benchmarks.medexqa.card import CARD, SPECIALTIES, Specialty
from medtasks_utils.benchmarks.medexqa.explanations import ExplanationScorer, make_scorers, references
from medtasks_utils.benchmarks.medexqa.options import MedExQAOptions
from medtasks_utils.benchmarks.medexqa.reading import (
    authors_answer,
    misspelt_option,
)
from medtasks_utils.errors import DataError, OptionError
from medtasks_utils.extraction.letters import LETTERS, found_by, read_letter
from medtasks_utils.extraction.plain import without_continuation
from medtasks_utils.extraction.think import final_text
from medtasks_utils.extraction.weighing import Reading
from medtasks_utils.harness.answer import Answer, JudgedScore, Score
from medtasks_utils.harness.choices import ChoiceTask
from medtasks_utils.harness.sources import Row, Table, read_headerless, read_split

logger = logging.getLogger("lm_eval.medtasks")


COLUMNS = ("question", "A", "B", "C", "D", "explanation_1", "explanation_2", "answer")


class MedExQA(ChoiceTask):
    """``medexqa_<specialty>`` (``dataset_name`` in YAML names it) and ``medexqa_all``: answers and explanations."""

    card = CARD
    options_type = MedExQAOptions
    scoring_packages: ClassVar = ("thefuzz", "rapidfuzz")

    def adjust_config(self, config: dict[str, Any]) -> None:
        """Refuse options that cannot apply to a task of one specialty; tell of weights that do not sum to 1."""
        super().adjust_config(config)
        useless = {"specialty", "seed"} & self.options.model_fields_set
        if config.get("dataset_name") and useless:
            raise OptionError(
                f"{config['task']} is of one specialty, so {' and '.join(sorted(useless))} cannot apply to it: choose "
                "among specialties with the task medexqa_all, or name tasks such as medexqa_be"
            )
        weights = self.options.mcq_weight + self.options.explanation_weight
        if abs(weights - 1) > 1e-9:
            logger.warning(
                "%s: mcq_weight %s and explanation_weight %s sum to %s, not 1; combined is taken with them as they are",
                config["task"],
                self.options.mcq_weight,
                self.options.explanation_weight,
                weights,
            )

    # ---- rows

    def load_rows(self) -> list[Row]:
        """Documents of the split of the task's specialties."""
        split = self.options.split
        documents = [doc for specialty in self._specialties() for doc in self._documents(specialty, split)]
        if self.options.seed is not None and len(self._specialties()) > 1:
            random.Random(self.options.seed).shuffle(documents)
        return documents

    def load_fewshot_rows(self) -> list[Row]:
        """Documents of the dev split of the task's specialties."""
        return [doc for specialty in self._specialties() for doc in self._documents(specialty, "dev")]

    def _specialties(self) -> list[Specialty]:
        own = self.config.dataset_name
        return [s for s in SPECIALTIES if (s.name == own if own else s.name in self.options.specialty)]

    def _documents(self, specialty: Specialty, split: str) -> list[Row]:
        table = self._read(specialty, split)
        documents: list[Row] = []
        for index, row in enumerate(table.rows):
            answer = str(row["answer"]).strip().upper()
            if len(answer) != 1 or answer not in LETTERS:
                raise DataError(f"{table.at(index)}: the answer is {row['answer']!r}, not A, B, C or D")
            if not str(row["question"]).strip():
                self.leave_out(table, index, "no question")
                continue
            documents.append(
                {
                    "id": f"{specialty.name}/{split}/{index}",
                    "specialty": specialty.name,
                    "question": row["question"],
                    "options": [row[letter] for letter in LETTERS],
                    "answer_letter": answer,
                    "answer_idx": LETTERS.index(answer),
                    "explanation_1": row["explanation_1"],
                    "explanation_2": row["explanation_2"],
                }
            )
        if not documents:  # a macro average over the others would look like one over all
            raise DataError(
                f"{self.config.task}: {table.location}: no rows are left of {specialty.name}; mend the file, or choose "
                "other specialties (medexqa_all with the option specialty)"
            )
        return documents

    def _read(self, specialty: Specialty, split: str) -> Table:
        folder = self.folder()
        for suffix in (".tsv", ".csv"):
            for path in (
                folder / split / f"{specialty.stem}_{split}{suffix}",
                folder / f"{specialty.stem}_{split}{suffix}",
            ):
                if path.is_file():
                    return read_headerless(path, COLUMNS)
        table = read_split(folder, f"{split}/{specialty.stem}_{split}", f"{specialty.stem}_{split}")
        table.require_columns(COLUMNS)
        rows = [{column: "" if row[column] is None else str(row[column]) for column in COLUMNS} for row in table.rows]
        return Table(rows, table.parts)

    # ---- orders

    def first_order(self, doc: Row) -> str:
        """The authors': A to D."""
        return LETTERS

    def in_order(self, doc: Row, order: str) -> Row:
        """The document with the order in which the template goes through its choices."""
        return {**doc, "order": order}

    # ---- extraction

    def strict(self, response: str, doc: Row) -> Answer:
        """The authors' rules; a blank response is unanswered."""
        text = final_text(response)
        if not text.strip():
            return Answer(None, response)
        letter, found_by = authors_answer(text, doc["options"])
        return Answer(letter, response, found_by=found_by)

    def flexible(self, response: str, doc: Row) -> Answer:
        """The letter that the response chooses; else the only option that is much like what it names."""
        reading = self.read(response, doc)
        if reading.value is not None or any(one.cue != "mention" for one in reading.candidates):
            return Answer(reading.value, response, found_by=found_by(reading))
        text = final_text(without_continuation(response))
        return Answer(misspelt_option(text, doc["options"]), response, found_by="fuzzy")

    def read(self, response: str, doc: Row) -> Reading:
        """What is weighed."""
        return read_letter(final_text(without_continuation(response)), doc["options"])

    # ---- score

    def score(self, doc: Row, answer: Answer) -> dict[str, Score]:
        """``acc`` 0–1, ``answer_accuracy`` 0 or 100, and in ``medexqa_all`` the macro average over specialties."""
        right = float(answer.value == doc["answer_letter"])
        scores: dict[str, Score] = {
            "acc": right,
            "answer_accuracy": 100 * right,
            "answered": float(answer.value is not None),
        }
        if not self.config.dataset_name:
            scores["macro_acc"] = right
        return scores

    # ---- explanations

    _scorers: Sequence[ExplanationScorer] = ()

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the prompts; whether explanations can be scored is known now, before the model runs."""
        if self.OUTPUT_TYPE == "generate_until" and not self.predict_only:
            self._prepare_scorers(kwargs.get("rank") or 0, kwargs.get("world_size") or 1)
        super().build_all_requests(**kwargs)

    def _prepare_scorers(self, rank: int, processes: int) -> None:
        if not self.options.lexical_metrics and not self.options.judges:
            return
        without = sum(not references(doc) for doc in self.eval_docs)
        if without:
            logger.warning(
                "%s: %d of %d examples have no reference explanation, and no explanation score",
                self.config.task,
                without,
                len(self.eval_docs),
            )
            self.config.metadata["examples_without_references"] = without
        if without == len(self.eval_docs):
            return
        self._scorers = make_scorers(self.options, self.config.task, rank, processes)

    def scorers(self) -> dict[str, str]:
        """The explanation metrics' and the judge's own signatures."""
        return {name: text for scorer in self._scorers for name, text in scorer.signatures.items()}

    def score_batch(self, answers: dict[str, list[tuple[Row, Answer]]]) -> None:
        """``explanation``, ``combined`` and their parts: 0 for a wrong answer, None without references or judgement."""
        if not self._scorers:
            return
        pairs = [pair for by_filter in answers.values() for pair in by_filter]
        if self.options.judges:
            for _, answer in pairs:
                answer.details["judge"] = None
        right = [(doc, answer) for doc, answer in pairs if references(doc) and answer.value == doc["answer_letter"]]
        names = [name for scorer in self._scorers for name in scorer.names]
        found: dict[int, dict[str, Score]] = {id(answer): {} for _, answer in right}
        for scorer in self._scorers:
            for (_, answer), scores in zip(right, scorer.score(right), strict=True):
                found[id(answer)] |= scores
        judged = {*names, "combined"} & {metric.name for metric in self.card.metrics if metric.is_judged}
        for doc, answer in pairs:
            if not references(doc):
                answer.scores = dict.fromkeys([*names, "combined"])
                continue
            scores = found.get(id(answer)) or dict.fromkeys(names, 0.0)
            answer.scores = {**scores, "combined": self._combined(doc, answer, scores["explanation"])}
            for name in judged:
                value = answer.scores[name]
                answer.scores[name] = JudgedScore(id(answer) in found, value if isinstance(value, float) else None)

    def _combined(self, doc: Row, answer: Answer, explanation: Score) -> float | None:
        if not isinstance(explanation, float):
            return None
        accuracy = 100 * float(answer.value == doc["answer_letter"])
        combined: float = self.options.mcq_weight * accuracy + self.options.explanation_weight * explanation
        return combined
