"""``medtasks eval``: plain flags become ``--metadata``, mistakes are found first, and the harness does the rest."""

from __future__ import annotations

import argparse
import gc
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from lm_eval.api.model import LM
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import setup_logging

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import default_text
from medtasks_utils.errors import MedtasksError, OptionError, UsageError, debugging
from medtasks_utils.harness.catalog import benchmark_of, configurations, listings
from medtasks_utils.harness.failures import explain
from medtasks_utils.harness.flags import read_settings
from medtasks_utils.harness.options import check_effect, defaults_of, options_of
from medtasks_utils.harness.patches.commands import level_of, results_in_hand, started_quickly
from medtasks_utils.harness.plain_flags import by_benchmark, with_plain_flags
from medtasks_utils.harness.preflight import Asked, Plan, check_flags, check_places, check_tasks
from medtasks_utils.harness.preflight_model import check_model, check_server, class_of
from medtasks_utils.harness.quick_start import PackFirst
from medtasks_utils.harness.saving import CarefulTracker
from medtasks_utils.harness.secrets import not_logged, secrets_in
from medtasks_utils.harness.sources import Source

_OURS = ("command", "run", "whole", "version", "data", "set", "full_table", "json")
"""What our command line adds to the harness's namespace."""

_WITH_SECRETS = ("model_args", "hf_hub_log_args", "wandb_args")


@dataclass
class Outcome:
    """What became of a run.

    Attributes:
        plan: what was asked for.
        seconds: how long it took.
        results: as the harness has them; None in all processes but the first.
        path: the results file; None if nothing was to be saved, or nothing could be.
        problem: what went wrong with saving, in a line.
        tokens: that the server reported: ``prompt``, ``completion``, and the ``replies`` that had them.
        times: seconds from each request that the server answered to its whole reply.
    """

    plan: Plan
    seconds: float = 0.0
    results: dict[str, Any] | None = None
    path: Path | None = None
    problem: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    @property
    def latency(self) -> dict[str, float]:
        """Of one request, in seconds: ``median``, and how many ``requests``; empty where none was timed."""
        return {"median": round(median(self.times), 4), "requests": len(self.times)} if self.times else {}

    def spent(self) -> dict[str, Any]:
        """What goes into the results: tokens and latency, where known."""
        return {name: known for name in ("tokens", "latency") if (known := getattr(self, name))}

    def count(self, reply: Any) -> None:
        """Add what one body of a server's reply says of tokens."""
        for body in reply if isinstance(reply, list) else [reply]:
            usage = body.get("usage") if isinstance(body, dict) else None
            if not isinstance(usage, dict):
                continue
            for ours, theirs in (("prompt", "prompt_tokens"), ("completion", "completion_tokens")):
                number = usage.get(theirs)
                self.tokens[ours] = self.tokens.get(ours, 0) + (number if isinstance(number, int) else 0)
            self.tokens["replies"] = self.tokens.get("replies", 0) + 1


class Stopped(KeyboardInterrupt):
    """Ctrl-C; the message says how to go on."""


def run(arguments: argparse.Namespace, show: Callable[[str], None]) -> Outcome:
    """Run the harness with our flags and its own; ``show`` takes its tables, all else that it prints goes to standard
    error.

    Raises:
        UsageError: for what can be seen to be wrong before anything is loaded.
        MedtasksError: for what the run needs and cannot have.
        Stopped: when the user interrupts it.
    """
    empty = next((name for name, value in vars(arguments).items() if value in ("", {})), None)
    if empty:
        raise UsageError(f"--{empty} is empty (from a shell variable that is not set?): give a value, or leave it out")
    _add_configuration_file(arguments)
    setup_logging(level_of(arguments.verbosity))
    arguments.verbosity = None  # done; handed on, it would only be called deprecated
    if arguments.data is not None or arguments.set:
        arguments.metadata = with_plain_flags(arguments.metadata or {}, arguments.data, arguments.set)
    if arguments.tasks:
        arguments.tasks = names_of(arguments.tasks)
    outcome = Outcome(
        Plan({name: value for name, value in vars(arguments).items() if value is not None and name not in _OURS})
    )
    try:
        model = check(outcome.plan, by_benchmark(arguments.set))
        _run(arguments, outcome, model, show)
    except KeyboardInterrupt:
        cache = outcome.plan.use_cache
        kept = f"answers so far are in {cache}_rank*.db: " if cache else "nothing was kept; "
        raise Stopped(kept + outcome.plan.way_on) from None
    return outcome


def _run(arguments: argparse.Namespace, outcome: Outcome, model: type[LM], show: Callable[[str], None]) -> None:
    trackers: list[CarefulTracker] = []

    def make_tracker(**settings: Any) -> CarefulTracker:
        trackers.append(CarefulTracker(**settings))
        trackers[0].extra, trackers[0].secrets = outcome.spent, secrets
        return trackers[0]

    secrets = {text for name in _WITH_SECRETS for text in secrets_in(outcome.plan.mapping(name))}
    failure: MedtasksError | None = None
    start = time.perf_counter()
    theirs = argparse.Namespace(**{key: vars(arguments)[key] for key in vars(arguments) if key not in _OURS})
    try:
        in_hand = results_in_hand(make_tracker, show, model, outcome.count, outcome.times.append)
        quick_start = started_quickly(outcome.plan.model or "hf", PackFirst)
        with quick_start, in_hand, not_logged(secrets), redirect_stdout(sys.stderr):
            arguments.func(theirs)
    except Exception as error:
        failure = None if debugging() or isinstance(error, MedtasksError) else explain(error, outcome.plan)
        if failure is None:
            raise
    finally:
        outcome.seconds = time.perf_counter() - start
    if failure is not None:
        gc.collect()  # progress bars, which would be drawn once more below the message
        raise failure
    tracker = trackers[0]
    outcome.results, outcome.path, outcome.problem = tracker.results, tracker.saved, tracker.problem


