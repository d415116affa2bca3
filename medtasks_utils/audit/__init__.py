"""Estimate how often answers were misread in a run, by having an LLM read a sample of its responses
(``docs/audit.md``)."""

from medtasks_utils.results.runs import audit_file, read_audit

from .audit_summary import AuditSummary
from .auditing import audit, disagreements

__all__ = ["AuditSummary", "audit", "audit_file", "disagreements", "read_audit"]
