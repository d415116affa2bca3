"""``medtasks import``: score responses that were generated elsewhere (:mod:`medtasks_utils.elsewhere`)."""

from dataclasses import KW_ONLY
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic.dataclasses import dataclass

from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.writing import table

from .flags import Command, CommandResult, warn

if TYPE_CHECKING:
    from medtasks_utils.elsewhere.saving import Imported

_RUNS = ("results.jsonl", "traces.jsonl", "*.eval", "scenario_state.json")


@dataclass
class Import(Command):
    about = """
    Score responses that were generated elsewhere, and save them in the harness's format.

    With --requests, reads the responses to requests that medtasks requests wrote. Otherwise, reads runs of other
    harnesses, scores their responses under both filters, and keeps the other harness's scores. Known formats are
    results.jsonl (vf-eval -s) and traces.jsonl of the environments that defined the benchmarks, logs of inspect_ai
    (.eval, .json), and HELM's scenario_state.json. With --task, --id and --response, the format is any JSON lines, JSON
    array, CSV or TSV. Exit code 1 if a file's benchmark or rows cannot be identified or, with --requests, if replies
    are missing.
    """

    paths: tuple[Path, ...]
    """files with responses, or folders that contain results.jsonl, traces.jsonl, *.eval or scenario_state.json"""
    _: KW_ONLY
    output: Path = Path("imported")
    """the folder to write into; default: imported"""
    task: str | None = None
    """the task of the rows; default: the benchmark's main task"""
    data: str | None = None
    """source of the task's rows: hub, sample, or a directory; default: as in medtasks eval"""
    id: str = ""
    """the field that identifies the row: its id in the data, the question, or the prompt; or several fields, separated
    by commas, that identify it together"""
    response: str = ""
    """the field with the response"""
    score: str = ""
    """the field with the other harness's own verdict: a number, true or false, correct or incorrect"""
    model: str = ""
    """the model's name; default: as in the file, or the file's name"""
    split_by: str = ""
    """the field that distinguishes runs in one file, such as model; the rows with each value become a run, and the
    value becomes the name of the run's model"""
    requests: Path | None = None
    """the file of requests, from medtasks requests, that the responses answer"""
    partial: bool = False
    """with --requests, score the examples that have all of their replies instead of failing when some are missing"""
    missing: Path | None = None
    """with --requests, the file to which unanswered requests are written"""

    def run(self) -> CommandResult | None:
        """Score the responses; return the results' paths and summaries or, with ``--requests``, the run's result.

        Raises:
            MedtasksError: if a path does not exist, if there are no files to import, or if none can be imported.
        """
        files: list[Path] = []
        for path in self.paths:
            if not path.exists():
                raise MedtasksError(f"no file or folder {path}")
            files += sorted(chain.from_iterable(map(path.rglob, _RUNS))) if path.is_dir() else [path]
        if not files:
            raise MedtasksError(f"no {' or '.join(_RUNS)} in {', '.join(map(str, self.paths))}")
        return self._responses(files, self.requests) if self.requests else self._other_runs(files)

    def _responses(self, files: list[Path], requests: Path) -> CommandResult | None:
        """Score responses to requests that ``medtasks requests`` wrote, and return the run's result."""
        from medtasks_utils.elsewhere.batch import import_responses

        from .eval_result import result_of

        evaluation, (counts, *problems) = import_responses(
            files, requests, self.output, data=self.data, is_partial=self.partial, missing=self.missing
        )
        result = result_of(evaluation)
        warn(*problems)
        return result and result._replace(lines=[counts, *result.lines])

    def _other_runs(self, files: list[Path]) -> CommandResult:
        """Score the responses in other harnesses' files, and return the paths and summaries of the results.

        A file or run that cannot be imported causes a warning.

        Raises:
            UsageError: for flags that do not go together.
            MedtasksError: the first error, if nothing could be imported.
        """
        from medtasks_utils.elsewhere.other_runs import Fields
        from medtasks_utils.elsewhere.saving import import_runs

        if bool(self.id) != bool(self.response) or (self.id and not self.task) or (self.score and not self.id):
            raise UsageError(
                "--id, --response and --task must be given together, to import a different format; --score needs them"
            )
        if self.split_by and (self.model or not self.id):
            raise UsageError(
                "--split_by takes models' names from a field: omit --model; --task, --id and --response are required"
            )
        lines: list[str] = []
        data = []
        id_fields = [name.strip() for name in self.id.split(",") if name.strip()]
        fields = Fields(id_fields, self.response, self.score, self.split_by)
        failures = []
        for path in files:
            for imported in import_runs(path, self.output, self.task, self.data, fields, self.model):
                if isinstance(imported, MedtasksError):
                    failures.append(str(imported))
                    continue
                warn(*imported.problems)
                of_run = _summary(imported)
                lines += [str(imported.path), *of_run.lines]
                data.append({"run": str(path), "written": str(imported.path), **of_run.data})
        if not lines:
            raise MedtasksError(failures[0])
        warn(*failures)
        return CommandResult(lines, data)


def _summary(imported: "Imported") -> CommandResult:
    """Summarise an import: rows with a response, scores by filter, and agreement with the other harness's verdicts."""
    from medtasks_utils.elsewhere.other_runs import named
    from medtasks_utils.results import read_runs

    task = read_runs(imported.path)[0].tasks[imported.task]
    rows, scores = [["", *task.filters]], {}
    for name in dict.fromkeys((*task.facts.compared[:1], *task.facts.headline, "answered")):
        if (name, task.filters[0]) in task.metrics:
            results = {by: task.metrics[name, by] for by in task.filters}
            rows.append([name, *(task.metric(name).shown(result.value) for result in results.values())])
            scores[name] = {by: result._asdict() for by, result in results.items()}
    for score, by_filter in imported.agreement.items():
        rows.append([f"{score} agrees", *(f"{100 * by_filter[by]:.1f}" for by in task.filters)])
    available = imported.available
    count = available - len(imported.missing)
    of_rows = f"{imported.task}: {count:,} of {available:,} rows have a response"
    if imported.missing:
        of_rows += f"; {named(list(map(str, imported.missing)), 'indices of rows without one')}"
    data = {
        "task": imported.task,
        "rows": {"with_response": count, "of": available, "missing": imported.missing},
        "scores": scores,
        "agreement": imported.agreement,
        "filter": task.default_filter,
        "problems": imported.problems,
    }
    return CommandResult([of_rows, table(rows), *task.note_on_filter], data)
