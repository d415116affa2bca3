"""Combine the flags of ``lm_eval run`` and of ``medtasks eval`` into one configuration."""

import argparse
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from medtasks_utils.errors import UsageError, reason_of
from medtasks_utils.writing import SECRETS, JsonObject, Settings

from .lm_eval_names import MergeDictAction, Run, key_val_to_dict

if TYPE_CHECKING:
    from .lm_eval_names import EvaluatorConfig

_FLAGS = {"device", "batch_size", "max_batch_size"}
"""Arguments of models that are flags of ``lm_eval run``."""


class _MergeSettings(MergeDictAction):  # type: ignore[misc]
    """An action that merges repeated settings. Values may be JSON, which lm_eval would parse as strings."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        merged = dict(getattr(namespace, self.dest) or {})
        for text in values:
            try:
                merged |= parse_settings(text)
            except ValueError as error:
                parser.error(f"{option_string}: {error}")
        setattr(namespace, self.dest, merged)


def parse_settings(text: str) -> JsonObject:
    """Parse a JSON object, or settings such as ``a=1,b={"c": true}``.

    Raises:
        ValueError: for invalid JSON, or a setting without a value.
    """
    settings = {"": text} if text.startswith("{") else key_val_to_dict(text)
    for name, value in settings.items():
        if isinstance(value, str) and value.startswith(("{", "[")):
            try:
                settings[name] = json.loads(value)
            except ValueError as error:
                raise ValueError(f"Invalid JSON ({error})") from None
    return settings.get("", settings)  # type: ignore[no-any-return]


def add_flags_of_run(parser: argparse.ArgumentParser) -> None:
    """Add all flags of ``lm_eval run`` to a parser, and set its ``func`` to run lm_eval."""
    Run(SimpleNamespace(add_parser=lambda name, **settings: parser))
    for action in parser._actions:
        if isinstance(action, MergeDictAction):
            action.__class__ = _MergeSettings


def configured(
    arguments: argparse.Namespace, data: str | None = None, settings: Sequence[str] = ()
) -> "EvaluatorConfig":
    """Build the configuration from the ``--config`` file and the command line, which takes precedence.

    Flags in the environment variable :data:`.task_options.FLAGS`, which is then deleted, replace those of the command
    line. The values of ``--data`` and ``--set`` are added to the metadata. Model arguments that lm_eval takes as flags
    become flags, and a changed seed for torch becomes the seed of vLLM and API models.

    Raises:
        UsageError: for an invalid value of a flag, a configuration that cannot be read, or if no task is given.
    """
    from .lm_eval_names import DEFAULT_SEED, EvaluatorConfig  # imported late, since help needs only the flags
    from .task_options import FLAGS

    flags = {name: value for name, value in vars(arguments).items() if value is not None}
    for name, value in json.loads(os.environ.pop(FLAGS, "{}")).items():
        flags[name] = parse_settings(value) if isinstance(value, str) else value
    SECRETS.learn(flags)
    if flags.get("samples") in ({}, []):  # lm_eval would take it for not set
        raise UsageError("--samples selects no example: give indices by task, or omit it")
    file = flags.pop("config", None)  # lm_eval would print its content, including API keys
    try:
        in_file = {} if file is None else EvaluatorConfig.load_yaml_config(file)
        SECRETS.learn(in_file)
        config = EvaluatorConfig.from_cli(argparse.Namespace(**{**in_file, **flags}))
    except (OSError, TypeError, ValueError) as error:
        raise UsageError(reason_of(error)) from None
    names = config.tasks if isinstance(config.tasks, str) else ",".join(config.tasks or ())
    config.tasks = [name.strip() for name in names.split(",") if name.strip()]
    if not config.tasks:
        raise UsageError("no task given: use --tasks medtasks for the main tasks; medtasks eval --help lists all")
    for name in _FLAGS.intersection(config.model_args):  # lm_eval would pass them to the model twice
        setattr(config, name, config.model_args.pop(name))
    of_torch = config.seed[2]
    if of_torch not in (None, DEFAULT_SEED[2]) and (config.model == "vllm" or "completions" in config.model):
        config.model_args.setdefault("seed", of_torch)  # lm_eval would send its own seed, whatever --seed says
    config.metadata = with_plain_flags(config.metadata, data, settings)
    return config


# ---- --data and --set


def with_plain_flags(metadata: Settings, data: str | None, settings: Sequence[str]) -> JsonObject:
    """Return ``--metadata`` merged with the values of ``--data`` and ``--set``, which take precedence.

    A value of ``--set`` that is not valid JSON is a string.

    Raises:
        UsageError: if a setting does not have the form ``benchmark.option=value``.
    """
    from .task_options import DATA_KEY

    merged = dict(metadata) if data is None else {**metadata, DATA_KEY: data}
    for setting in settings:
        name, equals, text = setting.partition("=")
        benchmark, _, option = (part.strip() for part in name.partition("."))
        if not (equals and option) or re.search(r"[\s,]\w+\.\w+=", text):
            raise UsageError(
                f"--set takes one BENCHMARK.OPTION=VALUE, such as medhallu.difficulty=hard, not {setting!r}; repeat "
                "--set for further options"
            )
        value: Any = text
        with suppress(ValueError):
            value = json.loads(text)
        merged[benchmark] = {**(merged.get(benchmark) or {}), option: value}
    return merged
