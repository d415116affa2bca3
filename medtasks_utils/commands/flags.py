"""What commands have in common: numbers within limits, the LLM that judges, standard input, and how they tell."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medtasks_utils.judging import JudgeSettings


def number(kind: type[int] | type[float], least: float, most: float = float("inf")) -> Callable[[str], float]:
    """A reader of numbers from ``least`` to ``most``."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if least <= kind(text) <= most:
                return kind(text)
        whole = "whole " if kind is int else ""
        end = "" if most == float("inf") else f" to {most:g}"
        raise argparse.ArgumentTypeError(f"{text!r} is no {whole}number from {least:g}{end}")

    return read


def add_judge(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Which LLM, and the limits."""
    add = parser.add_argument
    add("--model", required=required, metavar="NAME", help="the judging model; default: gpt-4o-mini")
    add("--base", metavar="URL", help="the endpoint, as in http://localhost:8000/v1; default: OpenAI's")
    add("--key_var", metavar="NAME", help="environment variable that holds the key")
    add("--max_tokens", type=number(int, 1), default=4096, metavar="N", help="of a reply, reasoning included")
    add("--max_retries", type=number(int, 0), default=6, metavar="N", help="further tries of a failed call")
    add("--concurrency", type=number(int, 1), default=16, metavar="N", help="calls in flight at once, at most")
    add("--cache", metavar="PATH", help="file of answered calls; default: in the user's cache folder")


def judge_settings(arguments: argparse.Namespace, **more: Any) -> JudgeSettings:
    """What :func:`add_judge` was given."""
    from medtasks_utils.judging import DEFAULT_MODEL, JudgeSettings

    return JudgeSettings.from_environment(
        model=arguments.model or DEFAULT_MODEL,
        base_url=arguments.base,
        key_variable=arguments.key_var,
        cache=arguments.cache,
        max_tokens=arguments.max_tokens,
        max_retries=arguments.max_retries,
        concurrency=arguments.concurrency,
        **more,
    )


def text_on_standard_input() -> str:
    """All of it, printable."""
    from medtasks_utils.extraction.printable import printable

    return printable(sys.stdin.read())


def show(arguments: argparse.Namespace, told: Any, text: str, failed: bool = False) -> int:
    """Print what a command has to tell, as JSON with ``--json`` and else as text; its exit code."""
    said = json.dumps(told, indent=2) if arguments.json else text
    print(said, end="\n" if said else "", flush=True)
    return int(failed)


def warn(line: str) -> None:
    """Say a line on standard error."""
    print(f"warning: {line}", file=sys.stderr)
