"""The sample's rows as files of a GitHub repository, in the place of those that the card names."""

import hashlib

from medtasks_utils.benchmarks.base import Repository
from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.harness.sources import SAMPLE

REAL = CARD.repositories["corrected"]


CONTENT = (SAMPLE / "medcalc_bench" / "corrected.csv").read_bytes()


def repository() -> Repository:
    """The card's, with the checksums of these files."""
    (file,) = REAL.files
    return REAL._replace(files=(file._replace(sha256=hashlib.sha256(CONTENT).hexdigest()),))


def served() -> dict[str, bytes]:
    """The files by their paths on the server."""
    (file,) = REAL.files
    return {f"/{REAL.name}/{REAL.revision}/{file.path}": CONTENT}
