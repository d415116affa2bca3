"""What ``medtasks audit`` found in a run, in a file beside its sample log (``docs/audit.md``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def audit_file(samples: Path) -> Path:
    """Where the audit of a sample log is kept."""
    return samples.with_name(f"audit_{samples.stem.removeprefix('samples_')}.json")


def read_audit(samples: Path | None) -> dict[str, Any] | None:
    """The audit of a sample log, as in ``docs/audit.md``; None where there is none, or no log."""
    path = audit_file(samples) if samples else None
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else None
