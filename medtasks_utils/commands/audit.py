"""``medtasks audit``: estimate how often the filters misread saved responses (:mod:`medtasks_utils.audit`)."""

from dataclasses import KW_ONLY, field
from itertools import chain
from pathlib import Path

from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from medtasks_utils.errors import UsageError

from .flags import CommandResult, JudgeCommand


@dataclass
class Audit(JudgeCommand):
    about = """
    Estimate how often the filters misread a run's responses, by having an LLM read a sample of them.

    Asks an LLM at an OpenAI-compatible endpoint which answer a response states. It reads the doubtful responses, in
    which a filter found no answer, the filters disagree, or the flexible filter was uncertain, and a random sample of
    the others. Writes audit_<task>_<date>.json next to each sample log. Re-run the same command after an interruption:
    readable replies are reused. Exit code 1 if no reply was readable.
    """

    runs: tuple[Path, ...]
    """result folders or files, with samples"""
    _: KW_ONLY
    model: str = field()
    """the LLM, by its name at the endpoint"""
    task: str | None = None
    """audit only this task"""
    sample: PositiveInt = 200
    """number of responses to draw per task from those that are not doubtful; default: 200"""
    doubtful: PositiveInt = 1000
    """maximum number of doubtful responses per task; default: 1000"""
    marks: Path | None = None
    """CSV of readings by a person, exported from the report's page, to compare with the LLM's"""

    def run(self) -> CommandResult:
        """Audit the runs, write the audit files, and return a summary.

        The command fails if none of the LLM's replies was readable.

        Raises:
            UsageError: if ``--model`` names several models.
        """
        from medtasks_utils.audit.auditing import audit, summary_lines
        from medtasks_utils.audit.auditor import DOUBTFUL, OTHERS
        from medtasks_utils.audit.person_marks import read_marks
        from medtasks_utils.results import read_runs

        settings = self.settings()
        if "," in settings.model:
            raise UsageError(f"an audit has one model, not {settings.model}: audit once for each")
        marks = {} if self.marks is None else read_marks(self.marks)
        limits = {DOUBTFUL: self.doubtful, OTHERS: self.sample}
        audits = audit(read_runs(self.runs), settings, limits, self.task, marks)
        strata = chain.from_iterable(audited["strata"].values() for audited in audits)
        has_failed = not any(stratum["read"] for stratum in strata)
        return CommandResult(summary_lines(audits), audits, failed=has_failed)
