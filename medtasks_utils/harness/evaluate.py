"""``medtasks eval``: plain flags become ``--metadata``, options are checked, and the harness does the rest."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import setup_logging, simple_parse_args_string
from pydantic import ValidationError

from medtasks_utils.benchmarks import cards
from medtasks_utils.errors import OptionError, UsageError
from medtasks_utils.harness.catalog import benchmark_of, configurations, listings
from medtasks_utils.harness.options import DATA_KEY, Options, default_text, read_options
from medtasks_utils.harness.patches import started_quickly
from medtasks_utils.harness.quick_start import PackFirst
from medtasks_utils.harness.sources import Source

_OURS = ("command", "run", "data", "set")
"""What our command line adds to the harness's namespace."""


def run(arguments: argparse.Namespace) -> int:
    """Run the harness with our flags and its own.

    Args:
        arguments: of ``lm_eval run``, with ``data`` and ``set``.

    Raises:
        UsageError: for what can be seen to be wrong before anything is loaded.
    """
    setup_logging()
    from_file = _configuration_file(arguments.config)
    metadata = arguments.metadata or _mapping(from_file.get("metadata"))
    if arguments.data is not None or arguments.set:
        metadata = arguments.metadata = with_plain_flags(metadata, arguments.data, arguments.set)
    model_arguments = arguments.model_args or _mapping(from_file.get("model_args"))
    tasks = arguments.tasks or from_file.get("tasks") or []
    names = [name for part in ([tasks] if isinstance(tasks, str) else tasks) for name in str(part).split(",") if name]
    if not names:
        raise UsageError("no task is named: --tasks medtasks runs all four; medtasks eval --help lists the tasks")
    include_path = arguments.include_path or from_file.get("include_path")
    check(names, include_path, {**model_arguments, **metadata}, benchmarks_set=_benchmarks(arguments.set))
    model = arguments.model or from_file.get("model") or EvaluatorConfig().model
    with started_quickly(model, PackFirst):
        arguments.func(argparse.Namespace(**{key: vars(arguments)[key] for key in vars(arguments) if key not in _OURS}))
    return 0


def _configuration_file(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        settings: dict[str, Any] = EvaluatorConfig.load_yaml_config(path)
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(f"--config: {' '.join(str(error).split())}") from None
    return settings


def _mapping(setting: Any) -> dict[str, Any]:
    """A setting of a configuration file that may be written as ``key=value,key=value``."""
    return dict(simple_parse_args_string(setting) if isinstance(setting, str) else setting or {})


def options_of(benchmark: str) -> type[Options]:
    """The type of a benchmark's options; its task is imported now, so that a run imports only what it uses."""
    return cards()[benchmark].load_task_class().options_type


# ---- plain flags


def with_plain_flags(metadata: Mapping[str, Any], data: str | None, settings: Sequence[str]) -> dict[str, Any]:
    """``--metadata`` with what ``--data`` and ``--set`` say put in.

    Args:
        metadata: what ``--metadata`` or the configuration file says.
        data: a source of rows.
        settings: each ``benchmark.option=value``.

    Raises:
        OptionError: where one is not of that form, or two disagree.
    """
    merged = {**metadata}
    if data is not None:
        if metadata.get(DATA_KEY, data) != data:
            raise OptionError(f'--data {data} and "{DATA_KEY}": {json.dumps(metadata[DATA_KEY])} disagree; give one')
        merged[DATA_KEY] = data
    for setting in settings:
        benchmark, option, text = _parts(setting)
        given = merged.get(benchmark, {})
        if not isinstance(given, Mapping):
            raise OptionError(f'--metadata: "{benchmark}" takes a JSON object of options, not {given!r}')
        value = _value(options_of(benchmark), option, text)
        if given.get(option, value) != value:
            raise OptionError(
                f"--set {setting}: {benchmark}.{option} is also given as {json.dumps(given[option])}; give it once"
            )
        merged[benchmark] = {**given, option: value}
    return merged


def _parts(setting: str) -> tuple[str, str, str]:
    name, equals, text = setting.partition("=")
    benchmark, dot, option = name.strip().partition(".")
    if not (equals and dot and option):
        raise OptionError(f"--set takes BENCHMARK.OPTION=VALUE, as in medhallu.difficulty=hard, not {setting!r}")
    if benchmark not in cards():
        raise OptionError(f"--set {setting}: {benchmark!r} is none of {', '.join(cards())}")
    return benchmark, option, text


def _benchmarks(settings: Sequence[str]) -> set[str]:
    return {_parts(setting)[0] for setting in settings}


def _value(options: type[Options], option: str, text: str) -> Any:
    """The text read as JSON, unless the option takes it as text only: ``1.2`` is a version, not a number."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if not _fits(options, option, value) and _fits(options, option, text) else value


def _fits(options: type[Options], option: str, value: Any) -> bool:
    try:
        options(**{option: value})
    except ValidationError as error:
        return all(not problem["loc"] for problem in error.errors())  # a check over several options comes later
    return True


# ---- checks


def check(
    names: Sequence[str], include_path: Any, metadata: Mapping[str, Any], benchmarks_set: set[str] | None = None
) -> None:
    """Check options and the data directory of the tasks as the tasks will, but before a model is loaded.

    Args:
        names: what ``--tasks`` names.
        include_path: what ``--include_path`` names.
        metadata: the model's arguments and ``--metadata``, merged.
        benchmarks_set: those that ``--set`` names.

    Raises:
        OptionError: for a bad option, or one of a benchmark that no task is of.
        DataError: for a data directory that is not there.
    """
    manager = PackFirst(include_path, metadata)
    matched = [match for name in names for match in manager.known(name)]
    used = set()
    for configuration in configurations(manager, matched):
        benchmark = benchmark_of(configuration)
        if benchmark is None:
            continue
        used.add(benchmark)
        defaults = configuration.get("dataset_kwargs") or {}
        task_class = cards()[benchmark].load_task_class()
        options = read_options(task_class.options_type, benchmark, defaults, metadata)
        source = Source.from_metadata(metadata)
        if source.name != "hub":
            source.folder(task_class.card, task_class.repository_of(options))
    everything_known = all(manager.known(name) for name in names)
    unused = sorted((benchmarks_set or set()) - used)
    if unused and everything_known:
        raise OptionError(f"--set names {', '.join(unused)}, but none of the tasks is of it: {', '.join(names)}")


# ---- help


def tasks_and_options() -> str:
    """The lists that ``--help`` ends in: tasks and groups from the YAML, options from their classes."""
    found = listings()
    width = max(len(listing.name) for listing in found)
    lines = ["tasks and groups (*):"]
    for listing in found:
        lines.append(f"  {'*' if listing.is_group else ' '} {listing.name:<{width}}  {listing.description}".rstrip())
    for benchmark in cards():
        lines += ["", f"options of {benchmark} (--set {benchmark}.OPTION=VALUE), with their defaults:"]
        for name, field in options_of(benchmark).model_fields.items():
            title = f"  {name} ({default_text(field.default)})"
            lines.append(textwrap.fill(f"{title:<42} {field.description}", 118, subsequent_indent=" " * 43))
    return "\n".join(lines)
