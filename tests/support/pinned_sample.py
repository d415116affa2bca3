"""The sample's rows as files of a GitHub repository, in the place of those that the card names."""

import hashlib

from medtasks_utils.benchmarks.base import Repository
from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.harness.sources import SAMPLE

REAL = CARD.repositories["corrected"]


def contents() -> dict[str, bytes]:
    """By the name under which they are kept: the corrected rows."""
    return {"corrected.csv": (SAMPLE / "medcalc_bench" / "corrected.csv").read_bytes()}


def repository() -> Repository:
    """The card's, with the checksums of these files."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents().items()}
    return REAL._replace(files=tuple(file._replace(sha256=sums[file.name]) for file in REAL.files))


def served() -> dict[str, bytes]:
    """The files by their paths on the server."""
    return {f"/{REAL.name}/{REAL.revision}/{file.path}": contents()[file.name] for file in REAL.files}
