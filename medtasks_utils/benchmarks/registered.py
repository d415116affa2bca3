"""Find registered benchmarks, import each on first use, and check its definition."""

import pkgutil
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from medtasks_utils.errors import DataError, did_you_mean, logger, reason_of
from medtasks_utils.registry import Registry
from medtasks_utils.statistics.metrics import REPEAT_METRICS

from .base import Benchmark

OWN = tuple(sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.ispkg))
"""Names of this package's benchmarks."""

_MEANINGS = dict(re.findall(r"^ +(\w+): (.+?)\.?$", Benchmark.__doc__ or "", re.MULTILINE))
"""Descriptions of a benchmark's attributes, taken from the docstring of the class."""


class Benchmarks(Registry):
    """A registry of all benchmarks by name, this package's first; each is imported and checked on first use."""

    def __init__(self) -> None:
        package = __name__.rpartition(".")[0]
        super().__init__("medtasks.benchmarks", {name: f"{package}.{name}.benchmark:BENCHMARK" for name in OWN})
        self._checked = cache(self._import_and_check)

    def __getitem__(self, name: str) -> Benchmark:
        """Return a benchmark by name.

        Raises:
            KeyError: if no benchmark has this name.
            DataError: if it cannot be imported, or its definition is incomplete or contradictory.
        """
        benchmark = self._checked(name)
        if isinstance(benchmark, DataError):
            raise benchmark
        return benchmark

    def _import_and_check(self, name: str) -> Benchmark | DataError:
        """Import and check a benchmark; return it or, if it cannot be used, an error with the reason."""
        try:
            benchmark: Benchmark = super().__getitem__(name)
            problems = problems_of(benchmark, name)
        except Exception as error:
            logger.debug("benchmark %s", name, exc_info=True)
            reason = f"{type(error).__name__}: {reason_of(error)}"
            return DataError(f"benchmark {name} cannot be imported from {self.data[name]}: {reason}")
        return DataError(f"benchmark {name}: {'; '.join(problems)}") if problems else benchmark

    def named(self, name: object, place: str) -> Benchmark:
        """Return the benchmark that a setting names.

        Args:
            name: the setting's value.
            place: the place of the setting, for messages.

        Raises:
            DataError: if no benchmark has this name, or it cannot be used.
        """
        if name not in self:
            near = did_you_mean(str(name), self)
            raise DataError(f"{place}: there is no benchmark {name!r}{near}; known: {', '.join(self)}")
        return self[str(name)]

    def problem(self, name: str) -> str | None:
        """Return the reason why a benchmark cannot be used, on one line; None if it can be used."""
        benchmark = self._checked(name)
        return str(benchmark) if isinstance(benchmark, DataError) else None

    @property
    def problems(self) -> list[str]:
        """One line for each benchmark that cannot be used, with the reason."""
        return list(filter(None, map(self.problem, self)))

    def usable(self, leave_out: Collection[str] = ()) -> list[Benchmark]:
        """Return the benchmarks that can be used, except those in ``leave_out``, which are not imported."""
        return [self[name] for name in self if name not in leave_out and self.problem(name) is None]


# ---- the checks


def problems_of(benchmark: object, name: str) -> list[str]:
    """Return the problems in the definition of a benchmark that is registered as ``name``."""
    if not isinstance(benchmark, Benchmark):
        return [f"it is {benchmark!r:.80}, not an object of a class derived from {Benchmark.__module__}.Benchmark"]
    required = [attribute for attribute in Benchmark.__annotations__ if not hasattr(Benchmark, attribute)]
    missing = [attribute for attribute in required if not getattr(benchmark, attribute, None)]
    problems = [f"{attribute} is missing ({_MEANINGS[attribute]})" for attribute in missing]
    return problems or list(_contradictions(benchmark, name))


def _contradictions(benchmark: Benchmark, name: str) -> Iterator[str]:
    """Yield a problem for each attribute that is empty or invalid, or that contradicts another."""
    if benchmark.name != name:
        yield f"name is {benchmark.name!r}, but it is registered as {name!r}; the two must be equal"
    yield from _contradictions_of_metrics(benchmark)
    if benchmark.abstention and benchmark.abstention.answer not in benchmark.answers:
        yield f"abstention.answer is {benchmark.abstention.answer!r}, which is not in answers"
    for attribute in ("tasks", "sample"):
        folder = getattr(benchmark, attribute)
        if folder is None and name not in OWN:
            yield f"{attribute} is missing ({_MEANINGS[attribute]})"
        elif folder is not None and not folder.is_dir():
            yield f"{attribute} is {folder}, but there is no such folder"


def _contradictions_of_metrics(benchmark: Benchmark) -> Iterator[str]:
    """Yield a problem for each metric that is declared twice or not at all, or aggregated over missing strata."""
    names = [metric.name for metric in (*benchmark.metrics, *REPEAT_METRICS)]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"metrics has {name} {count} times (counting those that repeats add to every benchmark)"
    mentions: dict[str, Iterable[str]] = {
        "compared": benchmark.compared,
        "headline_metrics": benchmark.headline_metrics,
        "marks": benchmark.marks,
        "rewarded": (benchmark.rewarded,),
    }
    if benchmark.abstention:
        mentions["abstention"] = [benchmark.abstention.rate_metric, *(row.metric for row in benchmark.abstention.rows)]
    mentions |= {f"the breakdown {division.name!r}": division.metrics for division in benchmark.breakdowns}
    for place, mentioned in mentions.items():
        for name in dict.fromkeys(mentioned):
            if name not in names:
                yield f"{place} names {name}, which is not in metrics ({', '.join(names)})"
    for metric in benchmark.metrics:
        if metric.aggregation.uses_strata and benchmark.stratum is None:
            yield f"stratum is missing, but the metric {metric.name} is aggregated over strata"
