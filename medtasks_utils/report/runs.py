"""The runs themselves: what was run with which settings, how long it took, and how long responses are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from medtasks_utils.report.outcomes import OUTCOMES, outcome
from medtasks_utils.report.tables import Block, Cell, Section, Table, named_once
from medtasks_utils.report.text import to_the_minute
from medtasks_utils.report.units import Unit
from medtasks_utils.results import ResultsError, Run, Sample
from medtasks_utils.results.samples import mapping, number

_SECRET = re.compile(r"(?i)\b([\w-]*(?:api_?key|token|secret|password|authorization)[\w-]*)(['\"]?\s*[=:]\s*)[^\s,;}]+")
_MINUTE, _HOUR = 60, 3600
_TOKENS = {
    "in": ("prompt", "prompt_tokens", "input_tokens"),
    "out": ("completion", "completion_tokens", "output_tokens"),
}
_LATENCY = ("latency", "latency_s", "latency_seconds", "seconds", "duration")


def with_baseline_first(runs: Sequence[Run], name: str | None, *, oldest: bool = False) -> list[Run]:
    """The runs with the one that others are compared with first, and else in their order.

    Args:
        runs: at least one.
        name: of the baseline: a run's name, its model, its results file or the folder of that; None for the first.
        oldest: whether the oldest is the baseline where none is named.

    Raises:
        ResultsError: where no run, or more than one, goes by that name.
    """
    if name is None:
        first = min(runs, key=lambda run: run.date) if oldest else runs[0]
    else:
        place = Path(name).resolve()
        found = [run for run in runs if run.name == name] or [
            run for run in runs if run.model == name or place in (run.path.resolve(), *run.path.resolve().parents)
        ]
        if len(found) != 1:
            many = f"{len(found)} runs are" if found else "no run is"
            raise ResultsError(f"{many} named {name!r}; --baseline takes one of {', '.join(run.name for run in runs)}")
        first = found[0]
    return [first, *(run for run in runs if run is not first)]


def runs_section(runs: Sequence[Run], units: Sequence[Unit]) -> Section:
    """A row per run, and the length of responses by outcome."""
    blocks = [Block("Settings and time", "", [], [_settings(runs)]), *_lengths(units)]
    return Section("runs", "Runs", "", "", blocks)


def _settings(runs: Sequence[Run]) -> Table:
    rows = {
        "Model": [_model(run) for run in runs],
        "Model arguments": [Cell("", code=_arguments(run.setting("model_args"))) for run in runs],
        "Generation settings": [Cell("", code=_arguments(run.setting("gen_kwargs"))) for run in runs],
        "Started": [Cell(_started(run)) for run in runs],
        "Duration": [Cell(_duration(_number_of(run.results.get("total_evaluation_time_seconds")))) for run in runs],
        "Tokens": [Cell(_tokens(run)) for run in runs],
        "Latency of a request, median": [Cell(_latency(run)) for run in runs],
        "Examples": [Cell(f"{sum(len(task.samples) for task in run.tasks.values()):,}") for run in runs],
        "Limit": [Cell(str(limit) if (limit := run.setting("limit")) is not None else "") for run in runs],
        "Batch size": [Cell(str(size) if (size := run.setting("batch_size")) is not None else "") for run in runs],
        "Versions": [Cell(_versions(run)) for run in runs],
    }
    table = Table("Settings of each run", ["Run", *rows], text_columns=frozenset(range(len(rows) + 1)))
    for place, run in enumerate(runs):
        table.rows.append([Cell(run.name), *(cells[place] for cells in rows.values())])
    return table.without_empty_columns()


def _model(run: Run) -> Cell:
    kind = run.setting("model")
    return Cell(run.model, kind if isinstance(kind, str) and kind != run.model else "")


def _arguments(value: Any) -> str:
    """Arguments as on the command line, without keys."""
    if isinstance(value, Mapping):
        value = ",".join(f"{name}={item}" for name, item in value.items())
    return _SECRET.sub(r"\1\2…", str(value)) if value else ""


def _started(run: Run) -> str:
    seconds = _number_of(run.results.get("date"))
    if seconds is None:
        return to_the_minute(run.date)
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _number_of(value: Any) -> float | None:
    """A number, or the number that a string holds."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return number(value)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"
    return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"


def _samples(run: Run) -> Iterable[Sample]:
    return (sample for task in run.tasks.values() for sample in task.samples)


def _tokens(run: Run) -> str:
    """Tokens asked and answered, where the run counted them in all or for each example."""
    found = dict.fromkeys(_TOKENS, 0.0)
    own = mapping(mapping(run.results.get("medtasks")).get("tokens"))
    for counts in [own, mapping(run.results.get("usage")), *(usage for s in _samples(run) for usage in _usages(s))]:
        for way, names in _TOKENS.items():
            found[way] += next((n for name in names if (n := _number_of(counts.get(name))) is not None), 0)
    return " · ".join(f"{count:,.0f} {way}" for way, count in found.items() if count)


def _usages(sample: Sample) -> list[Mapping[str, Any]]:
    """What servers count of each generation of an example."""
    details = next(iter(sample.details.values()), {})
    usage = details.get("usage", details.get("tokens"))
    usages = usage if isinstance(usage, list) else [usage]
    return [one for one in usages if isinstance(one, Mapping)]


def _latency(run: Run) -> str:
    """Seconds from a request to its reply: of the run as a whole, else of its examples."""
    own = _number_of(mapping(mapping(run.results.get("medtasks")).get("latency")).get("median"))
    if own is not None:
        return f"{own:.2f} s"
    found = []
    for sample in _samples(run):
        details = next(iter(sample.details.values()), {})
        seconds = next((n for name in _LATENCY if (n := _number_of(details.get(name))) is not None), None)
        if seconds is not None:
            found.append(seconds)
    return f"{median(found):.2f} s" if found else ""


def _versions(run: Run) -> str:
    names = {"lm_eval_version": "lm_eval", "transformers_version": "transformers"}
    return ", ".join(f"{name} {run.results[key]}" for key, name in names.items() if run.results.get(key))


def _lengths(units: Sequence[Unit]) -> list[Block]:
    """The median length of responses, for each benchmark, run and outcome."""
    table = Table("Length of responses by outcome (median characters)", ["Benchmark", "Run", "all", *OUTCOMES])
    table.text_columns = frozenset({0, 1})
    for unit in units:
        for row, (run, samples) in enumerate(unit.samples().items() if unit.benchmark else ()):
            by_outcome: dict[str, list[int]] = {}
            for sample in samples:
                by_outcome.setdefault(outcome(sample) or "", []).extend(map(len, sample.responses))
            every = [length for lengths in by_outcome.values() for length in lengths]
            if every:
                parts = [every, *(by_outcome.get(name, []) for name in OUTCOMES)]
                table.rows.append([named_once(unit.label, row), Cell(run), *map(_median, parts)])
    return [Block("Length of responses", "", [], [table.without_empty_columns()])] if table.rows else []


def _median(lengths: Sequence[int]) -> Cell:
    return Cell(f"{median(lengths):,.0f}", f"of {len(lengths):,}") if lengths else Cell("")
