"""Provide the sample's rows as the pinned file of a GitHub repository, in place of the real file."""

import hashlib

from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.harness.sources import SAMPLE

REAL = CARD.data.repositories["corrected"]
CONTENT = (SAMPLE / "medcalc_bench" / "corrected.csv").read_bytes()
(_FILE,) = REAL.files
REPOSITORY = REAL._replace(files=(_FILE._replace(sha256=hashlib.sha256(CONTENT).hexdigest()),))
"""The real repository, with the checksum of the sample's file."""
SERVED = {f"/{REAL.name}/{REAL.revision}/{_FILE.path}": CONTENT}
"""The file by its path on the server."""
