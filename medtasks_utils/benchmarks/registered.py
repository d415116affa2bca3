"""Find registered benchmarks, which are classes, and import and check each on first use."""

import pkgutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from medtasks_utils.errors import DataError, did_you_mean, logger, reason_of
from medtasks_utils.registry import Registry
from medtasks_utils.statistics.metrics import ADDED_METRICS

from .base import Benchmark

_FOLDER = Path(__file__).parent
_OWN = {module.name: f"{module.name}.benchmark" for module in pkgutil.iter_modules([str(_FOLDER)]) if module.ispkg}
_VARIANTS = {
    f"{path.stem}_{path.parent.name}": f"{path.parent.name}.{path.stem}" for path in _FOLDER.glob("*/medmarks.py")
}
_MODULES = dict(sorted(_OWN.items())) | dict(sorted(_VARIANTS.items()))
"""The modules of this package's benchmarks, by name; variants under Medmarks' protocol are in the same folder."""
OWN = tuple(_MODULES)
"""Names of this package's benchmarks."""

_REQUIRED = {
    "name": "the name in commands",
    "title": "the name as its authors write it",
    "data": "where the rows come from",
    "tasks": "the tasks that run it",
}
"""The attributes that a benchmark must have, each with its meaning."""

AnyBenchmark = type[Benchmark[Any]]


class Benchmarks(Registry):
    """A registry of all benchmarks by name, this package's first; each is imported and checked on first use."""

    def __init__(self) -> None:
        package = __name__.rpartition(".")[0]
        super().__init__(
            "medtasks.benchmarks", {name: f"{package}.{module}:BENCHMARK" for name, module in _MODULES.items()}
        )
        self.problem = cache(self._problem)
        """The function :meth:`_problem`, cached so that it checks each benchmark only once."""

    def __getitem__(self, name: str) -> AnyBenchmark:
        """Return a benchmark by name.

        Raises:
            KeyError: if no benchmark has this name.
            DataError: if the benchmark cannot be imported, or its definition is incomplete or contradictory.
        """
        if problem := self.problem(name):
            raise DataError(problem)
        return super().__getitem__(name)  # type: ignore[no-any-return]  # it has been checked

    def _problem(self, name: str) -> str | None:
        """Import and check a benchmark; return why it is unusable, on one line, or None."""
        try:
            problems = problems_of(super().__getitem__(name), name)
        except Exception as error:
            logger.debug("benchmark %s", name, exc_info=True)
            reason = f"{type(error).__name__}: {reason_of(error)}"
            return f"benchmark {name} cannot be imported from {self.data[name]}: {reason}"
        return f"benchmark {name}: {'; '.join(problems)}" if problems else None

    def named(self, name: object, place: str) -> AnyBenchmark:
        """Return the benchmark that a setting names.

        Args:
            name: the setting's value.
            place: the place of the setting, for messages.

        Raises:
            DataError: if no benchmark has this name, or the benchmark cannot be used.
        """
        if name not in self:
            near = did_you_mean(str(name), self)
            raise DataError(f"{place}: there is no benchmark {name!r}{near}; known: {', '.join(self)}")
        return self[str(name)]

    @property
    def problems(self) -> list[str]:
        """One line for each unusable benchmark, with the reason."""
        return list(filter(None, map(self.problem, self)))

    def usable(self, leave_out: Collection[str] = ()) -> list[AnyBenchmark]:
        """Return the usable benchmarks, except those in ``leave_out``, which are not imported."""
        return [self[name] for name in self if name not in leave_out and self.problem(name) is None]


# ---- the checks


def problems_of(benchmark: object, name: str) -> list[str]:
    """Return the problems in the definition of a benchmark that is registered as ``name``."""
    if not (isinstance(benchmark, type) and issubclass(benchmark, Benchmark)):
        return [f"it is {benchmark!r:.80}, not a class derived from {Benchmark.__module__}.Benchmark"]
    missing = [attribute for attribute in _REQUIRED if not getattr(benchmark, attribute, None)]
    problems = [f"{attribute} is missing ({_REQUIRED[attribute]})" for attribute in missing]
    return problems or list(_contradictions(benchmark, name))


def _contradictions(benchmark: AnyBenchmark, name: str) -> Iterator[str]:
    """Yield a problem for each attribute that is empty, is invalid, or contradicts a different attribute."""
    if benchmark.name != name:
        yield f"name is {benchmark.name!r}, but it is registered as {name!r}; the two must be equal"
    yield from _contradictions_of_metrics(benchmark)
    if not isinstance(benchmark.answers, Mapping):
        yield f"answers is {benchmark.answers!r:.80}, not a dict of the answers with their meanings"
    abstention = benchmark.report.abstention
    if abstention and benchmark.answers and abstention.answer not in benchmark.answers:
        yield f"abstention.answer is {abstention.answer!r}, which is not in answers"
    for place, folder in (("tasks.folder", benchmark.tasks.folder), ("data.sample", benchmark.data.sample)):
        if folder is None and name not in OWN:
            yield f"{place} is missing; outside this package, a benchmark must name the folder"
        elif folder is not None and not folder.is_dir():
            yield f"{place} is {folder}, but there is no such folder"


def _contradictions_of_metrics(benchmark: AnyBenchmark) -> Iterator[str]:
    """Yield a problem for each metric declared twice, named but not declared, or aggregated over missing strata."""
    names = [metric.name for metric in (*benchmark.metrics, *ADDED_METRICS)]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"metrics has {name} {count} times (counting those that every benchmark gets)"
    facts = benchmark.report
    mentions: dict[str, Iterable[str]] = {
        "report.compared": facts.compared,
        "report.headline": facts.headline,
        "report.marks": facts.marks,
    }
    if facts.abstention:
        mentions["abstention"] = [facts.abstention.rate_metric]
    mentions |= {f"the breakdown {division.name!r}": division.metrics for division in facts.breakdowns}
    for place, mentioned in mentions.items():
        for name in dict.fromkeys(mentioned):
            if name not in names:
                yield f"{place} names {name}, which is not in metrics ({', '.join(names)})"
    for metric in benchmark.metrics:
        if metric.aggregation.uses_strata and benchmark.data.stratum is None:
            yield f"data.stratum is missing, but the metric {metric.name} is aggregated over strata"
