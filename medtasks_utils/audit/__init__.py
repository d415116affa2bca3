"""How often the reading was wrong in a run: an LLM reads some of its responses beside the rules (``docs/audit.md``)."""

from medtasks_utils.results.runs import audit_file, read_audit

from .output import as_text, is_any_read
from .run import audit, disagreements

__all__ = ["as_text", "audit", "audit_file", "disagreements", "is_any_read", "read_audit"]
