"""How often the rules misread a run's responses, measured: an LLM reads a sample of them (``docs/audit.md``)."""

from medtasks_utils.audit.run import FILTERS, AuditError, audit, audit_file, disagreements, read_audit

__all__ = ["FILTERS", "AuditError", "audit", "audit_file", "disagreements", "read_audit"]
