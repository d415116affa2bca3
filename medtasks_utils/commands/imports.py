"""``medtasks import``: import runs of the defining environments (:mod:`medtasks_utils.elsewhere.saving`)."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from .flags import Command, Printout, warn


@dataclass
class Import(Command):
    """Import runs of the defining environments (results.jsonl) as the harness's result files.

    Reads results.jsonl, as vf-eval -s writes it, scores its responses again under both filters, and writes results and
    samples as lm_eval does, for report, compare and rescore. Exit code 1 if a file's benchmark or rows cannot be
    identified.

    Attributes:
        paths: results.jsonl, or folders with such files
        output: the folder to write into; default: imported
        task: the task that the rows belong to; default: the benchmark's main task
        data: where the task's rows come from: hub, sample, or a directory; default: as for runs
    """

    paths: tuple[Path, ...]
    _: KW_ONLY
    output: Path = Path("imported")
    task: str | None = None
    data: str | None = None

    def run(self) -> Printout:
        """Write each run; return where."""
        from medtasks_utils.elsewhere.saving import import_run
        from medtasks_utils.errors import MedtasksError

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
