"""``medtasks fetch``: download all that an offline machine needs (:mod:`medtasks_utils.harness.downloads`)."""

import os

from pydantic.dataclasses import dataclass

from .flags import Command, CommandResult


@dataclass(kw_only=True)
class Fetch(Command):
    about = """
    Download everything that runs need, for a machine without internet access.

    Downloads the data sets and SciBERT to the Hub's cache (HF_HOME), and WordNet and Punkt's sentence model (punkt_tab)
    to NLTK's folder (NLTK_DATA), and loads each of them as a run does. Complete downloads are kept, so an interrupted
    fetch continues where it stopped. Afterwards set HF_HUB_OFFLINE=1 to run without internet access. Exit code 1 if
    anything is missing.
    """

    only: str | None = None
    """comma-separated names of the items to fetch, as fetch lists them; default: all"""
    check: bool = False
    """download nothing, only list missing items"""

    def run(self) -> CommandResult:
        """Download the selected items, and return a table of them. The command fails if any of them is missing.

        With ``--check``, nothing is downloaded.
        """
        if self.check:
            os.environ["HF_HUB_OFFLINE"] = "1"  # the Hub's client reads it once, when it is imported
        from huggingface_hub.errors import LocalEntryNotFoundError

        from medtasks_utils.errors import NotDownloadedError, UsageError, reason_of
        from medtasks_utils.harness import downloads
        from medtasks_utils.writing import table

        items = list(downloads.items())
        known = [item.name for item in items]
        selected = self.only.split(",") if self.only else known
        if not set(selected) <= set(known):
            raise UsageError(f"--only must name one or more of {', '.join(dict.fromkeys(known))}, not {self.only}")
        data, rows = [], []
        for item in items:
            if item.name not in selected:
                continue
            missing = None
            try:
                item.load()
            except Exception as error:  # of the Hub's client, of NLTK, of the HTTP library in use
                is_absent = isinstance(error, NotDownloadedError | LocalEntryNotFoundError)
                missing = "not on this machine" if self.check and is_absent else reason_of(error)
            data.append({"name": item.name, "origin": item.origin, "missing": missing})
            rows.append((item.name, item.origin, f"MISSING  {missing}" if missing else "there"))
        complete = sum(entry["missing"] is None for entry in data)
        way_on = "; medtasks fetch downloads the missing ones" * (self.check and complete < len(data))
        lines = [table(rows, left=range(3)), f"{complete} of {len(data)} are complete{way_on}"]
        return CommandResult(lines, data, failed=complete < len(data))
