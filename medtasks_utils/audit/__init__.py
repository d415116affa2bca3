"""How often the reading was wrong in a run: an LLM reads some of its responses beside the rules (``docs/audit.md``)."""

from medtasks_utils.results.runs import audit_file, read_audit

from .output import AuditSummary
from .run import audit, disagreements

__all__ = ["AuditSummary", "audit", "audit_file", "disagreements", "read_audit"]
