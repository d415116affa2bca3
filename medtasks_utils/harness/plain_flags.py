"""``--data`` and ``--set``: plain flags that become ``--metadata``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.options import Options
from medtasks_utils.errors import OptionError
from medtasks_utils.harness.options import DATA_KEY


def with_plain_flags(metadata: Mapping[str, Any], data: str | None, settings: Sequence[str]) -> dict[str, Any]:
    """``--metadata`` with what ``--data`` and ``--set`` say put in.

    Raises:
        OptionError: where a setting is not ``benchmark.option=value``, or two disagree.
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
        value = _value(benchmarks()[benchmark].options, option, text)
        if given.get(option, value) != value:
            raise OptionError(
                f"--set {setting}: {benchmark}.{option} is also given as {json.dumps(given[option])}; give it once"
            )
        merged[benchmark] = {**given, option: value}
    return merged


def by_benchmark(settings: Sequence[str]) -> dict[str, list[str]]:
    """What ``--set`` says, by benchmark."""
    found: dict[str, list[str]] = {}
    for setting in settings:
        found.setdefault(_parts(setting)[0], []).append(setting)
    return found


def _parts(setting: str) -> tuple[str, str, str]:
    name, equals, text = setting.partition("=")
    benchmark, dot, option = (part.strip() for part in name.partition("."))
    if not (equals and dot and option):
        raise OptionError(f"--set takes BENCHMARK.OPTION=VALUE, as in medhallu.difficulty=hard, not {setting!r}")
    if benchmark not in benchmarks():
        raise OptionError(f"--set {setting}: {benchmark!r} is none of {', '.join(benchmarks())}")
    return benchmark, option, text


def _value(options: type[Options], option: str, text: str) -> Any:
    """What is meant by a text: the first that the option takes of JSON, the text itself, and a list with commas.

    ``1.2`` is a version and no number where the option says so, and ``rougeL,bleu`` is a list where it takes one. What
    the option does not take at all is left to the check of all options, which says what is wrong.
    """
    listed = [part.strip().strip("'\"") for part in text.strip().strip("[]()").split(",") if part.strip()]
    readings = [text, listed] if "," in text or text.strip().startswith("[") else [text]
    with suppress(ValueError):
        readings.insert(0, json.loads(text))
    return next((reading for reading in readings if _fits(options, option, reading)), readings[0])


def _fits(options: type[Options], option: str, value: Any) -> bool:
    try:
        options(**{option: value})
    except ValidationError as error:
        return all(not problem["loc"] for problem in error.errors())  # a check over several options comes later
    return True
