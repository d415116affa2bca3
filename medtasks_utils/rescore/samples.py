"""Which responses there are to judge: MedExQA's, out of sample logs. Nothing else in this package knows a benchmark."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.extraction.think import final_text
from medtasks_utils.judging import Case
from medtasks_utils.rescore.table import writable
from medtasks_utils.results import Run, Sample, TaskRun, read_runs
from medtasks_utils.results.environments import FILE_NAME
from medtasks_utils.results.samples import Row

BENCHMARK = "medexqa"
_FIELDS = ("specialty", "question", "options", "answer_letter", "explanation_1", "explanation_2")


class SamplesError(MedtasksError):
    """Sample logs that are not there, or hold nothing to judge."""


@dataclass(frozen=True)
class Response:
    """One response of a model, with what it is judged by.

    Attributes:
        run: the model under test and the run's date.
        task: the harness's task, such as ``medexqa_clinical_psychology``.
        example: the document's id, such as ``clinical_psychology/test/7``.
        generation: which of the example's responses this is, from 0.
        answer: the letter that the filter read out of it, or ``[invalid]``.
        text: the whole response.
        case: for the judge.
    """

    run: str
    task: str
    example: str
    generation: int
    answer: str
    text: str
    case: Case

    @property
    def needs_judge(self) -> bool:
        """Whether a judge has to see it: a wrong answer scores 0, and without references there is no score."""
        return self.answer == self.case.answer_letter and bool(self.case.references)


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
    read: set[Path] = set()
    for run, task, path in _tasks(paths):
        read.add(path.resolve())
        name = f"{run.model} {run.date}".strip()
        if task.benchmark != BENCHMARK:
            problems.append(f"{path}: left out, the task {task.task} is not one of MedExQA's")
            continue
        other = origins.setdefault((name, task.task), path)
        if other != path:
            raise SamplesError(
                f"{other} and {path} are both samples of {task.task} in the run {name}: give --input_glob only one"
            )
        problems += task.problems
        found += _responses(name, task, filter_name, problems)
    problems += [
        f"{path}: left out, not named samples_<task>_<date>.jsonl" for path in paths if path.resolve() not in read
    ]
    if not found:
        detail = f": {problems[0]}" if problems else ""
        raise SamplesError(
            f"no response to judge in {_count(paths)}{detail}. lm_eval writes them with --tasks medexqa --log_samples"
        )
    return Responses(found, problems)


def _matching(patterns: Sequence[str]) -> list[Path]:
    paths: dict[Path, Path] = {}
    for pattern in patterns:
        expanded = os.path.expanduser(pattern)
        inside = [
            os.path.join(glob.escape(expanded), "**", name) for name in (f"samples_{BENCHMARK}*.jsonl", FILE_NAME)
        ]
        globs = inside if os.path.isdir(expanded) else [expanded]
        matching = sorted(
            Path(path) for each in globs for path in glob.glob(each, recursive=True) if os.path.isfile(path)
        )
        if not matching:
            raise SamplesError(
                f"no file matches --input_glob {pattern!r}; it takes what lm_eval writes with --log_samples, as in "
                f"'results/**/samples_{BENCHMARK}*.jsonl' (quoted, so that the shell leaves it)"
            )
        for path in matching:
            paths.setdefault(path.resolve(), path)
    return list(paths.values())


def _tasks(paths: Sequence[Path]) -> Iterator[tuple[Run, TaskRun, Path]]:
    """The tasks that the files hold, each with its run; a run is found by any of its files."""
    wanted = {path.resolve() for path in paths}
    for run in read_runs(paths):
        for task in run.tasks.values():
            if task.samples_path and task.samples_path.resolve() in wanted:
                yield run, task, task.samples_path


def _responses(run: str, task: TaskRun, filter_name: str, problems: list[str]) -> Iterator[Response]:
    without_filter, without_fields = [], []
    for sample in task.samples:
        if not _is_document(sample.doc):
            without_fields.append(sample)
        elif filter_name not in sample.answers or len(sample.answers[filter_name]) != len(sample.responses):
            without_filter.append(sample)
        else:
            yield from _generations(run, task.task, sample, filter_name)
    if without_fields:
        problems.append(
            f"{task.samples_path}: left out {len(without_fields)} samples without a document of MedExQA "
            f"(the first is doc_id {without_fields[0].doc_id})"
        )
    if without_filter:
        there = ", ".join(sorted({name for sample in without_filter for name in sample.answers}))
        problems.append(
            f"{task.samples_path}: left out {len(without_filter)} samples without the filter {filter_name} "
            f"(they have {there}); log-likelihoods have no explanation to judge"
        )


def _is_document(doc: Row) -> bool:
    if not all(field in doc for field in _FIELDS):
        return False
    options, letter = doc["options"], doc["answer_letter"]
    return isinstance(options, list) and len(options) == len(LETTERS) and letter in list(LETTERS)


def _generations(run: str, task: str, sample: Sample, filter_name: str) -> Iterator[Response]:
    doc = sample.doc
    for generation, (text, answer) in enumerate(zip(sample.responses, sample.answers[filter_name], strict=True)):
        case = Case(
            specialty=_clean(doc["specialty"]),
            question=_clean(doc["question"]),
            options=tuple(map(_clean, doc["options"])),
            answer_letter=_clean(doc["answer_letter"]),
            explanation=_clean(final_text(text).strip()),
            references=tuple(
                _clean(doc[name]) for name in ("explanation_1", "explanation_2") if _clean(doc[name]).strip()
            ),
        )
        example = _clean(doc.get("id") or f"{case.specialty}/{sample.doc_id}")
        yield Response(_clean(run), task, example, generation, _clean(answer), _clean(text), case)


def _clean(value: Any) -> str:
    """The text as a table holds it, so that its row is found again."""
    return "" if value is None else writable(str(value))


def _count(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
