"""Create and compare signatures of results: one line with everything that comparable results must share.

The idea and the form come from sacreBLEU.

::

    medhallu|data:hub@51506045|rows:1f2e3d4c5b6a|n:800|select:difficulty=hard|opts:-|prompt:9f8e7d6c|chat:yes|
    shots:0|gen:max_gen_toks=1024|repeats:1|scorers:-|filter:strict-match|v:1.0|medtasks:0.1.0|lm_eval:0.4.13

============  ====================================================================================================
(none)        the name of the task comes first, without a key
``data``      the source of the rows: ``hub@<commit>``, ``sample``, or ``files`` for a directory
``rows``      hash of the evaluated documents, in order: equal for equal rows, whatever their source
``n``         number of documents
``select``    options that choose rows and are not at their default; irrelevant if the rows are equal
``opts``      other options that are not at their default, can change a score, and affect no other field
``prompt``    hash of the templates, the system message and the few-shot examples
``chat``      whether the model's chat template was applied
``shots``     number of few-shot examples
``gen``       generation settings, without empty ones and those of greedy decoding
``repeats``   generations per example
``scorers``   names of further scorers (explanation metrics, judges) and a hash of their signatures
``filter``    the filter
``v``         the task's version, then the versions of packages that scores depend on
============  ====================================================================================================

It contains no path, address or key: values longer than 24 characters, or with other characters than letters, digits
and ``_.+-``, become hashes.
"""

import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from medtasks_utils.benchmarks.options import Options

NO_VALUE = "-"
"""The value of an empty field."""

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
    "repeats": "the numbers of generations per example differ",
}
_IRRELEVANT = {"task", "data", "select"}  # "rows" covers what matters in these


def signature(task: str, fields: Mapping[str, Any], packages: Sequence[str]) -> str:
    """Return the signature of a task's results under one filter.

    Args:
        task: the task's name.
        fields: the fields of the table above, without the versions of packages.
        packages: packages whose versions affect scores, besides medtasks and lm_eval.
    """
    names = ("medtasks", "lm-eval", *packages)
    versions = {name.replace("-", "_"): importlib.metadata.version(name) for name in names}
    parts = [f"{key}:{value}" for key, value in {**fields, **versions}.items()]
    return "|".join([task, *(re.sub(r"[|\s]", "_", part) for part in parts)])


def parse(text: str) -> dict[str, str]:
    """Parse a signature into its fields by key; the task's name is under ``task``."""
    task, *fields = text.split("|")
    parsed = {"task": task}
    for field in fields:
        key, _, value = field.partition(":")
        parsed[key] = value
    return parsed


def digest(value: Any, length: int = 8) -> str:
    """Return the first ``length`` hexadecimal digits of a hash of a JSON value."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def as_signed(template: Any) -> Any:
    """Return a template unchanged; for a function, return its name and a hash of its code, equal in every process."""
    code = getattr(template, "__code__", None)
    if code is None:
        return template
    # The repr of an inner function contains its address in memory.
    constants = [repr(constant) for constant in code.co_consts if not hasattr(constant, "co_code")]
    code_hash = digest([code.co_code.hex(), repr(code.co_names), constants])
    return f"{template.__module__}.{template.__qualname__}#{code_hash}"


def digest_of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a hash of documents, which depends on their order but not on the order of their fields."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(json.dumps(row, sort_keys=True, default=str).encode() + b"\n")
    return whole.hexdigest()[:12]


def options_as_signed(options: Options) -> dict[str, str]:
    """Return the fields ``select`` and ``opts``, which list options with other values than the default."""
    values, defaults = options.model_dump(), type(options)().model_dump()
    changed = {name for name in values if values[name] != defaults[name]}
    about = options.about()
    choosing = {name for name in changed if about[name].chooses_rows}
    return {
        "select": _pairs(values, choosing),
        "opts": _pairs(values, {name for name in changed - choosing if about[name].is_signed}),
    }


def generation_as_signed(settings: Mapping[str, Any]) -> str:
    """Return the field ``gen``: generation settings, except empty ones and those of greedy decoding."""
    changed = {name for name, value in settings.items() if value not in (None, "", [], (), _GREEDY.get(name))}
    return _pairs(settings, changed)


def _pairs(values: Mapping[str, Any], names: Iterable[str]) -> str:
    return ",".join(f"{name}={_shown(values[name])}" for name in sorted(names)) or NO_VALUE


def _shown(value: Any) -> str:
    text = "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if _PLAIN.fullmatch(text) else f"#{digest(value)}"


class SignatureDifference(NamedTuple):
    """A field in which two signatures differ; ``refuse`` is True if such results must not be compared."""

    field: str
    message: str
    refuse: bool


def incompatibilities(first: str | None, second: str | None) -> list[SignatureDifference]:
    """Return the differences that make a comparison of two results unfair; empty if there are none.

    The source of the rows and the options that chose them do not matter if the rows are equal. A field that only one
    signature has counts as a difference, so that signatures of different versions cause at least a warning. If one of
    the signatures is missing, the list is empty.
    """
    if not first or not second:
        return []
    a, b = parse(first), parse(second)
    differences = []
    for field in dict.fromkeys([*a, *b]):
        left, right = a.get(field, "none"), b.get(field, "none")
        if left == right or field in _IRRELEVANT:
            continue
        meaning = _COMPARABLE_ONLY_IF_EQUAL.get(field) or _WORTH_A_WARNING.get(field) or f"versions of {field} differ"
        differences.append(
            SignatureDifference(field, f"{meaning} ({left} and {right})", refuse=field in _COMPARABLE_ONLY_IF_EQUAL)
        )
    return differences
