"""Where results go, and whether they can."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lm_eval.utils import sanitize_model_name

from medtasks_utils.errors import MedtasksError

_TRIED = 1 << 20  # bytes; a full disk refuses these too


def folder_of(output_path: str, model_name: str | None) -> Path:
    """Where the harness puts a run: beside a ``.json`` file, else in a folder named after the model."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path / sanitize_model_name(model_name or "model")


def try_folder(folder: Path, flag: str) -> None:
    """Write into a folder, and leave it as it was.

    Raises:
        MedtasksError: where that fails.
    """
    made: list[Path] = []
    try:
        made = [each for each in (folder, *folder.parents) if not os.path.exists(each)]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIED))
    except OSError as error:
        raise MedtasksError(
            f"{flag}: cannot write into {folder} ({error.strerror or error}), so the model is not asked; name another "
            "folder, or make room there"
        ) from None
    finally:
        for each in made:
            if os.path.isdir(each) and not any(each.iterdir()):
                each.rmdir()
