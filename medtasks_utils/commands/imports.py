"""``medtasks import``: score responses that were generated elsewhere (:mod:`medtasks_utils.elsewhere`)."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from medtasks_utils.errors import MedtasksError
from medtasks_utils.writing import CommandResult

from .evaluate import EvalResult
from .flags import Command, Printout, warn


@dataclass
class Import(Command):
    """Score responses that were generated elsewhere, and save them as the harness's result files.

    With --requests, reads the responses to a file of medtasks requests. Without it, reads results.jsonl, as vf-eval -s
    of the defining environments writes it, and scores its responses again under both filters. Exit code 1 if a file's
    benchmark or rows cannot be identified, or if replies are missing.

    Attributes:
        paths: files with responses, or folders with results.jsonl
        output: the folder to write into; default: imported
        task: the task that the rows belong to; default: the benchmark's main task
        data: where the task's rows come from: hub, sample, or a directory; default: as for runs
        requests: the file of medtasks requests that the responses answer
        partial: score the examples that have replies, even if others have none
        missing: write the requests that have no reply to this file
    """

    paths: tuple[Path, ...]
    _: KW_ONLY
    output: Path = Path("imported")
    task: str | None = None
    data: str | None = None
    requests: Path | None = None
    partial: bool = False
    missing: Path | None = None

    def run(self) -> CommandResult | None:
        """Write each run; return where."""
        if self.requests is not None:
            return self._run_of_requests(self.requests)
        from medtasks_utils.elsewhere.saving import import_run

        files = []
        for path in self.paths:
            files += sorted(path.rglob("results.jsonl")) if path.is_dir() else [path]
        if not files:
            raise MedtasksError(f"no results.jsonl in {', '.join(map(str, self.paths))}")
        data = []
        for path in files:
            written, problems = import_run(path, self.output, self.task, self.data)
            for problem in problems:
                warn(problem)
            data.append({"run": str(path), "written": str(written), "problems": problems})
        return Printout("\n".join(str(entry["written"]) for entry in data), data)

    def _run_of_requests(self, requests: Path) -> EvalResult | None:
        """Score the responses to a file of requests."""
        from medtasks_utils.elsewhere.batch import import_responses

        evaluation, problems = import_responses(
            self.paths, requests, self.output, data=self.data, is_partial=self.partial, missing=self.missing
        )
        for problem in problems:
            warn(problem)
        return EvalResult.of(evaluation)
