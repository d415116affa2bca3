"""``medtasks import``: score responses that were generated elsewhere (:mod:`medtasks_utils.elsewhere`)."""

from dataclasses import KW_ONLY
from itertools import chain
from pathlib import Path

from pydantic.dataclasses import dataclass

from medtasks_utils.errors import MedtasksError, UsageError

from .flags import Command, CommandResult, warn

_RUNS = ("results.jsonl", "*.eval", "scenario_state.json")


@dataclass
class Import(Command):
    about = """
    Score responses that were generated elsewhere, and save them as the harness's result files.

    With --requests, reads the responses to requests that medtasks requests wrote. Otherwise, reads runs of other
    harnesses, scores their responses again under both filters and keeps the other harness's scores: results.jsonl of
    the environments that defined the benchmarks (vf-eval -s), logs of inspect_ai (.eval, .json), HELM's
    scenario_state.json; with --task, --id and --response, any JSON lines or CSV. Exit code 1 if a file's benchmark or
    rows cannot be identified, or, with --requests, if replies are missing.
    """

    paths: tuple[Path, ...]
    """files with responses, or folders with results.jsonl, *.eval or scenario_state.json"""
    _: KW_ONLY
    output: Path = Path("imported")
    """the folder to write into; default: imported"""
    task: str | None = None
    """the task of the rows; default: the benchmark's main task"""
    data: str | None = None
    """source of the task's rows: hub, sample, or a directory; default: as for runs"""
    id: str = ""
    """the field with the row's id, its number in the data, or the question; or several fields that identify the row
    together, separated by commas"""
    response: str = ""
    """the field with the response"""
    requests: Path | None = None
    """the file of requests, written by medtasks requests, to which the responses belong"""
    partial: bool = False
    """with --requests, score only examples for which all requests have replies, instead of stopping with an error"""
    missing: Path | None = None
    """with --requests, file to which requests without a reply are written"""

    def run(self) -> CommandResult | None:
        """Score the responses, and return the paths of the results files or, with --requests, the run's result."""
        files: list[Path] = []
        for path in self.paths:
            if not path.exists():
                raise MedtasksError(f"there is no file {path}")
            files += sorted(chain.from_iterable(map(path.rglob, _RUNS))) if path.is_dir() else [path]
        if not files:
            raise MedtasksError(f"there is no {' or '.join(_RUNS)} in {', '.join(map(str, self.paths))}")
        return self._responses(files, self.requests) if self.requests else self._other_runs(files)

    def _responses(self, files: list[Path], requests: Path) -> CommandResult | None:
        from medtasks_utils.elsewhere.batch import import_responses

        from .eval_result import result_of

        evaluation, problems = import_responses(
            files, requests, self.output, data=self.data, is_partial=self.partial, missing=self.missing
        )
        warn(*problems)
        return result_of(evaluation)

    def _other_runs(self, files: list[Path]) -> CommandResult:
        from medtasks_utils.elsewhere.saving import import_run

        if bool(self.id) != bool(self.response) or (self.id and not self.task):
            raise UsageError("--id, --response and --task must be given together, to import another format")
        data = []
        id_fields = [name.strip() for name in self.id.split(",") if name.strip()]
        for path in files:
            written, problems = import_run(path, self.output, self.task, self.data, id_fields, self.response)
            warn(*problems)
            data.append({"run": str(path), "written": str(written), "problems": problems})
        return CommandResult([str(entry["written"]) for entry in data], data)
