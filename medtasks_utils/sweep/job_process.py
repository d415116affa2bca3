"""The process of a job: ``python -m …job_process FOLDER eval …``.

It runs ``medtasks`` and records the exit code itself, so that a job that finishes after its sweep was killed is not run
again.
"""

import runpy
import sys
from pathlib import Path

from .records import note_end

if __name__ == "__main__":
    folder = Path(sys.argv.pop(1))
    try:
        runpy.run_module("medtasks_utils", run_name="__main__")
    except SystemExit as end:
        sys.stderr.flush()
        note_end(folder, int(end.code or 0))
        raise
