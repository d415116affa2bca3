"""How often the rules misread a run's responses, measured: an LLM reads a sample of them (``docs/audit.md``).

>>> from medtasks_utils.audit import read_audit
>>> read_audit(task.samples_path)["filters"]["strict-match"]["misread"]         # doctest: +SKIP
{'value': 0.021, 'low': 0.012, 'high': 0.035}
"""

from medtasks_utils.audit.run import FILTERS, AuditError, audit, audit_file, disagreements, read_audit

__all__ = ["FILTERS", "AuditError", "audit", "audit_file", "disagreements", "read_audit"]
