"""The benchmarks: a package each, whose ``card.CARD`` says what the rest of the pack has to know of it.

A package in this folder is a benchmark; so is a card that an installed distribution names under the entry point
``medtasks.benchmarks``. Nothing else lists them.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from medtasks_utils.benchmarks.card import Card
from medtasks_utils.metrics import Metric, of_another_task


@cache
def cards() -> dict[str, Card]:
    """All benchmarks by name, this package's first, each in alphabetical order."""
    packages = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    own: list[Card] = [import_module(f"{__name__}.{name}.card").CARD for name in packages]
    others: list[Card] = [entry.load() for entry in sorted(entry_points(group="medtasks.benchmarks"))]
    return {card.name: card for card in (*own, *others)}


@cache
def metric_of(name: str, benchmark: str | None = None) -> Metric:
    """The metric of a name: the benchmark's own, else any benchmark's, else one of tasks that are not of this pack."""
    if benchmark is None:
        return of_another_task(name)
    named = cards()[benchmark].metric(name)
    others = (card.metric(name) for card in cards().values())
    return named or next((metric for metric in others if metric), None) or of_another_task(name)
