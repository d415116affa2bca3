"""What flags of several commands have in common: numbers within limits, the LLM that judges, text on standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medtasks_utils.judging import JudgeSettings

_OF_JUDGES = ("max_tokens", "max_retries", "concurrency")


def number(
    kind: type[int] | type[float], least: float, most: float = float("inf"), above: bool = False
) -> Callable[[str], float]:
    """A reader of numbers from ``least`` (``above``: greater than that) to ``most``."""

    def read(text: str) -> float:
        value = kind(text)
        if not least <= value <= most or (above and value == least):
            raise ValueError
        return value

    end = "" if most == float("inf") else f" and up to {most:g}"
    read.__name__ = f"number {'above' if above else 'from'} {least:g}{end}"  # argparse names it in its error
    return read


def add_judge(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Which LLM, and the limits."""
    parser.add_argument("--model", required=required, metavar="NAME", help="the judging model; default: gpt-4o-mini")
    parser.add_argument("--base", metavar="URL", help="the endpoint, as in http://localhost:8000/v1; default: OpenAI's")
    parser.add_argument("--key_var", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--max_tokens", type=number(int, 1), metavar="N", help="of a reply, reasoning included")
    parser.add_argument("--max_retries", type=number(int, 0), metavar="N", help="further tries of a failed call")
    parser.add_argument("--concurrency", type=number(int, 1), metavar="N", help="calls in flight at once, at most")
    parser.add_argument("--cache", metavar="PATH", help="file of answered calls; default: in the user's cache folder")


def judge_settings(arguments: argparse.Namespace, **more: Any) -> JudgeSettings:
    """What :func:`add_judge` was given."""
    from medtasks_utils.judging import DEFAULT_MODEL, JudgeSettings

    given = {name: getattr(arguments, name) for name in _OF_JUDGES if getattr(arguments, name) is not None}
    return JudgeSettings.from_environment(
        model=arguments.model or DEFAULT_MODEL,
        base_url=arguments.base,
        key_variable=arguments.key_var,
        cache=arguments.cache,
        **given,
        **more,
    )


def text_on_standard_input() -> str:
    """All of it, printable."""
    from medtasks_utils.errors import MedtasksError
    from medtasks_utils.extraction.printable import printable

    try:
        return printable(sys.stdin.read())
    except UnicodeDecodeError as error:
        raise MedtasksError(f"standard input is not {error.encoding}: {error.reason} at byte {error.start}") from None


def warn(line: str) -> None:
    """Say a line on standard error."""
    print(f"warning: {line}", file=sys.stderr)
