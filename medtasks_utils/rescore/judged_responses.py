"""Collect the responses to judge from sample logs of benchmarks with reference explanations."""

import glob
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.errors import MedtasksError
from medtasks_utils.judging import Case
from medtasks_utils.results import Sample, TaskRun, read_runs
from medtasks_utils.writing import counted


class ExplainedResponse(NamedTuple):
    """One response of a model, with the case for the judge.

    Attributes:
        path: the sample log.
        run: the evaluated model and the date of the run.
        task: the task's name, such as ``medexqa_clinical_psychology``.
        example: the example's id, such as ``clinical_psychology/test/7``.
        generation: the index of this response among the generations of the example, from 0.
        given: the filter's answer, or ``[invalid]``.
        needs_judge: True if a judge must score the response, because its answer is right and there are references.
        text: the whole response.
        case: the explanation and its references, for the judge.
    """

    path: Path
    run: str
    task: str
    example: str
    generation: int
    given: str
    needs_judge: bool
    text: str
    case: Case


class Responses(NamedTuple):
    """The responses in the order of the files, and a line about each file, sample or task that was left out."""

    found: list[ExplainedResponse]
    problems: list[str]


def find_responses(patterns: Sequence[str], filter_name: str | None) -> Responses:
    """Collect the responses in the matching sample logs; right answers with references need a judge.

    Args:
        patterns: glob patterns of files ``samples_<task>_<date>.jsonl``, in which ``**`` matches any number of folders;
            a folder selects all such files in it.
        filter_name: the filter whose answers count; None for each task's default.

    Raises:
        MedtasksError: if a pattern matches no file, or no file has responses to judge.
    """
    paths = _matching(patterns)
    without_explanations: dict[str, None] = {}
    problems: list[str] = []
    responses: list[ExplainedResponse] = []
    for run in read_runs(sorted(paths)):
        for task in run.tasks.values():
            path = task.samples_path
            if path is None or paths.isdisjoint([path.resolve(), *path.resolve().parents]):
                continue
            if task.benchmark is None or task.benchmark.case_of is None:
                without_explanations[task.task] = None
                continue
            problems += [*task.problems, *([] if filter_name else task.note_on_filter)]
            usual = filter_name or task.default_filter
            name, lacking = f"{run.model} {run.date}".strip(), Counter[str]()
            before = len(responses)
            for sample in task.samples:
                try:
                    responses += _responses(name, task, task.benchmark, path, sample, usual)
                except KeyError as error:
                    lacking[str(error)] += 1
            if lacking:
                problems.append(f"{path}: left out {counted(lacking.total(), 'example')} without {', '.join(lacking)}")
            elif task.samples and len(responses) == before:
                problems.append(
                    f"{path}: no answers of the filter {usual} (its filters: {', '.join(task.filters)}); "
                    "name another with --filter; tasks that compare log-likelihoods have no explanations"
                )
    tasks = ", ".join(without_explanations)
    if not responses:
        samples = f"no samples with explanations in {', '.join(patterns)} (tasks: {tasks or 'none'})"
        raise MedtasksError(
            f"no response to judge: {problems[0] if problems else samples}. Evaluate a task with reference "
            "explanations with --log_samples, or convert the results.jsonl of vf-eval with medtasks import"
        )
    if tasks:
        problems.append(f"samples of {tasks} are left out, since they have no explanations to judge")
    return Responses(responses, problems)


def _matching(patterns: Sequence[str]) -> set[Path]:
    """Return the matching files and folders; raise MedtasksError for a pattern that matches none."""
    paths: set[Path] = set()
    for pattern in patterns:
        place = os.path.expanduser(pattern)
        matching = [place] if os.path.exists(place) else glob.glob(place, recursive=True)
        if not matching:
            raise MedtasksError(
                f"no file matches {pattern!r}; name sample logs, which --log_samples writes, such as "
                "'results/**/samples_*.jsonl' (quoted, so that the shell does not expand it)"
            )
        paths.update(Path(path).resolve() for path in matching)
    return paths


def _responses(
    run: str, task: TaskRun, benchmark: Benchmark[Any], path: Path, sample: Sample, filter_name: str
) -> list[ExplainedResponse]:
    """Return the responses in a sample, with a filter's answers; raise KeyError if its example lacks a field."""
    responses = []
    answers = sample.answers.get(filter_name, ())
    for generation, (text, answer) in enumerate(zip(sample.responses, answers, strict=False)):
        example = str(sample.doc.get("id", sample.doc_id))
        case = benchmark.case_of(sample.example_shown(benchmark, generation), text)  # type: ignore[misc]  # it is there
        needs_judge = answer == str(sample.doc[benchmark.data.truth]) and bool(case.references)
        answer_shown = sample.answer_shown(answer, generation)
        about = (path, run, task.task, example, generation, answer_shown, needs_judge)
        responses.append(ExplainedResponse(*about, text, case))
    return responses
