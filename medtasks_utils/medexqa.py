"""MedExQA (Kim et al., arXiv:2406.06331): rows, the authors' extraction and ours, score."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, Field, model_validator
from thefuzz import fuzz, process, utils

from medtasks_utils.errors import DataError
from medtasks_utils.explanations import DEFAULT_BERTSCORE_MODEL, METRICS
from medtasks_utils.extraction.boxes import last_box, unwrap
from medtasks_utils.extraction.letters import LETTER, LETTERS, ONE_ONLY, stated_letter
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging.options import JudgeOptions
from medtasks_utils.medexqa_explanations import ExplanationScorer, make_scorers, references
from medtasks_utils.sources import Row, Table, read_headerless, read_split
from medtasks_utils.task import Answer, MedTask, Score

logger = logging.getLogger("lm_eval.medtasks")


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
COLUMNS = ("question", "A", "B", "C", "D", "explanation_1", "explanation_2", "answer")


def _specialty_names(value: Any) -> tuple[str, ...]:
    """Names of the specialties meant by one or many codes or names, in any case; ``ALL`` means all."""
    given = value if isinstance(value, list | tuple) else [value]
    known = {key.lower(): s.name for s in SPECIALTIES for key in (s.name, s.code)}
    names = []
    for item in given:
        key = str(item).strip().lower().replace(" ", "_")
        if key == "all":
            return tuple(s.name for s in SPECIALTIES)
        if key not in known:
            raise ValueError("must be ALL, or one or many of " + ", ".join(f"{s.code} ({s.name})" for s in SPECIALTIES))
        names.append(known[key])
    if not names:
        raise ValueError("must name at least one specialty")
    return tuple(s.name for s in SPECIALTIES if s.name in names)


def _metric_names(value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(f"must be one or a list of {', '.join(METRICS)}, or all")
    if given == ["all"]:
        return METRICS
    by_name = {name.lower(): name for name in METRICS}
    unknown = [name for name in given if str(name).lower() not in by_name]
    if unknown:
        raise ValueError(f"must be out of {', '.join(METRICS)}, or all")
    return tuple(dict.fromkeys(by_name[str(name).lower()] for name in given))


class MedExQAOptions(JudgeOptions):
    """Options under ``medexqa``."""

    choose_rows = frozenset({"specialty", "seed"})
    not_signed = JudgeOptions.not_signed | {
        *("use_explanations", "explanation_metrics", "bertscore_model"),  # the scorers' signatures tell
        *("bertscore_device", "bertscore_batch_size"),
    }

    specialty: Annotated[tuple[str, ...], BeforeValidator(_specialty_names)] = Field(
        ("ALL",), validate_default=True, description="for medexqa_all: codes or names, one or many; ALL for all"
    )
    use_think: bool = Field(False, description="ask for reasoning in a think block first")
    use_explanations: bool = Field(True, description="score the explanations too")
    explanation_metrics: Annotated[tuple[str, ...], BeforeValidator(_metric_names)] = Field(
        METRICS, description="rougeL, bleu, meteor, bertscore: one, a list, or all"
    )
    mcq_weight: float = Field(0.5, ge=0, le=1, description="weight of answer_accuracy in combined")
    explanation_weight: float = Field(0.5, ge=0, le=1, description="weight of explanation in combined")
    bertscore_model: str = Field(DEFAULT_BERTSCORE_MODEL, description="hub repository, or a folder with the model")
    bertscore_device: str = Field("auto", description="cpu, cuda, mps, or auto for the best there is")
    bertscore_batch_size: int = Field(64, ge=1, description="texts embedded at once")
    seed: int | None = Field(None, description="for medexqa_all: shuffle the specialties' rows")

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> MedExQAOptions:
        if abs(self.mcq_weight + self.explanation_weight - 1) > 1e-9:
            raise ValueError(
                f"mcq_weight ({self.mcq_weight}) and explanation_weight ({self.explanation_weight}) must sum to 1"
            )
        return self

    @property
    def lexical_metrics(self) -> tuple[str, ...]:
        """The metrics to compute: with a judge, which takes their place, only those asked for by name."""
        by_name = "explanation_metrics" in self.model_fields_set
        return self.explanation_metrics if self.use_explanations and (by_name or not self.use_judge) else ()


class MedExQA(MedTask):
    """``medexqa_<specialty>`` (``dataset_name`` in YAML names it) and ``medexqa_all``: answers and explanations."""

    benchmark = "medexqa"
    options_type = MedExQAOptions
    file_patterns: ClassVar = ("test/*", "dev/*")
    scoring_packages: ClassVar = ("thefuzz", "rapidfuzz")

    # ---- rows

    def load_rows(self) -> list[Row]:
        """Documents of the test split of the task's specialties."""
        documents = [doc for specialty in self._specialties() for doc in self._documents(specialty, "test")]
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
        documents = []
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

    # ---- extraction

    def strict(self, response: str, doc: Row) -> Answer:
        """The authors' rules; a blank response is unanswered."""
        text = final_text(response)
        if not text.strip():
            return Answer(None, response)
        letter, found_by = authors_answer(text, doc["options"])
        return Answer(letter, response, found_by=found_by)

    def flexible(self, response: str, doc: Row) -> Answer:
        """A boxed letter, a final "Answer: X" line, the authors' rules, or an option really similar to the response."""
        text = final_text(response)
        box = last_box(text)
        letter = None if box is None else stated_letter(unwrap(box), doc["options"])
        if letter:
            return Answer(letter, response, found_by="box")
        letter = final_answer_line(text)
        if letter or not text.strip():
            return Answer(letter, response, found_by="letter")
        substituted = letters_for_options(text, doc["options"])
        letter = ruled_letter(substituted)
        if letter:
            return Answer(letter, response, found_by="letter")
        return Answer(misspelt_option(substituted, doc["options"]), response, found_by="fuzzy")

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
        if not self.options.lexical_metrics and not self.options.use_judge:
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
        if self.options.use_judge:
            for _, answer in pairs:
                answer.details["judge"] = None
        right = [(doc, answer) for doc, answer in pairs if references(doc) and answer.value == doc["answer_letter"]]
        names = [name for scorer in self._scorers for name in scorer.names]
        found: dict[int, dict[str, Score]] = {id(answer): {} for _, answer in right}
        for scorer in self._scorers:
            for (_, answer), scores in zip(right, scorer.score(right), strict=True):
                found[id(answer)] |= scores
        for doc, answer in pairs:
            if not references(doc):
                answer.scores = dict.fromkeys([*names, "combined"])
                continue
            scores = found.get(id(answer)) or dict.fromkeys(names, 0.0)
            answer.scores = {**scores, "combined": self._combined(doc, answer, scores["explanation"])}

    def _combined(self, doc: Row, answer: Answer, explanation: Score) -> float | None:
        if not isinstance(explanation, float):
            return None
        accuracy = 100 * float(answer.value == doc["answer_letter"])
        combined: float = self.options.mcq_weight * accuracy + self.options.explanation_weight * explanation
        return combined

    def stratum(self, doc: Row) -> str:
        """Macro averages are over specialties."""
        return str(doc["specialty"])


