"""Create signatures of results: one line with everything that comparable results must share, as in sacreBLEU.

::

    medhallu|data:hub@51506045|rows:1f2e3d4c5b6a|n:800|select:difficulty=hard|opts:-|prompts:9f8e7d6c5b4a|
    chat:yes|shots:0|gen:max_gen_toks=1024|repeats:1|scorers:-|filter:strict-match|v:1.0|medtasks:0.1.0|lm_eval:0.4.13

============  ====================================================================================================
(none)        the name of the task comes first, without a key
``data``      the source of the rows: ``hub@<commit>``, ``sample``, or ``files`` for a directory
``rows``      hash of the evaluated documents, in order: equal for equal rows, whatever their source
``n``         number of documents
``select``    options that choose rows and are not at their default; irrelevant if the rows are equal
``opts``      other options that are not at their default, can change a score, and affect no other field
``prompts``   hash of the model's input for the evaluated documents: system message, few-shot examples, question,
              prefix, choices of log-likelihood tasks, schemas of native tools; as messages before the chat template
              or, without one, as sent; earlier results have ``prompt`` instead, a hash of the templates
``chat``      whether the model's chat template was applied
``rendered``  changes to messages for the chat template (``system_in_user``, ``think_unclosed``), switches that changed
              the prompt (``enable_thinking=…``), and the date inserted (``date=…``); absent without any of these
``shots``     number of few-shot examples
``gen``       generation settings, without empty ones and those of greedy decoding
``repeats``   generations per example
``scorers``   names of further scorers (explanation metrics, judges) and a hash of their signatures
``filter``    the filter
``v``         the task's version, then the versions of packages that scores depend on
============  ====================================================================================================

A signature contains no path, address or key: values longer than 24 characters, or with characters other than letters,
digits and ``_.+-``, become hashes.
"""

import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from medtasks_utils.benchmarks.options import Options
from medtasks_utils.writing import Settings, digest, without_secrets

NO_VALUE = "-"
"""The value of an empty field."""

_GREEDY = {"do_sample": False, "temperature": 0}
_PLAIN = re.compile(r"[\w.+-]{0,24}")


def signature(task: str, fields: Settings, packages: Sequence[str]) -> str:
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
    return {"task": task, **dict(field.partition(":")[::2] for field in fields)}


def digest_of_lines(values: Iterable[Any]) -> str:
    """Return a hash of JSON values, such as documents. It depends on their order, but not on the order of keys."""
    whole = hashlib.sha256()
    for value in values:
        whole.update(json.dumps(value, sort_keys=True, default=str).encode() + b"\n")
    return whole.hexdigest()[:12]


def options_as_signed(options: Options) -> dict[str, str]:
    """Return the fields ``select`` and ``opts``, which list options that are not at their defaults."""
    values, defaults = options.model_dump(), type(options)().model_dump()
    changed = {name for name in values if values[name] != defaults[name]}
    about = options.about()
    choosing = {name for name in changed if about[name].chooses_rows}
    return {
        "select": _pairs(values, choosing),
        "opts": _pairs(values, {name for name in changed - choosing if about[name].is_signed}),
    }


def generation_as_signed(settings: Settings) -> str:
    """Return the field ``gen``: generation settings, except empty ones, secrets and those of greedy decoding.

    A temperature of None is kept, since it leaves sampling to the server.
    """
    settings = without_secrets(settings)
    if settings.get("temperature", 0) is None:
        settings = {**settings, "temperature": "default"}
    changed = {name for name, value in settings.items() if value not in (None, "", [], (), _GREEDY.get(name))}
    return _pairs(settings, changed)


def _pairs(values: Settings, names: Iterable[str]) -> str:
    return ",".join(f"{name}={_shown(values[name])}" for name in sorted(names)) or NO_VALUE


def _shown(value: Any) -> str:
    text = "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if _PLAIN.fullmatch(text) else f"#{digest(value)}"
