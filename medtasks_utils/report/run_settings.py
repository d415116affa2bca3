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
from .text import to_the_minute


def with_baseline_first(runs: Sequence[Run], name: str | None, *, oldest: bool = False) -> list[Run]:
    """Return the runs with the baseline first, and the others in their order.

    Args:
        runs: one or more runs.
        name: the baseline's name, model, results file, or folder of that file; None for the first run.
        oldest: True to use the oldest run instead of the first if ``name`` is None.

    Raises:
        MedtasksError: if no run matches the name, or more than one.
    """
    if name is None:
        matching = [min(runs, key=lambda run: run.date) if oldest else runs[0]]
    else:
        place = Path(name).resolve()
        matching = [run for run in runs if run.name == name] or [
            run for run in runs if run.model == name or run.path.resolve().is_relative_to(place)
        ]
        if len(matching) != 1:
            problem = f"{len(matching)} runs match" if matching else "no run matches"
            names = ", ".join(run.name for run in runs)
            raise MedtasksError(f"{problem} {name!r}; --baseline must be one of {names}")
    return [matching[0], *(run for run in runs if run is not matching[0])]


def settings_table(runs: Sequence[Run]) -> ReportTable:
    """Return a table with the settings of each run, without columns that are unknown for all runs."""
    settings = {run.name: _settings(run) for run in runs}
    heads = [head for head in next(iter(settings.values())) if any(by_head[head] for by_head in settings.values())]
    table = ReportTable("Settings of each run", ["Run", *heads], texts=1 + len(heads), folded=True)
    for run, by_head in settings.items():
        table.rows.append([Cell(run), *(Cell(by_head[head]) for head in heads)])
    return table


def _settings(run: Run) -> dict[str, str]:
    """Return the settings of a run by column head; an empty string for an unknown setting."""
    backend = str(run.setting("model") or "")
    # the harness writes the duration as text
    date, seconds = (float(run.results.get(name) or 0) for name in ("date", "total_evaluation_time_seconds"))
    started = (
        datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d %H:%M UTC") if date else to_the_minute(run.date)
    )
    tokens = mapping(mapping(run.results.get("medtasks")).get("tokens"))
    labels = {"prompt": "in", "completion": "out"}
    limit = run.setting("limit")
    return {
        "Model": run.model if backend in ("", run.model) else f"{run.model} ({backend})",
        "Model arguments": _arguments(run.setting("model_args")),
        "Generation settings": _arguments(run.setting("gen_kwargs")),
        "Started": started,
        "Duration": str(timedelta(seconds=round(seconds))) if seconds else "",
        "GPUs": _cost(run),
        "Tokens": " · ".join(f"{tokens[name]:,} {label}" for name, label in labels.items() if tokens.get(name)),
        "Examples": f"{sum(len(task.samples) for task in run.tasks.values()):,}",
        "Limit": f"{limit:g}" if isinstance(limit, int | float) else "",
        "lm_eval": str(run.results.get("lm_eval_version") or ""),
    }


def _cost(run: Run) -> str:
    """Return the GPU time and energy of a run in a sweep, and the GPU time per right answer, as text."""
    cost = mapping(mapping(run.results.get("medtasks")).get("cost"))
    seconds, joules = (float(cost.get(name) or 0) for name in ("gpu_seconds", "joules"))
    right = sum(float(task.scores(STRICT, "acc").numerators.sum()) for task in run.tasks.values())
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