# The authors' rules (github.com/knowlab/MedExQA at 9a5b34a, evaluate_pipe_MedExQA.py), restated. "Near" is a stretch
# without the capitals A-D, so that the letter found is the first capital A-D after its cue. The rules are applied as
# they are, bounds and word boundaries included, since published numbers rest on them.

_NEAR = "[^ABCD]"
_NO = r"n(?:'|o)t"
_LONE = r"\b([ABCD])\b"
_RULES = tuple(
    re.compile(rule)
    for rule in (
        # 1: "choose C", "the answer is C", "choice: C", unless "not" or "n't" follows soon.
        rf"(?:[Cc]hoose|(?:[Aa]nswer|[Cc]hoice)(?!{_NEAR}{{0,20}}{_NO}){_NEAR}{{0,10}}\b(?:is\b|be\b|:\b)?){_NEAR}{{0,20}}{_LONE}",
        # 2: "C is correct", "C seems right", unless negated.
        rf"{_LONE}(?!{_NEAR}{{0,8}}{_NO}{_NEAR}{{0,5}}(?:correct|right)){_NEAR}{{0,10}}\b(?:correct|right)\b",
        # 3: the response begins with "C." or its like.
        r"^([ABCD])(?:[.,:]|$)",
        # 4: the first letter that is not part of a word or an equation.
        r"(?<![a-zA-Z])([ABCD])(?![a-zA-Z=])",
    )
)


def letters_for_options(text: str, options: Sequence[str]) -> str:
    """Replace every option's text by its letter, the longest option first; an empty option is never replaced."""
    for index in sorted(range(len(options)), key=lambda i: len(options[i]), reverse=True):
        option = options[index].rstrip(".")
        if option and _may_occur(option, text):
            text = re.sub(re.escape(option), LETTERS[index], text, flags=re.IGNORECASE)
    return text


def _may_occur(option: str, text: str) -> bool:
    """Whether a search in any case could find the option: far cheaper than compiling that search for every option."""
    if not option.isascii() or any(
        letter in text for letter in "\u0130\u0131\u017f\u212a"
    ):  # in any case these match i, s and k
        return True
    return option.lower() in text.lower()


def ruled_letter(text: str) -> str | None:
    """The letter by the first of the authors' four rules that matches."""
    for rule in _RULES:
        match = rule.search(text)
        if match:
            return match[1]
    return None


def most_similar_option(text: str, options: Sequence[str]) -> str:
    """The letter of the option most similar to the text, however little; the first on a tie."""
    if not utils.full_process(text):
        return LETTERS[0]  # thefuzz scores all options 0, and would warn of it
    best, _ = process.extractOne(text, list(options))
    return LETTERS[list(options).index(best)]


def misspelt_option(text: str, options: Sequence[str]) -> str | None:
    """The letter of the only option that stands in the text but for a slip; options of a few letters never do."""
    text = utils.full_process(text)
    near = []
    for letter, option in zip(LETTERS, map(utils.full_process, options), strict=True):
        similarity = fuzz.partial_ratio if len(text) >= len(option) else fuzz.ratio
        if len(option) >= _SHORTEST_MISSPELT and similarity(option, text) >= _REALLY_SIMILAR:
            near.append(letter)
    return near[0] if len(near) == 1 else None


def authors_answer(text: str, options: Sequence[str]) -> tuple[str, str]:
    """The authors' extraction: options to letters, four rules (``letter``), or the most similar option (``fuzzy``)."""
    substituted = letters_for_options(text, options)
    letter = ruled_letter(substituted)
    return (letter, "letter") if letter else (most_similar_option(substituted, options), "fuzzy")


_REALLY_SIMILAR = 85  # of 100
_SHORTEST_MISSPELT = 5  # characters
_ANSWER_LINE = re.compile(
    r"^[\s>#*_\-]{0,8}(?i:(?:the\s)?(?:(?:final|correct|best|my)\s){0,2}answer[\s*_]{0,4}(?:is)?)"
    rf"[\s:*_=$\-–—]{{0,6}}(?i:option\s)?[(\[]?({LETTER}){ONE_ONLY}(?!=)",
    re.MULTILINE,
)


def final_answer_line(text: str) -> str | None:
    """The letter of the last line that reads "Answer: X"."""
    found = [match[1] for match in _ANSWER_LINE.finditer(text)]
    return found[-1].upper() if found else None
