"""The runs themselves: what was run with which settings, and how long it took."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Run
from medtasks_utils.results.samples import mapping
from medtasks_utils.writing import Secrets

from .tables import Block, Cell, Section, Table
from .text import to_the_minute


def with_baseline_first(runs: Sequence[Run], name: str | None, *, oldest: bool = False) -> list[Run]:
    """The runs with the one that others are compared with first, and else in their order.

    Args:
        runs: at least one.
        name: of the baseline: a run's name, its model, its results file or the folder of that; None for the first.
        oldest: whether the oldest is the baseline where none is named.

    Raises:
        MedtasksError: where no run, or more than one, goes by that name.
    """
    if name is None:
        found = [min(runs, key=lambda run: run.date) if oldest else runs[0]]
    else:
        place = Path(name).resolve()
        found = [run for run in runs if run.name == name] or [
            run for run in runs if run.model == name or run.path.resolve().is_relative_to(place)
        ]
        if len(found) != 1:
            many = f"{len(found)} runs are" if found else "no run is"
            raise MedtasksError(f"{many} named {name!r}; --baseline takes one of {', '.join(run.name for run in runs)}")
    return [found[0], *(run for run in runs if run is not found[0])]


def runs_section(runs: Sequence[Run]) -> Section:
    """A row per run."""
    rows = {run.name: _settings(run) for run in runs}
    heads = [head for head in next(iter(rows.values())) if any(own[head] != Cell("") for own in rows.values())]
    table = Table("Settings of each run", ["Run", *heads], texts=1 + len(heads))
    table.rows = [[Cell(run), *(own[head] for head in heads)] for run, own in rows.items()]
    return Section("runs", "Runs", "", "", [Block("Settings and time", table)])


def _settings(run: Run) -> dict[str, Cell]:
    kind = str(run.setting("model") or "")
    # the harness writes how long it took as text
    date, seconds = (float(run.results.get(name) or 0) for name in ("date", "total_evaluation_time_seconds"))
    started = (
        datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d %H:%M UTC") if date else to_the_minute(run.date)
    )
    tokens = mapping(mapping(run.results.get("medtasks")).get("tokens"))
    ways = {"prompt": "in", "completion": "out"}
    return {
        "Model": Cell(run.model, kind if kind != run.model else ""),
        "Model arguments": Cell("", code=_arguments(run.setting("model_args"))),
        "Generation settings": Cell("", code=_arguments(run.setting("gen_kwargs"))),
        "Started": Cell(started),
        "Duration": Cell(str(timedelta(seconds=round(seconds))) if seconds else ""),
        "Tokens": Cell(" · ".join(f"{tokens[name]:,} {way}" for name, way in ways.items() if tokens.get(name))),
        "Examples": Cell(f"{sum(len(task.samples) for task in run.tasks.values()):,}"),
        "Limit": Cell(str(run.setting("limit") or "")),
        "lm_eval": Cell(str(run.results.get("lm_eval_version") or "")),
    }


def _arguments(value: Any) -> str:
    """Arguments as on the command line, without keys."""
    text = value if isinstance(value, str) else ",".join(f"{name}={item}" for name, item in mapping(value).items())
    secrets = Secrets()
    secrets.learn(dict(part.partition("=")[::2] for part in text.split(",")))
    return str(secrets.scrub(text))
