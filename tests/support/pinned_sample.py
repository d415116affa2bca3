"""The sample's rows as a file of a GitHub repository, in the place of the one that the card names."""

import hashlib

from medtasks_utils.benchmarks.medcalc_bench.benchmark import BENCHMARK as CARD
from medtasks_utils.harness.sources import SAMPLE

REAL = CARD.data.repositories["corrected"]
CONTENT = (SAMPLE / "medcalc_bench" / "corrected.csv").read_bytes()
(_FILE,) = REAL.files
REPOSITORY = REAL._replace(files=(_FILE._replace(sha256=hashlib.sha256(CONTENT).hexdigest()),))
"""The card's, with the checksum of this file."""
SERVED = {f"/{REAL.name}/{REAL.revision}/{_FILE.path}": CONTENT}
"""The file by its path on the server."""
