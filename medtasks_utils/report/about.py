"""Collect facts about the runs: finish reasons, settings and durations, and signatures."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from medtasks_utils.filters import STRICT
from medtasks_utils.results import Run
from medtasks_utils.results.samples import ENDINGS, mapping
from medtasks_utils.statistics.metrics import ACC
from medtasks_utils.writing import Secrets

from .topics import Topic


def endings_of_replies(topics: Sequence[Topic]) -> Iterator[list[str]]:
    """Yield a row for each benchmark's topic and each run whose samples have finish reasons.

    The columns are: topic, run, number of replies; the percentage of each of :data:`ENDINGS`; the accuracy of finished
    replies; the median, 90 % quantile and maximum of tokens.
    """
    for topic in topics:
        finished = topic.in_runs(STRICT, "acc_finished")
        for run, result in topic.sampled.items() if topic.benchmark_name else ():
            endings = Counter(ending for sample in result.samples for ending in sample.endings)
            if not endings.keys() - {"unknown"}:
                continue
            total = endings.total()
            shares = [f"{100 * endings[ending] / total:.1f}" for ending in ENDINGS]
            accuracy = ACC.shown(finished.estimates[run].value)
            counts = [count for sample in result.samples for count in sample.tokens if count is not None]
            tokens = [f"{count:,.0f}" for count in np.quantile(counts, [0.5, 0.9, 1.0])] if counts else ["–"] * 3
            yield [topic.label, run, f"{total:,}", *shares, accuracy, *tokens]


def runs_by_signatures(topics: Sequence[Topic]) -> dict[str, list[str]]:
    """Return the names of runs by the signatures of their scores, which are joined by line breaks.

    Runs with equal signatures are comparable; runs without signatures are left out.
    """
    runs: dict[str, list[str]] = defaultdict(list)
    for topic in topics:
        for run, result in topic.results.items():
            for filter_name in topic.filters:
                runs["\n".join(result.signatures(filter_name))].append(run)
    return {signatures: names for signatures, names in runs.items() if signatures}


def settings(run: Run) -> dict[str, str]:
    """Return a run's name, settings, duration, tokens and GPU time, by column heading; unknown values are empty."""
    backend = str(run.setting("model") or "")
    date, seconds = run.seconds("date"), run.seconds("total_evaluation_time_seconds")
    tokens = run.spent("tokens")
    shown_tokens = {"in": tokens["prompt"], "out": tokens["completion"]}
    return {
        "Run": run.name,
        "Model": run.model if backend in ("", run.model) else f"{run.model} ({backend})",
        "Model arguments": shown_arguments(run.setting("model_args")),
        "Generation settings": shown_arguments(run.setting("gen_kwargs")),
        "Started": datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%d %H:%M UTC") if date else "",
        "Duration": str(timedelta(seconds=round(seconds))) if seconds else "",
        "GPUs": _cost(run),
        "Tokens": " · ".join(f"{count:,} {label}" for label, count in shown_tokens.items() if count),
    }


def _cost(run: Run) -> str:
    """Return the GPU time of a run in a sweep, in total and per right answer, if known; else an empty string."""
    seconds = run.spent("cost")["gpu_seconds"]
    right = sum(task.metric_scores(STRICT, "acc").numerators.sum() for task in run.tasks.values())
    per_right = float(f"{seconds / (right or 1):.2g}")  # two digits, and no exponent, as 450
    parts = {f"{seconds / 3600:.2f} h": seconds, f"{per_right:g} s per right answer": seconds * right}
    return " · ".join(text for text, is_known in parts.items() if is_known)


def shown_arguments(value: Any) -> str:
    """Format a model's arguments as on the command line, with secrets such as API keys hidden."""
    text = value if isinstance(value, str) else ",".join(f"{name}={item}" for name, item in mapping(value).items())
    secrets = Secrets()
    secrets.learn(dict(part.partition("=")[::2] for part in text.split(",")))
    return str(secrets.scrub(text))
