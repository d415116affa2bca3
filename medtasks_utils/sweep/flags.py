"""Flags of ``lm_eval run`` by name, as plans have them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any, NoReturn

from lm_eval.config.evaluate_config import EvaluatorConfig

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.command_line import add_flags_of_run, configured


def config_of(settings: Mapping[str, Any]) -> EvaluatorConfig:
    """The configuration of flags by name.

    Raises:
        UsageError: for a name that is no flag, or a value that the flag does not take.
    """
    parser = _Flags(add_help=False, allow_abbrev=False)
    add_flags_of_run(parser)
    return configured(parser.parse_args(as_words(settings)))


class _Flags(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Flags by name as words of a command line; null, false and what is empty leave out a flag."""
    words = []
    for name, value in settings.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping) and value:
            words.append(f"--{name}={json.dumps(value, default=str)}")
        elif value not in (None, False, "", {}):
            words.append(f"--{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    return words
