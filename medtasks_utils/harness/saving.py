"""Results that reach a disk: the place is tried before the model runs, and another is taken if it fails at the end."""

from __future__ import annotations

import errno
import glob
import json
import logging
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlitedict
from lm_eval.loggers import EvaluationTracker
from lm_eval.utils import sanitize_model_name

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.secrets import without

A_DATE = "2026-01-31T12-00-00.123456"
"""As results files have it."""
_TRIED = 1 << 20  # bytes; a full disk refuses these too


def folder_of(output_path: str, model_name: str | None) -> Path:
    """Where the harness puts a run: beside a ``.json`` file, else in a folder named after the model."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path / sanitize_model_name(model_name or "model")


def file_of(output_path: str, date: str) -> str:
    """The name of a run's results file, as the harness makes it."""
    path = Path(output_path)
    return f"{path.stem}_{date}.json" if path.suffix == ".json" else f"results_{date}.json"


def try_folder(folder: Path, flag: str, name: str = "") -> None:
    """Write into a folder, see whether it takes a file of that name, and leave it as it was; else a MedtasksError."""
    made: list[Path] = []
    try:
        made = [each for each in (folder, *folder.parents) if not os.path.exists(each)]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIED))
        with suppress(FileNotFoundError):
            os.stat(folder / name)
    except OSError as error:
        way_out = "name another folder, or make room there"
        if error.errno == errno.ENAMETOOLONG:
            way_out = "name a shorter one; --output_path results/run.json goes without the model's name"
        raise MedtasksError(
            f"{flag}: cannot write into {folder} ({error.strerror or error}), so the model is not asked; {way_out}"
        ) from None
    finally:
        for each in made:
            if os.path.isdir(each) and not any(each.iterdir()):
                each.rmdir()


def try_cache(path: str) -> None:
    """See whether ``--use_cache`` can work: its files can be written, and all that is in them read.

    Raises:
        MedtasksError: where they cannot, or are something else.
    """
    file = Path(f"{path}_rank0.db")
    try_folder(file.parent, "--use_cache", f"{file.name}-journal")
    for each in sorted(file.parent.glob(f"{glob.escape(Path(path).name)}_rank*.db")):
        _try_cache_file(each)


def _try_cache_file(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            head = opened.read(16)
    except OSError as error:
        raise MedtasksError(f"--use_cache: {file} cannot be read ({error.strerror or error}); name another") from None
    if not os.access(file, os.W_OK):
        raise MedtasksError(f"--use_cache: {file} cannot be written; name another, or make it writable")
    if head and head != b"SQLite format 3\0":
        raise MedtasksError(f"--use_cache: {file} is no cache of lm_eval; name another, or move that file away")
    try:
        _read_through(file)
    except Exception as error:  # of SQLite, or of pickle, which raises almost anything
        raise MedtasksError(
            f"--use_cache: {file} is damaged ({' '.join(str(error).split()) or type(error).__name__}): move it away, "
            f"and all is asked again, or save what is whole with sqlite3 {file} .recover | sqlite3 whole_rank0.db and "
            "take --use_cache whole"
        ) from None


def _read_through(file: Path) -> None:
    """Read every page and every answer of a cache; one that another run is writing to is let be."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as database:
        try:
            (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if said != "ok":
                raise sqlite3.DatabaseError(said)
            if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'unnamed'").fetchone():
                for (answer,) in database.execute("SELECT value FROM unnamed"):
                    sqlitedict.decode(answer)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise


class CarefulTracker(EvaluationTracker):  # type: ignore[misc]
    """Saves as the harness does, notices when that fails, and then saves elsewhere.

    Attributes:
        results: what was to be saved; None until then.
        extra: gives what is put into the results under ``medtasks``, where there is anything.
        secrets: texts that are not to be in the results.
        problem: what went wrong, as a line with what became of the results; None if all is well.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.output_path: str | None = settings.get("output_path")
        self.results: dict[str, Any] | None = None
        self.extra: Callable[[], dict[str, Any]] = dict
        self.secrets: Collection[str] = ()
        self.problem: str | None = None
        self._samples: Mapping[str, list[dict[str, Any]]] = {}
        self._is_elsewhere = False

    @property
    def saved(self) -> Path | None:
        """The results file; None if there is none."""
        if not self.output_path or not hasattr(self, "date_id"):
            return None
        folder = folder_of(self.output_path, self.general_config_tracker.model_name)
        file = folder / file_of(self.output_path, self.date_id)
        return file if _is_whole(file) else None

    def save_results_aggregated(self, results: dict[str, Any], samples: Any = None) -> None:
        """Save the results; ``samples`` are those that :meth:`save_results_samples` will be given one by one."""
        if self.secrets:
            results = without(self.secrets, results)
        self.results, self._samples = results, samples or {}
        extra = self.extra()
        if extra:
            results["medtasks"] = extra
        with _swallowed() as errors:
            super().save_results_aggregated(results, samples)
        if errors:
            self._mend(errors[0])

    def save_results_samples(self, task_name: str, samples: Any) -> None:
        """Save one task's samples."""
        if self._is_elsewhere:
            return
        with _swallowed() as errors:
            super().save_results_samples(task_name, samples)
        if errors:
            self._mend(errors[0])

    def _mend(self, error: BaseException) -> None:
        reason = " ".join(str(error.strerror if isinstance(error, OSError) and error.strerror else error).split())
        if self.saved and not isinstance(error, OSError | TypeError | ValueError):
            self.problem = f"the results are in {self.saved.parent}, but did not reach the hub: {reason}"
            return
        wanted, self._is_elsewhere, self.api = self.output_path, True, None
        for place in (Path.cwd(), Path(tempfile.gettempdir())):
            self.output_path = str(place / f"medtasks_results_{time.strftime('%Y%m%dT%H%M%S')}")
            if self._save_all():
                self.problem = (
                    f"the results could not be saved in {wanted} ({reason}); they are in {self.output_path} instead"
                )
                return
        self.output_path = None
        self.problem = f"the results could not be saved in {wanted} ({reason}), nor in this folder, nor in {place}"

    def _save_all(self) -> bool:
        with _swallowed() as errors:
            super().save_results_aggregated(self.results, self._samples)
            for task, samples in self._samples.items():
                for sample in samples:
                    if isinstance(sample["arguments"], dict):  # as the first try has left them
                        sample["arguments"] = [tuple(each.values()) for each in sample["arguments"].values()]
                super().save_results_samples(task, samples)
        return not errors


def _is_whole(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return True


@contextmanager
def _swallowed() -> Iterator[list[BaseException]]:
    """The errors that ``EvaluationTracker`` meets, which it logs and forgets; its lines on them are not shown."""
    found: list[BaseException] = []
    log = logging.getLogger("lm_eval.loggers.evaluation_tracker")
    shown_from, own_level = log.getEffectiveLevel(), log.level

    def keep(record: logging.LogRecord) -> bool:
        error = sys.exc_info()[1]
        if error is not None and record.getMessage().startswith("Could not save"):
            found.append(error)
        return error is None and record.levelno >= shown_from

    log.addFilter(keep)
    log.setLevel(logging.INFO)
    try:
        yield found
    finally:
        log.setLevel(own_level)
        log.removeFilter(keep)
