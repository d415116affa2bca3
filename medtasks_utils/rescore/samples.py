"""Which responses there are to judge: MedExQA's, out of sample logs. Nothing else in this package knows a benchmark."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.extraction.printable import printable
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case
from medtasks_utils.results import Sample, TaskRun, read_runs
from medtasks_utils.results.samples import Row

BENCHMARK = "medexqa"
_FIELDS = ("specialty", "question", "options", "answer_letter", "explanation_1", "explanation_2")


class SamplesError(MedtasksError):
    """Sample logs that are not there, or hold nothing to judge."""


@dataclass(frozen=True)
class Response:
    """One response of a model, with what it is judged by.

    Attributes:
        path: the sample log.
        run: the model under test and the run's date.
        task: the harness's task, such as ``medexqa_clinical_psychology``.
        example: the document's id, such as ``clinical_psychology/test/7``.
        generation: which of the example's responses this is, from 0.
        given: the letter that the filter read out of it, or ``[invalid]``.
        text: the whole response.
        case: for the judge.
    """

    path: Path
    run: str
    task: str
    example: str
    generation: int
    given: str
    text: str
    case: Case

    @property
    def is_right(self) -> bool:
        """Whether the answer is right: a wrong one scores 0 without a judge."""
        return self.given == self.case.answer_letter

    @property
    def needs_judge(self) -> bool:
        """Whether a judge has to see it: without references there is no score."""
        return self.is_right and bool(self.case.references)


@dataclass(frozen=True)
class Responses:
    """What was found, in the order of the files, and what was left out, in words."""

    found: list[Response]
    problems: list[str]


def find_responses(patterns: Sequence[str], filter_name: str) -> Responses:
    """Every response in the sample logs that match.

    Args:
        patterns: globs of files ``samples_<task>_<date>.jsonl``; ``**`` stands for any number of folders, and a folder
            for all such files of MedExQA under it.
        filter_name: whose answers decide which responses are right.

    Raises:
        SamplesError: if no file matches, one is there twice, or none has responses to judge.
    """
    paths = _matching(patterns)
    problems: list[str] = []
    found: list[Response] = []
    origins: dict[tuple[str, str], Path] = {}
    left = {path.resolve(): path for path in paths}
    for run in read_runs(paths):
        name = f"{run.model} {run.date}".strip()
        for task in run.tasks.values():
            path = left.pop(task.samples_path.resolve(), None) if task.samples_path else None
            if path is None:
                continue
            if task.benchmark != BENCHMARK:
                problems.append(f"{path}: left out, the task {task.task} is not one of MedExQA's")
                continue
            other = origins.setdefault((name, task.task), path)
            if other != path:
                raise SamplesError(
                    f"{other} and {path} are both samples of {task.task} in the run {name}: give --input_glob only one"
                )
            found += _responses(name, task, path, filter_name, problems)
            problems += task.problems
    problems += [f"{path}: left out, not named samples_<task>_<date>.jsonl" for path in left.values()]
    if not found:
        detail = f": {problems[0]}" if problems else ""
        raise SamplesError(
            f"no response to judge in {', '.join(map(str, paths[:3]))}{detail}. lm_eval writes them with --tasks "
            "medexqa --log_samples; medtasks import, out of results.jsonl of the environment"
        )
    return Responses(found, problems)


def _matching(patterns: Sequence[str]) -> list[Path]:
    paths: dict[Path, Path] = {}
    for pattern in patterns:
        place = os.path.expanduser(pattern)
        if os.path.isdir(place):
            place = os.path.join(glob.escape(place), "**", f"samples_{BENCHMARK}*.jsonl")
        matching = [Path(path) for path in sorted(glob.glob(place, recursive=True)) if os.path.isfile(path)]
        if not matching:
            raise SamplesError(
                f"no file matches --input_glob {pattern!r}; it takes what lm_eval writes with --log_samples, as in "
                f"'results/**/samples_{BENCHMARK}*.jsonl' (quoted, so that the shell leaves it)"
            )
        paths |= {path.resolve(): path for path in matching if path.resolve() not in paths}
    return list(paths.values())


def _responses(run: str, task: TaskRun, path: Path, filter_name: str, problems: list[str]) -> Iterator[Response]:
    without_filter, without_fields = [], []
    for sample in task.samples:
        if not _is_document(sample.doc):
            without_fields.append(sample)
        elif len(sample.answers.get(filter_name, ())) != len(sample.responses):
            without_filter.append(sample)
        else:
            yield from _generations(run, task.task, path, sample, filter_name)
    if without_fields:
        problems.append(
            f"{path}: left out {len(without_fields)} samples without a document of MedExQA "
            f"(the first is doc_id {without_fields[0].doc_id})"
        )
    if without_filter:
        there = ", ".join(sorted({name for sample in without_filter for name in sample.answers}))
        problems.append(
            f"{path}: left out {len(without_filter)} samples without the filter {filter_name} "
            f"(they have {there}); log-likelihoods have no explanation to judge"
        )


def _is_document(doc: Row) -> bool:
    if not all(field in doc for field in _FIELDS):
        return False
    options, letter = doc["options"], doc["answer_letter"]
    return isinstance(options, list) and len(options) == len(LETTERS) and letter in list(LETTERS)


def _generations(run: str, task: str, path: Path, sample: Sample, filter_name: str) -> Iterator[Response]:
    doc = {name: printable(str(value)) for name, value in sample.doc.items() if isinstance(value, str)}
    references = tuple(doc[name] for name in _FIELDS[-2:] if doc.get(name, "").strip())
    options = tuple(printable(str(option)) for option in sample.doc["options"])
    example = doc.get("id") or f"{doc['specialty']}/{sample.doc_id}"
    for generation, (text, given) in enumerate(zip(sample.responses, sample.answers[filter_name], strict=True)):
        case = Case(
            specialty=doc["specialty"],
            question=doc["question"],
            options=options,
            answer_letter=doc["answer_letter"],
            explanation=printable(final_text(text).strip()),
            references=references,
        )
        yield Response(path, run, task, example, generation, given, text, case)
