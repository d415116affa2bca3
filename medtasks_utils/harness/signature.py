"""Signatures of results, after sacreBLEU's: everything that two numbers must share to be comparable, in one line.

::

    medhallu|data:hub@51506045|rows:1f2e3d4c5b6a|n:800|select:difficulty=hard|opts:-|prompt:9f8e7d6c|chat:yes|
    shots:0|gen:max_gen_toks=1024|repeats:1|scorers:-|filter:strict-match|v:1.0|medtasks:0.1.0|lm_eval:0.4.13

============  ====================================================================================================
task name     comes first, without a key
``data``      where the rows came from: ``hub@<commit>``, ``sample``, or ``files`` for a directory
``rows``      hash of the documents evaluated, in order: equal for equal rows, wherever they came from
``n``         how many
``select``    options that are not at their default and choose rows; of no consequence where the rows are equal
``opts``      all other options that are not at their default, could change a score, and show in no other field
``prompt``    hash of the templates, the system message and the few-shot examples
``chat``      whether the model's chat template was applied
``shots``     few-shot examples
``gen``       generation settings that are neither empty nor those of greedy decoding
``repeats``   generations an example
``scorers``   names of further scorers (explanation metrics, judges) and a hash of their own signatures
``filter``    the filter
``v``         the task's version, then the versions of packages that scores depend on
============  ====================================================================================================

No path, address or key is in it: a value that is long or holds more than letters and digits shows as its hash.
"""

import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.options import Options

NOTHING = "-"

_GREEDY = {"do_sample": False, "temperature": 0}
_PLAIN = re.compile(r"[\w.+-]{0,24}")
_COMPARABLE_ONLY_IF_EQUAL = {
    "rows": "the rows differ",
    "n": "the numbers of examples differ",
    "prompt": "the prompts differ",
    "shots": "the numbers of few-shot examples differ",
    "opts": "the options differ",
    "scorers": "the explanation metrics or judges, or their versions, differ",
    "filter": "the filters differ",
    "v": "the task's versions differ",
}
_WORTH_A_WARNING = {
    "chat": "one run applied a chat template and the other did not",
    "gen": "the generation settings differ",
    "repeats": "the generations per example differ",
}
_OF_NO_CONSEQUENCE = {"task", "data", "select"}  # rows tells what matters of them


def signature(task: str, fields: Mapping[str, Any], packages: Sequence[str]) -> str:
    """The signature of a task's results under one filter; ``packages`` have a hand in scoring besides."""
    versions = {name.replace("-", "_"): importlib.metadata.version(name) for name in ("medtasks", "lm-eval", *packages)}
    every = {**fields, **versions}
    return "|".join([task, *(re.sub(r"[|\s]", "_", f"{key}:{value}") for key, value in every.items())])


def parse(text: str) -> dict[str, str]:
    """The fields of a signature, the task's name under ``task``; of any other text, whatever is there."""
    task, *fields = text.split("|")
    return {"task": task, **{key: value for key, _, value in (field.partition(":") for field in fields)}}


def digest(value: Any, length: int = 8) -> str:
    """Hash of what JSON can hold, in hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def as_signed(template: Any) -> Any:
    """A template, or of a function its name and a hash of what it does, the same in every process."""
    code = getattr(template, "__code__", None)
    if code is None:
        return template
    constants = [repr(one) for one in code.co_consts if not hasattr(one, "co_code")]  # which shows a place in memory
    return (
        f"{template.__module__}.{template.__qualname__}#{digest([code.co_code.hex(), repr(code.co_names), constants])}"
    )


def digest_of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Hash of documents in order, whatever the order of their fields."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(json.dumps(row, sort_keys=True, default=str).encode() + b"\n")
    return whole.hexdigest()[:12]


def options_as_signed(options: Options) -> dict[str, str]:
    """``select`` and ``opts``: options that differ from the benchmark's defaults, as in ``allow_unsure=false``."""
    values, defaults = options.model_dump(), type(options)().model_dump()
    changed = {name for name in values if values[name] != defaults[name]}
    return {
        "select": _pairs(values, changed & options.choose_rows),
        "opts": _pairs(values, changed - options.choose_rows - options.not_signed),
    }


def generation_as_signed(given: Mapping[str, Any]) -> str:
    """Generation settings without empty ones and those of greedy decoding: ``max_gen_toks=1024``."""
    return _pairs(given, {name for name in given if given[name] not in (None, "", [], (), _GREEDY.get(name))})


def _pairs(values: Mapping[str, Any], names: Iterable[str]) -> str:
    return ",".join(f"{name}={_shown(values[name])}" for name in sorted(names)) or NOTHING


def _shown(value: Any) -> str:
    text = "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if _PLAIN.fullmatch(text) else f"#{digest(value)}"


class Difference(NamedTuple):
    """A field in which two signatures differ; to ``refuse`` where the results measure different things."""

    field: str
    message: str
    refuse: bool


def incompatibilities(first: str, second: str) -> list[Difference]:
    """What stands between two results and a fair comparison, nothing for equal rows and settings.

    Where rows came from, and which options chose them, is no matter if the rows are equal. A field that one
    signature lacks is a difference, so that a signature written by another version warns at least.
    """
    a, b = parse(first), parse(second)
    found = []
    for field in dict.fromkeys([*a, *b]):
        left, right = a.get(field, "none"), b.get(field, "none")
        if left == right or field in _OF_NO_CONSEQUENCE:
            continue
        meaning = _COMPARABLE_ONLY_IF_EQUAL.get(field) or _WORTH_A_WARNING.get(field) or f"versions of {field} differ"
        found.append(Difference(field, f"{meaning} ({left} and {right})", refuse=field in _COMPARABLE_ONLY_IF_EQUAL))
    return found
