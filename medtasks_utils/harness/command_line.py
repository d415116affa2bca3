"""Flags of ``lm_eval run`` and ours, made one configuration."""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from medtasks_utils.errors import UsageError, reason_of

from .lm_eval_names import EvaluatorConfig, Run
from .options import DATA_KEY


def add_flags_of_run(parser: argparse.ArgumentParser) -> None:
    """Add all flags of ``lm_eval run`` to a parser, and its function as the default of ``func``."""
    Run(SimpleNamespace(add_parser=lambda name, **settings: parser))


def configured(arguments: argparse.Namespace, data: str | None = None, settings: Sequence[str] = ()) -> EvaluatorConfig:
    """What the command line and the file of ``--config`` ask for, as the harness reads it, ours put into its metadata.

    Args:
        arguments: flags of ``lm_eval run``.
        data: as of ``--data``.
        settings: as of ``--set``.

    Raises:
        UsageError: for what the harness or our flags do not take.
    """
    given = {name: value for name, value in vars(arguments).items() if value is not None}
    file = given.pop("config", None)  # which the harness would print, keys and all
    try:
        in_file = {} if file is None else EvaluatorConfig.load_yaml_config(file)
        config = EvaluatorConfig.from_cli(argparse.Namespace(**{**in_file, **given}))
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(reason_of(error)) from None
    named = config.tasks if isinstance(config.tasks, str) else ",".join(config.tasks or ())
    config.tasks = [name.strip() for name in named.split(",") if name.strip()]
    if not config.tasks:
        raise UsageError("no task is named: --tasks medtasks runs all four; medtasks eval --help lists the tasks")
    config.metadata = with_plain_flags(config.metadata, data, settings)
    return config


# ---- --data and --set


def with_plain_flags(metadata: Mapping[str, Any], data: str | None, settings: Sequence[str]) -> dict[str, Any]:
    """``--metadata`` with what ``--data`` and ``--set`` say put in; they win. A value is JSON, else a text.

    Raises:
        UsageError: where a setting is not ``benchmark.option=value``.
    """
    merged = dict(metadata) if data is None else {**metadata, DATA_KEY: data}
    for setting in settings:
        name, equals, text = setting.partition("=")
        benchmark, _, option = (part.strip() for part in name.partition("."))
        if not (equals and option):
            raise UsageError(f"--set takes BENCHMARK.OPTION=VALUE, as in medhallu.difficulty=hard, not {setting!r}")
        value: Any = text
        with suppress(ValueError):
            value = json.loads(text)
        merged[benchmark] = {**(merged.get(benchmark) or {}), option: value}
    return merged
