"""Build the tables about the numbers: how replies ended, the runs' settings and durations, and the signatures."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from medtasks_utils.filters import STRICT
from medtasks_utils.results import Run
from medtasks_utils.results.samples import ENDINGS, mapping
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import ACC
from medtasks_utils.statistics.score_arrays import concatenate
from medtasks_utils.writing import Secrets

from .board import shown
from .drawing import between
from .report_tables import Cell, ReportTable
from .topics import Topic

_LEAD = (
    "A reply that was cut usually has no answer, which says nothing about the model's knowledge: if many were cut, "
    "increase max_gen_toks. The accuracy of finished replies covers those that ended by themselves, which are usually "
    "the easier ones."
)


def replies_table(topics: Sequence[Topic]) -> ReportTable:
    """Return a table with a row for each topic of a benchmark and each run whose samples say how replies ended."""
    heads = ["Benchmark", "Run", "Replies", *ENDINGS, "acc of finished", "median tokens", "90 % below", "maximum"]
    table = ReportTable("How replies ended (%), and their tokens", heads, texts=2, lead=_LEAD)
    for topic in topics:
        finished = topic.values.get((STRICT, "acc_finished"))
        for run, result in topic.sampled.items() if topic.benchmark_name else ():
            endings = Counter(ending for sample in result.samples for ending in sample.endings)
            if not endings.keys() - {"unknown"}:
                continue
            total = endings.total()
            shares = [f"{100 * endings[ending] / total:.1f}" for ending in ENDINGS]
            accuracy = ACC.shown(finished.estimates[run].value if finished else None)
            counts = [count for sample in result.samples for count in sample.tokens if count is not None]
            tokens = [f"{count:,.0f}" for count in np.quantile(counts, [0.5, 0.9, 1.0])] if counts else ["–"] * 3
            table.rows.append([topic.label, run, f"{total:,}", *shares, accuracy, *tokens])
    return table


def abstention_table(topics: Sequence[Topic], filter_name: str) -> ReportTable:
    """Return a table of the cost of abstaining, with the numbers that the benchmark declares, for each run."""
    table = ReportTable("The cost of abstaining", [], texts=2)
    for topic in topics:
        abstention = topic.facts.abstention
        if abstention is None or filter_name not in topic.filters:
            continue
        table.head, table.lead = ["Benchmark", "Run", *(one.name for one in abstention.rows)], abstention.lead
        for run, result in topic.sampled.items():
            row: list[str | Cell] = [topic.label, run]
            for one in abstention.rows:
                values = topic.values[filter_name, one.metric]
                metric, found = values.metric, values.estimates[run]
                if one.rescore:
                    scores = [task.rescored(filter_name, one.rescore) for task in result.tasks]
                    found = estimate(concatenate(scores), metric)
                score = shown(found, metric)
                row.append(Cell(metric.shown(found.value), between(score.low, score.high) if score else ""))
            table.rows.append(row)
    return table


def signature_table(topics: Sequence[Topic]) -> ReportTable:
    """Return the signatures of all numbers; numbers of one benchmark with equal signatures are comparable."""
    runs_by_signatures: dict[str, list[str]] = defaultdict(list)
    for topic in topics:
        for run, result in topic.results.items():
            for filter_name in topic.filters:
                runs_by_signatures["\n".join(result.signatures(filter_name))].append(run)
    runs_by_signatures.pop("", None)
    rows: list[list[str | Cell]] = [[", ".join(names), text] for text, names in runs_by_signatures.items()]
    title = "Signatures: everything that two numbers must share to be comparable"
    return ReportTable(title, ["Run", "Signature"], rows, texts=2)


def settings_table(runs: Sequence[Run]) -> ReportTable:
    """Return a table with the settings of each run, without columns that are unknown for all runs."""
    settings = list(map(_settings, runs))
    heads = [head for head in settings[0] if any(of_run[head] for of_run in settings)]
    rows: list[list[str | Cell]] = [list(map(of_run.__getitem__, heads)) for of_run in settings]
    return ReportTable("Settings of each run", heads, rows, texts=len(heads))


def _settings(run: Run) -> dict[str, str]:
    """Return the name and the settings of a run by column head; an empty string for an unknown setting."""
    backend = str(run.setting("model") or "")
    date, seconds = run.seconds("date"), run.seconds("total_evaluation_time_seconds")
    tokens = run.spent("tokens")
    shown_tokens = {"in": tokens["prompt"], "out": tokens["completion"]}
    return {
        "Run": run.name,
        "Model": run.model if backend in ("", run.model) else f"{run.model} ({backend})",
        "Model arguments": _arguments(run.setting("model_args")),
        "Generation settings": _arguments(run.setting("gen_kwargs")),
        "Started": datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d %H:%M UTC") if date else "",
        "Duration": str(timedelta(seconds=round(seconds))) if seconds else "",
        "GPUs": _cost(run),
        "Tokens": " · ".join(f"{count:,} {label}" for label, count in shown_tokens.items() if count),
    }


def _cost(run: Run) -> str:
    """Return the GPU time of a run in a sweep, in all and per right answer, as far as known."""
    seconds = run.spent("cost")["gpu_seconds"]
    right = sum(task.scores(STRICT, "acc").numerators.sum() for task in run.tasks.values())
    parts = {
        f"{seconds / 3600:.2f} h": seconds,
        f"{seconds / (right or 1):.2g} s per right answer": seconds * right,
    }
    return " · ".join(text for text, is_known in parts.items() if is_known)


def _arguments(value: Any) -> str:
    """Format arguments as on the command line, without API keys."""
    text = value if isinstance(value, str) else ",".join(f"{name}={item}" for name, item in mapping(value).items())
    secrets = Secrets()
    secrets.learn(dict(part.partition("=")[::2] for part in text.split(",")))
    return str(secrets.scrub(text))
