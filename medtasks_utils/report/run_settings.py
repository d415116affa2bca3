"""Build the table of the runs' settings and durations, and choose the baseline."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import STRICT
from medtasks_utils.results import Run
from medtasks_utils.results.samples import mapping
from medtasks_utils.writing import Secrets

from .report_tables import Cell, ReportTable


def with_baseline_first(runs: Sequence[Run], name: str) -> list[Run]:
    """Return the runs with the baseline first, and the others in their order.

    Args:
        runs: one or more runs.
        name: the baseline's name, model, results file, or a folder that contains this file and no other run.

    Raises:
        MedtasksError: if no run matches the name, or more than one.
    """
    place = Path(name).resolve()
    matching = [run for run in runs if name in (run.name, run.model) or run.path.resolve().is_relative_to(place)]
    if len(matching) != 1:
        names = ", ".join(run.name for run in runs)
        raise MedtasksError(f"{len(matching)} runs match {name!r}; --baseline and --compare must name one of {names}")
    return sorted(runs, key=lambda run: run is not matching[0])


def settings_table(runs: Sequence[Run]) -> ReportTable:
    """Return a table with the settings of each run, without columns that are unknown for all runs."""
    settings = list(map(_settings, runs))
    heads = [head for head in settings[0] if any(of_run[head] for of_run in settings)]
    rows = [[Cell(of_run[head]) for head in heads] for of_run in settings]
    return ReportTable("Settings of each run", heads, rows, texts=len(heads), folded=True)


def _settings(run: Run) -> dict[str, str]:
    """Return the name and the settings of a run by column head; an empty string for an unknown setting."""
    backend = str(run.setting("model") or "")
    # the harness writes the duration as text
    date, seconds = (float(run.results.get(name) or 0) for name in ("date", "total_evaluation_time_seconds"))
    tokens = run.spent("tokens")
    return {
        "Run": run.name,
        "Model": run.model if backend in ("", run.model) else f"{run.model} ({backend})",
        "Model arguments": _arguments(run.setting("model_args")),
        "Generation settings": _arguments(run.setting("gen_kwargs")),
        "Started": datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d %H:%M UTC") if date else "",
        "Duration": str(timedelta(seconds=round(seconds))) if seconds else "",
        "GPUs": _cost(run),
        "Tokens": " · ".join(
            f"{tokens[name]:,} {label}" for name, label in (("prompt", "in"), ("completion", "out")) if tokens[name]
        ),
    }


def _cost(run: Run) -> str:
    """Return the GPU time and energy of a run in a sweep, and the GPU time per right answer, as far as known."""
    cost = run.spent("cost")
    seconds, joules = cost["gpu_seconds"], cost["joules"]
    right = sum(task.scores(STRICT, "acc").numerators.sum() for task in run.tasks.values())
    parts = {
        f"{seconds / 3600:.2f} h": seconds,
        f"{joules / 3.6e6:.2f} kWh": joules,
        f"{seconds / (right or 1):.2g} s per right answer": seconds * right,
    }
    return " · ".join(text for text, is_known in parts.items() if is_known)


def _arguments(value: Any) -> str:
    """Format arguments as on the command line, without API keys."""
    text = value if isinstance(value, str) else ",".join(f"{name}={item}" for name, item in mapping(value).items())
    secrets = Secrets()
    secrets.learn(dict(part.partition("=")[::2] for part in text.split(",")))
    return str(secrets.scrub(text))
