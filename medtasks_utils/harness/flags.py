"""Flags that stand in a file: read by the parser of the command line, which finds the same mistakes in them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NoReturn

from medtasks_utils.errors import UsageError
from medtasks_utils.harness.patches.commands import add_flags_of_run

_AS_IS = {"cache_requests": dict, "include_path": list}
"""What lm_eval takes in a file and has no form for on the command line."""


class _Flags(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message.replace("ignored explicit argument", "takes true or false, not"))


@cache
def _parser() -> argparse.ArgumentParser:
    parser = _Flags(add_help=False, allow_abbrev=False)
    add_flags_of_run(parser)
    return parser


def as_words(settings: Mapping[str, Any]) -> list[str]:
    """Flags by name as words of a command line; null, and what is empty, leaves out a flag."""
    return [word for name, value in settings.items() for word in _word(name, value)]


def _word(name: str, value: Any) -> list[str]:
    if name == "fewshot_as_multiturn" and value is False:  # on by default, where there is a chat
        return [f"--{name}=false"]
    if value is False or value in ("", {}) or (value is None and name != "seed"):
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, Mapping):
        return [f"--{name}={json.dumps(value, default=str)}"]
    return [f"--{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}"]


def names_of(tasks: Sequence[str]) -> list[str]:
    """Names of tasks without the spaces and quotes that shells leave."""
    return [name for word in ",".join(tasks).split(",") if (name := word.strip(" \t'\""))]


def read_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Flags by name, each with its value as the command line would have it.

    Raises:
        UsageError: for a name that is no flag, or a value that the flag does not take.
    """
    as_is = {name: settings[name] for name, kind in _AS_IS.items() if isinstance(settings.get(name), kind)}
    read = vars(_parser().parse_args(as_words({name: settings[name] for name in settings.keys() - as_is.keys()})))
    return {**{name: read[name] for name in settings if read.get(name) is not None}, **as_is}
