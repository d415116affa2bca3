"""``medtasks eval``: plain flags become ``--metadata``, mistakes are found first, and the harness does the rest."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import make_table, setup_logging

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import default_text
from medtasks_utils.errors import MedtasksError, UsageError, debugging, reason_of
from medtasks_utils.harness import patches
from medtasks_utils.harness.catalog import listings
from medtasks_utils.harness.checks import check
from medtasks_utils.harness.flags import names_of, read_settings
from medtasks_utils.harness.kept import KeptAnswers
from medtasks_utils.harness.patches.commands import Command, under_way
from medtasks_utils.harness.patches.models import keeper, spent
from medtasks_utils.harness.plain_flags import by_benchmark, with_plain_flags
from medtasks_utils.harness.request import RunConfig
from medtasks_utils.harness.saving import folder_of
from medtasks_utils.harness.secrets import Scrubber
from medtasks_utils.harness.server import ServerError

OURS = ("command", "run", "whole", "version", "data", "set", "full_table", "json", "no_keep", "fresh", "run_name")
"""What our command line adds to the harness's namespace."""


@dataclass
class Outcome:
    """What became of a run.

    Attributes:
        config: what was asked for.
        seconds: how long it took.
        results: as the harness has them; None in all processes but the first.
        path: the results file; None if nothing was to be saved, or nothing could be.
        problem: what went wrong with saving, in a line.
        table: the harness's own.
        spent: tokens that the server reported, and how many answers were taken over from an earlier run.
    """

    config: RunConfig
    seconds: float = 0.0
    results: dict[str, Any] | None = None
    path: Path | None = None
    problem: str | None = None
    table: str = ""
    spent: dict[str, Any] = field(default_factory=dict)


class Stopped(KeyboardInterrupt):
    """Ctrl-C; the message says how to go on."""


def run(arguments: argparse.Namespace) -> Outcome:
    """Run the harness with our flags and its own; all that it prints goes to standard error.

    Raises:
        UsageError: for what can be seen to be wrong before anything is loaded.
        MedtasksError: for whatever ends the run.
        Stopped: when the user interrupts it.
    """
    empty = next((name for name, value in vars(arguments).items() if value in ("", {})), None)
    if empty:
        raise UsageError(f"--{empty} is empty (from a shell variable that is not set?): give a value, or leave it out")
    _add_configuration_file(arguments)
    level = str(arguments.verbosity or os.environ.get("LMEVAL_LOG_LEVEL") or "INFO").upper()
    if not isinstance(logging.getLevelName(level), int):
        raise UsageError(f"--verbosity {level}: the levels are DEBUG, INFO, WARNING, ERROR, CRITICAL")
    setup_logging(level)
    arguments.verbosity = None  # done; handed on, it would only be called deprecated
    if arguments.data is not None or arguments.set:
        arguments.metadata = with_plain_flags(arguments.metadata or {}, arguments.data, arguments.set)
    if arguments.tasks:
        arguments.tasks = names_of(arguments.tasks)
    given = {name: value for name, value in vars(arguments).items() if value is not None and name not in OURS}
    outcome = Outcome(RunConfig(given))
    kept: KeptAnswers | None = None
    try:
        with only_results_on_standard_output():
            check(outcome.config, by_benchmark(arguments.set))
            kept = None if arguments.no_keep else _kept_answers(outcome.config, arguments.fresh)
            try:
                _run(arguments, outcome, kept)
            except ServerError as error:
                raise MedtasksError(f"{error}; {_way_on(kept)}") from None
    except KeyboardInterrupt:
        raise Stopped(_way_on(kept)) from None
    except Exception as error:
        if debugging() or isinstance(error, MedtasksError):
            raise
        raise _in_a_line(error, _way_on(kept)) from None
    return outcome


def _kept_answers(config: RunConfig, fresh: bool) -> KeptAnswers | None:
    if not config.output_path:
        return None
    model = {"kind": config.kind, "seeds": config.seed, **config.mapping("model_args")}
    return KeptAnswers(folder_of(config.output_path, config.model_name), model, fresh)


def _way_on(kept: KeptAnswers | None) -> str:
    return kept.way_on if kept else "no answer is kept; with --output_path results, the same command would go on"


def _run(arguments: argparse.Namespace, outcome: Outcome, kept: KeptAnswers | None) -> None:
    config = outcome.config
    scrub = Scrubber(*map(config.mapping, ("model_args", "hf_hub_log_args", "wandb_args")))
    spent.clear()

    def finish(results: dict[str, Any]) -> dict[str, Any]:
        outcome.spent = {"tokens": dict(spent)} if spent else {}
        if kept and kept.taken:
            outcome.spent["answers_taken_over"] = kept.taken
        outcome.seconds = time.perf_counter() - start
        sys.stdout = io.StringIO()  # what the harness prints from here on is its table
        own = {**({"run_name": arguments.run_name} if arguments.run_name else {}), **outcome.spent}
        return dict(scrub({**results, **({"medtasks": own} if own else {})}))

    command = Command(config.kind, finish)
    theirs = argparse.Namespace(**{key: value for key, value in vars(arguments).items() if key not in OURS})
    handlers = logging.getLogger("lm_eval").handlers
    tokens = (under_way, under_way.set(command)), (keeper, keeper.set(kept))
    put_back = patches.apply(patches.OF_THE_COMMAND)
    start = time.perf_counter()
    for handler in handlers:
        handler.addFilter(scrub)
    try:
        arguments.func(theirs)
    finally:
        put_back()
        for variable, token in tokens:
            variable.reset(token)  # type: ignore[arg-type]
        for handler in handlers:
            handler.removeFilter(scrub)
    outcome.results, outcome.path = command.results, command.path
    if outcome.results is not None:
        parts = [part for part in ("results", "groups") if outcome.results.get(part)]
        outcome.table = "\n".join(make_table(outcome.results, part) for part in parts)
    reason = "; ".join(map(reason_of, command.errors))
    if reason and outcome.path:
        outcome.problem = f"the results are in {outcome.path.parent}, but not all could be saved or sent: {reason}"
    elif reason:
        outcome.problem = f"the results could not be saved in {config.output_path}: {reason}; {_way_on(kept)}"
    elif kept is not None and outcome.results is not None:
        kept.end()


def _in_a_line(error: Exception, way_on: str) -> MedtasksError:
    with tempfile.NamedTemporaryFile(
        "w", prefix="medtasks_traceback_", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    return MedtasksError(f"{type(error).__name__}: {reason_of(error)} (the traceback is in {file.name}); {way_on}")


@contextmanager
def only_results_on_standard_output() -> Iterator[None]:
    """Within this, what is written to standard output goes to standard error, by processes that are started too."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _add_configuration_file(arguments: argparse.Namespace) -> None:
    """Put in what ``--config`` says and the command line does not.

    The harness is not given the file: it would print all of it, and take any value as it is.
    """
    path, arguments.config = arguments.config, None
    if not path:
        return
    try:
        settings: dict[str, Any] = EvaluatorConfig.load_yaml_config(path)
        known = {each.name for each in fields(EvaluatorConfig)} - {"config"}
        unknown = sorted(map(str, settings.keys() - known))
        if unknown:
            raise UsageError(f"there is no setting {', '.join(unknown)}; there is {', '.join(sorted(known))}")
        read = read_settings(settings)
    except (OSError, TypeError, ValueError, UsageError) as error:
        raise UsageError(f"--config {path}: {' '.join(str(error).split())}") from None
    for name, value in read.items():
        if vars(arguments).get(name) is None:
            setattr(arguments, name, value)


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
