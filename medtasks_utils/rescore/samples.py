"""Responses to judge, out of the sample logs of benchmarks whose examples have reference explanations."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.errors import MedtasksError
from medtasks_utils.judging import Case
from medtasks_utils.results import TaskRun, read_runs


@dataclass(frozen=True)
class Response:
    """One response of a model, with what it is judged by.

    Attributes:
        path: the sample log.
        run: the model under test and the run's date.
        task: the harness's task, such as ``medexqa_clinical_psychology``.
        example: the document's id, such as ``clinical_psychology/test/7``.
        generation: which of the example's responses this is, from 0.
        given: the answer that the filter read out of it, or ``[invalid]``.
        is_right: whether that is the right answer.
        text: the whole response.
        case: for the judge.
    """

    path: Path
    run: str
    task: str
    example: str
    generation: int
    given: str
    is_right: bool
    text: str
    case: Case

    @property
    def needs_judge(self) -> bool:
        """Whether a judge has to see it: a wrong answer scores 0, and without references there is no score."""
        return self.is_right and bool(self.case.references)


class Responses(NamedTuple):
    """What was found, in the order of the files, and what was left out, in words."""

    found: list[Response]
    problems: list[str]


def find_responses(patterns: Sequence[str], filter_name: str) -> Responses:
    """Every response in the sample logs that match.

    Args:
        patterns: globs of files ``samples_<task>_<date>.jsonl``; ``**`` stands for any number of folders, and a folder
            for all such files under it that have explanations to judge.
        filter_name: whose answers decide which responses are right.

    Raises:
        MedtasksError: if no file matches, or none has responses to judge.
    """
    paths, in_folders = _matching(patterns)
    problems: list[str] = []
    found: list[Response] = []
    for run in read_runs(paths):
        for task in run.tasks.values():
            path = task.samples_path
            if path is None or path.resolve() not in paths:
                continue
            if task.card is None or not task.card.has_explanations:
                if path.resolve() not in in_folders:
                    problems.append(f"{path}: left out, the task {task.task} has no explanations to judge")
                continue
            problems += task.problems
            own = list(_responses(f"{run.model} {run.date}".strip(), task, task.card, path, filter_name))
            if not own:
                there = ", ".join(task.filters)
                problems.append(
                    f"{path}: no answers of the filter {filter_name} (there are {there}); log-likelihoods have no "
                    "explanation to judge"
                )
            found += own
    if not found:
        detail = f": {problems[0]}" if problems else ""
        judged = ",".join(each.default_task for each in benchmarks().usable() if each.has_explanations)
        raise MedtasksError(
            f"no response to judge in {', '.join(map(str, paths[:3]))}{detail}. lm_eval writes them with --tasks "
            f"{judged} --log_samples; medtasks import, out of results.jsonl of the environment"
        )
    return Responses(found, problems)


def _matching(patterns: Sequence[str]) -> tuple[list[Path], set[Path]]:
    """Return the files, each once, without links; and those among them that only a folder stands for."""
    paths: list[Path] = []
    in_folders: set[Path] = set()
    by_name: set[Path] = set()
    for pattern in patterns:
        place = os.path.expanduser(pattern)
        is_folder = os.path.isdir(place)
        if is_folder:
            place = os.path.join(glob.escape(place), "**", "samples_*.jsonl")
        matching = [Path(path).resolve() for path in sorted(glob.glob(place, recursive=True)) if os.path.isfile(path)]
        if not matching:
            raise MedtasksError(
                f"no file matches --input_glob {pattern!r}; it takes what lm_eval writes with --log_samples, as in "
                "'results/**/samples_*.jsonl' (quoted, so that the shell leaves it)"
            )
        paths += matching
        (in_folders if is_folder else by_name).update(matching)
    return list(dict.fromkeys(paths)), in_folders - by_name


def _responses(run: str, task: TaskRun, card: Benchmark, path: Path, filter_name: str) -> Iterator[Response]:
    """Yield each response of a task's samples under a filter."""
    for sample in task.samples:
        answers = sample.answers.get(filter_name, ())
        for generation, (text, given) in enumerate(zip(sample.responses, answers, strict=False)):
            is_right = given == str(sample.doc[card.truth])
            example = str(sample.doc.get("id", sample.doc_id))
            case = card.case_of(sample.doc, text)
            yield Response(path, run, task.task, example, generation, given, is_right, text, case)
