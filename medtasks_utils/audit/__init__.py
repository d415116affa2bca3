"""How often the reading was wrong in a run: an LLM reads some of its responses beside the rules (``docs/audit.md``)."""

from medtasks_utils.audit.run import FILTERS, audit, disagreements
from medtasks_utils.results.audits import audit_file, read_audit

__all__ = ["FILTERS", "audit", "audit_file", "disagreements", "read_audit"]
