"""Compare what a record says about its row with the row, and find the order in which it shows the choices.

Texts are equal if their words are: case, punctuation, white space and the form of characters do not matter.
"""

import html
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.benchmarks.known_issues import words_of
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.results.samples import Row

from .other_runs import Response

# Names of fields with the right answer in files of others, as stated_fields compares them.
_TRUTHS = ("truth", "groundtruth", "groundtruthanswer", "gtanswer", "gold", "label", "target", "correctanswer")
_SAME = 1e-3  # relative difference between copies of a label of which one is rounded
_TOKEN = re.compile(r"\w+|[-+<>=±≤≥/%]")
_LABEL = "(?: -)? ([abcd])(?: -)?"
_COLUMN = re.compile(r"(?:op|opt|option|choice)?([abcd])")


def plain_words(text: str) -> str:
    """Return the words of a text, ignoring escapes of HTML and JSON, and compatible forms of characters."""
    return words_of(_plain(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", re.sub(r"\\[nrt]", " ", html.unescape(text)))


def _text(value: Any) -> str:
    """Return all text in a JSON value."""
    if isinstance(value, Mapping):
        value = chain.from_iterable(value.items())
    return " ".join(map(_text, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)


def stated_fields(record: Row, benchmark: Benchmark[Any]) -> Row:
    """Return what a record states, by field of the benchmark's examples, and the right answers it names as ``""``."""
    data = benchmark.data
    values = {
        re.sub(r"[\W_]", "", str(name)).lower(): value for name, value in record.items() if value not in (None, "", [])
    }
    columns = sorted((match[1], value) for name, value in values.items() if (match := _COLUMN.fullmatch(name)))
    if data.choices and len(columns) == len(LETTERS):
        values.setdefault(data.choices, [value for _, value in columns])
    fields: Row = {}
    for field in filter(None, (*data.shown, data.told_apart_by)):
        for name in (field, *data.names.get(field, ())):
            value = values.get(name.replace("_", ""))
            if value is not None and str(value) not in benchmark.answers:  # a verdict in a field of the same name
                fields.setdefault(field, value)
    names = (data.truth, *data.names.get(data.truth, ()), *_TRUTHS)
    fields[""] = [values[name] for name in (each.replace("_", "") for each in names) if name in values]
    return fields


def differing(stated: Row, doc: Row, order: str | None, benchmark: Benchmark[Any]) -> list[str]:
    """Return the names of the fields that a record states in another way than its row; the right answer is ``answer``.

    Args:
        stated: the result of :func:`stated_fields`.
        doc: the document of the row.
        order: the letters of the choices in the order that the record shows, if it shows any.
        benchmark: the benchmark of the document.
    """
    found = []
    for field, value in stated.items():
        content = doc[field] if field else []
        words = f" {plain_words(_text(value))} "
        if any(f" {plain_words(part)} " not in words for part in (content if isinstance(content, list) else [content])):
            found.append(field)
    verdicts = [_is_truth(value, doc, order or LETTERS, benchmark) for value in stated[""]]
    return [*found, "answer"] if False in verdicts and True not in verdicts else found


def _is_truth(value: Any, doc: Row, order: str, benchmark: Benchmark[Any]) -> bool | None:
    """Return whether a value is the row's right answer; None if it is no answer in a form that is known."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    text, truth = str(value).strip(), str(doc[benchmark.data.truth])
    if not isinstance(benchmark, ChoiceBenchmark):
        audit = benchmark.audit
        values, right = audit.values_of(text, doc), audit.values_of(truth, doc)
        return any(_is_close(one, other) for one in values for other in right) if values and right else None
    places = {LETTERS.index(truth), order.index(truth)}
    if text.removesuffix(".0") in ("0", "1", "2", "3", "4"):  # from 0 or from 1
        return not places.isdisjoint((int(float(text)), int(float(text)) - 1))
    letter, options = benchmark.value(text, doc), list(map(plain_words, doc[benchmark.data.choices]))
    if letter is None:
        words = plain_words(text)
        return words == options[LETTERS.index(truth)] if words in options else None
    return LETTERS.index(letter) in places


def _is_close(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=_SAME)
    return bool(value == other)


# ---- the order of choices


def shown_order(response: Response, stated: Row, options: Sequence[str], field: str) -> str | None:
    """Return the letters of the choices in the data, in the order in which a record labels them A to D.

    The prompt tells it or, if the file has none, what else the record states.

    Args:
        response: the response.
        stated: the result of :func:`stated_fields`.
        options: the texts of the choices, in the order of the data.
        field: the field of ``stated`` with the choices.

    Returns:
        The letters; an empty text if the choices are shown in an order that cannot be told; None if none are shown.
    """
    prompt = _tokens(" ".join(message["content"] for message in response.prompt))
    choices = [_tokens(option).strip() for option in options]
    listed = _tokens(_text(stated.get(field, "")))
    texts = (prompt, *(_tokens(_text(value)) for value in response.stated.values()), listed)
    orders = (*(_order_in(text, choices, _LABEL) for text in texts), _order_in(listed, choices, ""))
    if any(orders) or not all(f" {choice} " in prompt for choice in choices):
        return next(filter(None, orders), None)
    in_turn = "(?= ).*".join(map(re.escape, choices))
    return LETTERS if re.search(f" {in_turn} ", prompt) else ""


def _order_in(text: str, choices: Sequence[str], label: str) -> str | None:
    """Return the order in which a text shows all choices, each right after its label; None if it does not.

    A label is a letter, or nothing: then the choices are A to D as they come. Lines may be in any order.
    """
    if not all(f" {choice} " in text for choice in choices):
        return None
    choice = "|".join(map(re.escape, sorted(choices, key=len, reverse=True)))
    shown = re.search(f"{label} ({choice})(?= )" * len(LETTERS), text)
    found = shown.groups() if shown else ()
    lines = sorted(zip(found[::2], found[1::2], strict=True)) if label else zip(LETTERS, found, strict=False)
    order = "".join(LETTERS[choices.index(line)] for _, line in lines)
    return order if sorted(order) == [*LETTERS] else None


def _tokens(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(re.sub('[‐-―−]', '-', _plain(text)).casefold()))} "


def shuffles(settings: Row) -> bool:
    """Return whether settings or a record say that choices are shuffled, such as ``shuffle_answers: true``."""
    said = {*re.findall(r'"\w*shuffl\w*": "?(\w+)', json.dumps(settings, default=str).lower())}
    return bool(said & {"true", "yes"} or (said and not said & {"false", "no", "none", "null", "0"}))
