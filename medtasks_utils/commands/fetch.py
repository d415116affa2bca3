"""``medtasks fetch``: all that a machine without internet will need (:mod:`medtasks_utils.harness.downloads`)."""

import os
from dataclasses import dataclass

from .flags import Command, Printout


@dataclass(kw_only=True)
class Fetch(Command):
    """Download all that a machine without internet will need.

    Downloads the data sets and SciBERT into the hub's cache (HF_HOME), WordNet and Punkt's sentence model (punkt_tab)
    into NLTK's folder (NLTK_DATA), and loads each as a run does. What is there already is kept, so that a fetch that
    was stopped goes on with the rest. Then runs need no internet: set HF_HUB_OFFLINE=1. Exit code 1 if anything is
    missing.

    Attributes:
        only: some of what is listed without it, with commas between; default: all
        check: download nothing, and say what is missing
    """

    only: str | None = None
    check: bool = False

    def run(self) -> Printout:
        """Fetch or check; the result failed if anything is missing."""
        if self.check:
            os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's client, which reads it once, is imported
        from huggingface_hub.errors import HfHubHTTPError

        from medtasks_utils.errors import MedtasksError, UsageError, reason_of
        from medtasks_utils.harness import downloads
        from medtasks_utils.writing import table

        items = list(downloads.items())
        known = [item.name for item in items]
        wanted = self.only.split(",") if self.only else known
        if not set(wanted) <= set(known):
            raise UsageError(f"--only takes some of {', '.join(dict.fromkeys(known))}, not {self.only}")
        data, rows = [], []
        for item in (item for item in items if item.name in wanted):
            missing = None
            try:
                item.load()
            except (MedtasksError, OSError, *HfHubHTTPError.__bases__) as error:  # whichever HTTP library it uses
                missing = reason_of(error)
            data.append({"name": item.name, "origin": item.origin, "missing": missing})
            rows.append((item.name, item.origin, f"MISSING  {missing}" if missing else "there"))
        lacking = sum(entry["missing"] is not None for entry in data)
        text = f"{table(rows, left=3)}\n{len(data) - lacking} of {len(data)} there"
        return Printout(text, data, failed=lacking > 0)