def _add_configuration_file(arguments: argparse.Namespace) -> None:
    """Put in what ``--config`` says and the command line does not.

    The harness is not given the file: it would print all of it, and take any value as it is.
    """
    path, arguments.config = arguments.config, None
    if not path:
        return
    try:
        settings: dict[str, Any] = EvaluatorConfig.load_yaml_config(path)
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(f"--config: {' '.join(str(error).split())}") from None
    known = {each.name for each in fields(EvaluatorConfig)} - {"config"}
    unknown = sorted(map(str, settings.keys() - known))
    if unknown:
        raise UsageError(
            f"--config {path}: there is no setting {', '.join(unknown)}; there is {', '.join(sorted(known))}"
        )
    try:
        read = read_settings(settings)
    except UsageError as error:
        raise UsageError(f"--config {path}: {error}") from None
    for name, value in read.items():
        if vars(arguments).get(name) is None:
            setattr(arguments, name, value)


def names_of(tasks: Sequence[str]) -> list[str]:
    """Names of tasks without the spaces and quotes that shells leave."""
    return [name for word in ",".join(tasks).split(",") if (name := word.strip(" \t'\""))]


# ---- checks


def check(plan: Plan, settings: Mapping[str, Sequence[str]]) -> type[LM]:
    """Find mistakes, the cheapest to find first, and raise a MedtasksError for the first; returns the model's class."""
    asked = check_request(plan, settings)
    check_places(plan)
    kind = class_of(plan)
    check_model(plan, asked, kind)
    check_server(plan, kind)
    return kind


def check_request(plan: Plan, settings: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[Asked]:
    """Find the mistakes that are the same on any machine, those of the model's arguments aside; returns the tasks."""
    if not plan.tasks:
        raise UsageError("no task is named: --tasks medtasks runs all four; medtasks eval --help lists the tasks")
    asked = asked_tasks(
        plan.tasks, plan.include_path, {**plan.mapping("model_args"), **plan.mapping("metadata")}, settings
    )
    check_flags(plan)
    check_tasks(plan, asked)
    return asked


def asked_tasks(
    names: Sequence[str],
    include_path: Any,
    metadata: Mapping[str, Any],
    settings: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Asked]:
    """The tasks of this pack and the user's, with options and the data directory checked as the tasks will.

    ``metadata`` has the model's arguments too, ``settings`` what ``--set`` says, by benchmark.

    Raises:
        OptionError: for a bad option, one that others turn off, or one of a benchmark that no task is of.
        UsageError: for a benchmark's name that is no task.
        DataError: for a data directory that is not there.
    """
    for folder in [include_path] if isinstance(include_path, str) else include_path or ():
        if not Path(folder).is_dir():
            raise UsageError(f"--include_path {folder}: there is no such folder")
    manager = PackFirst(include_path, metadata)
    for name in names:
        manager.check_name(name)
    matched = [match for name in names for match in manager.known(name)]
    asked = []
    for task in configurations(manager, matched):
        benchmark = benchmark_of(task)
        asked.append(Asked(task, benchmark and _options(task, benchmark, metadata, settings.get(benchmark, ()))))
    used = {benchmark_of(each.settings) for each in asked}
    for benchmark in filter(None, used):
        own = [each for each in asked if benchmark_of(each.settings) == benchmark]
        is_generated = any(each.settings.get("output_type", "generate_until") == "generate_until" for each in own)
        check_effect(benchmark, [each.options for each in own], metadata.get(benchmark) or {}, is_generated)
    unused = sorted(settings.keys() - used)
    if unused and all(manager.known(name) for name in names):
        raise OptionError(f"--set names {', '.join(unused)}, but none of the tasks is of it: {', '.join(names)}")
    return asked


def _options(task: Mapping[str, Any], name: str, metadata: Mapping[str, Any], settings: Sequence[str]) -> Any:
    benchmark = benchmarks()[name]
    said_by = " ".join(f"--set {setting}" for setting in settings)
    options = options_of(benchmark, defaults_of(task, benchmark), metadata, said_by)
    source = Source.from_metadata(metadata)
    if source.name != "hub":
        source.folder(benchmark, benchmark.repository(options), options.revision)
    return options


# ---- help


def tasks_and_options() -> str:
    """The lists that ``--help`` ends in: tasks and groups from the YAML, options from their classes."""
    found = listings()
    width = max(len(listing.name) for listing in found)
    lines = ["tasks and groups (*):"]
    for listing in found:
        lines.append(f"  {'*' if listing.is_group else ' '} {listing.name:<{width}}  {listing.description}".rstrip())
    for benchmark in benchmarks().values():
        lines += ["", f"options of {benchmark.name} (--set {benchmark.name}.OPTION=VALUE), with their defaults:"]
        for name, described in benchmark.options.model_fields.items():
            title = f"  {name} ({default_text(described.default)})"
            lines.append(textwrap.fill(f"{title:<42} {described.description}", 118, subsequent_indent=" " * 43))
    return "\n".join(lines)
