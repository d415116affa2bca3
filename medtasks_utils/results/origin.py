"""Which benchmark a saved task is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from medtasks_utils.benchmarks import cards

# Runs saved by version 0.1 name the class that scored them; without a configuration, only the task's name is left.
_SCORER = re.compile(r"medtasks_utils\.(?:benchmarks\.)?(\w+)\.")
_TASK_NAME = re.compile(r"(medmcqa)_openmed|(medexqa)(?:_\w+)?|(medcalc_bench)(?:_\w+)?|(medhallu)(?:_\w+)?")


def benchmark_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The benchmark that a task belongs to, or None if it is not one of this pack.

    The harness has tasks of its own with such names, so the name counts only where the run's configuration is lost.

    Args:
        task: its name.
        config: as the results have it; ``metadata.benchmark`` says it.
    """
    metadata = config.get("metadata")
    named = metadata.get("benchmark") if isinstance(metadata, Mapping) else None
    if named is None and config:
        match = _SCORER.match(str(config.get("process_results")))
        named = match[1] if match else None
    elif named is None:
        match = _TASK_NAME.fullmatch(task)
        named = next((name for name in match.groups() if name), None) if match else None
    return named if named in cards() else None
