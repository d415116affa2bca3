"""``medtasks audit``: how often the rules misread saved responses (:mod:`medtasks_utils.audit`)."""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import PositiveInt

from .flags import JudgeCommand, warn

if TYPE_CHECKING:
    from medtasks_utils.audit import AuditSummary


@dataclass
class Audit(JudgeCommand):
    """Measure how often the rules misread a run's responses: an LLM reads a sample of them.

    Asks an LLM, over any OpenAI-compatible endpoint, what responses state: all in which the rules found nothing or are
    least certain, and a random sample of the others. Writes audit_<task>_<date>.json beside each sample log. Started
    again, it asks only what was not answered. Exit code 1 if nothing could be read.

    Attributes:
        runs: result folders or files, with samples
        model: the LLM
        task: audit this task alone
        sample: of a task's undoubted ones; default: 200
        doubtful: of its others, at most; default: 1000
    """

    runs: tuple[Path, ...]
    _: KW_ONLY
    model: str = field()
    task: str | None = None
    sample: PositiveInt = 200
    doubtful: PositiveInt = 1000

    def run(self) -> "AuditSummary":
        """Audit the runs and write the files; the result failed if nothing could be read."""
        from medtasks_utils.audit import AuditSummary, audit
        from medtasks_utils.results import read_runs

        audits = audit(read_runs(self.runs), self.settings(), self.sample, self.doubtful, self.task, warn)
        return AuditSummary(audits)
