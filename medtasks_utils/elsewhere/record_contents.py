"""Compare an imported record with its row, and find the order of its choices.

Texts are equal if their words are: case, punctuation, white space and Unicode form do not matter.
"""

import html
import itertools
import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.benchmarks.facts import Data
from medtasks_utils.benchmarks.known_issues import words_of
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.results.samples import Row

from .other_runs import Response

# Names of fields with the right answer in files of others, as stated_fields compares them.
_TRUTHS = ("truth", "groundtruth", "groundtruthanswer", "gtanswer", "gold", "label", "target", "correctanswer")
_SAME = 1e-3  # relative difference between copies of a label of which one is rounded
_TOKEN = re.compile(r"\w+|[-+<>=±≤≥/%]")
_COLUMN = re.compile(r"((?:op|opt|option|choice|ending|answer|alternative)?s?)([a-e]|\d)")
_COLUMNS = ("abcd", "0123", "1234")
_LETTER_IN_REPLY = re.compile(r"(?<![\w'’])[A-D](?![\w'’]| [a-z])")  # not the article


def plain_words(text: str) -> str:
    """Return the words of a text in normal form, with escapes of HTML and JSON resolved."""
    return words_of(_plain(text))


def _plain(text: str) -> str:
    def character(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else " "

    return unicodedata.normalize("NFKC", re.sub(r"\\(?:u([0-9a-fA-F]{4})|[nrt])", character, html.unescape(text)))


def as_text(value: Any) -> str:
    """Return a string unchanged, and any other value as JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def stated_fields(record: Row, benchmark: Benchmark[Any]) -> Row:
    """Map a record's values to the fields of the benchmark's examples; right answers are under ``""``."""
    data = benchmark.data
    values = {
        re.sub(r"[\W_]", "", str(name)).lower(): value for name, value in record.items() if value not in (None, "", [])
    }
    if data.choices and (choices := choices_in_columns(values)):
        values.setdefault(data.choices, choices)
    fields: Row = {}
    for field in filter(None, (*data.shown, data.told_apart_by)):
        for name in (field, *data.names.get(field, ())):
            value = values.get(name.replace("_", ""))
            # A field of the same name may have a verdict, or the letters instead of the choices.
            is_label = str(value) in benchmark.answers or re.findall(r"\w+", as_text(value)) == [*LETTERS]
            if value is not None and not is_label:
                fields.setdefault(field, value)
    names = (data.truth, *data.names.get(data.truth, ()), *_TRUTHS)
    plain_names = [name.replace("_", "") for name in names]
    fields[""] = [values[name] for name in plain_names if name in values]
    return fields


def choices_in_columns(values: Row) -> list[Any]:
    """Return the values of columns such as ``opa`` to ``opd``, or ``option1`` to ``option4``; empty without them."""
    columns: dict[str, Row] = defaultdict(dict)
    for name, value in values.items():
        if match := _COLUMN.fullmatch(name):
            columns[match[1]][match[2]] = value
    for of_name in columns.values():
        places = "".join(sorted(of_name))[: len(LETTERS)]
        if places in _COLUMNS:
            return [of_name[place] for place in places]
    return []


def differing(stated: Row, doc: Row, order: str, benchmark: Benchmark[Any]) -> list[str]:
    """Return the names of the fields in which a record differs from its row; ``answer`` stands for the right answer.

    Args:
        stated: the result of :func:`stated_fields`.
        doc: the document of the row.
        order: the letters of the choices in the order that the record shows.
    """
    differing_fields = []
    for field, value in stated.items():
        content = doc[field] if field else []
        words, parts = f" {plain_words(as_text(value))} ", content if isinstance(content, list) else [content]
        if any(f" {plain_words(part)} " not in words for part in parts):
            differing_fields.append(field)
    verdicts = [is_truth(value, doc, order, benchmark) for value in stated[""]]
    return [*differing_fields, "answer"] if False in verdicts and True not in verdicts else differing_fields


def is_truth(value: Any, doc: Row, order: str, benchmark: Benchmark[Any]) -> bool | None:
    """Return whether a value is the row's right answer; None if it is not an answer in a known form."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    text, truth = str(value).strip(), str(doc[benchmark.data.truth])
    if not isinstance(benchmark, ChoiceBenchmark):
        audit = benchmark.audit
        values, right = audit.values_of(text, doc), audit.values_of(truth, doc)
        return any(itertools.starmap(_is_close, itertools.product(values, right))) if values and right else None
    places = {LETTERS.index(truth), order.index(truth)}
    number = text.removesuffix(".0")
    if number in [*"01234"]:  # from 0 or from 1
        return not places.isdisjoint((int(number), int(number) - 1))
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


def shown_order(response: Response, stated: Row, doc: Row, data: Data, is_shuffled: bool) -> tuple[str, str]:
    """Return the data's letters of the choices, in the order in which a record labels the choices A to D.

    The order comes from labels in the prompt or elsewhere in the record; without labels, from a list of choices or the
    text after the question; without either, from the data.

    Args:
        stated: the result of :func:`stated_fields`.
        doc: the document of the row.
        is_shuffled: True if the run's settings say that it shuffles choices.

    Returns:
        The letters and an empty string; if the order is unknown, an empty string and why the response is left out.
    """
    asked, *choices = (_tokens(text).strip() for text in (doc[data.shown[0]], *doc[data.choices]))
    choice = "|".join(map(re.escape, sorted(choices, key=len, reverse=True)))
    prompt = _tokens(" ".join(message["content"] for message in response.prompt))
    # Text with the question was probably shown to the model; an object with the fields of the row was not.
    by_kind = sorted(response.stated.values(), key=lambda value: isinstance(value, dict))
    texts = sorted((prompt, *map(_tokens, map(as_text, by_kind))), key=lambda text: f" {asked} " not in text)
    listed = _tokens(as_text(stated.get(data.choices, "")))
    texts = [text for text in (*texts, listed) if all(f" {choice_text} " in text for choice_text in choices)]
    unknown = "", "to shuffled choices whose order the file does not state"

    def in_order(lines: Iterable[str]) -> tuple[str, str]:
        """Return the order of the choices in lines; of equal wrong choices, the first in the data comes first.

        The order is unknown if a choice is missing, or if a wrong choice equals the right one.
        """
        places = dict(enumerate(choices))
        order = ""
        for line in lines:
            place = next((place for place, text in places.items() if text == line), None)
            if place is not None:
                order += LETTERS[place]
                del places[place]
        right = choices[LETTERS.index(doc[data.truth])]
        return unknown if places or choices.count(right) > 1 else (order, "")

    def labelled(label: str, text: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return the labels and the texts of the choices that a text lists; empty unless it lists all choices."""
        match = re.search(rf"(?: -)? ({label})(?: -)? ({choice})(?= )" * len(LETTERS), text)
        return (match.groups()[::2], match.groups()[1::2]) if match else ((), ())

    for text in texts:
        letters, lines = labelled("[abcd]", text)
        if {*letters} == {*"abcd"}:
            return in_order(line for _, line in sorted(zip(letters, lines, strict=True)))
    for text in texts:
        if text in (prompt, listed) or f" {asked} " in text:
            labels, lines = labelled(r"\w+", text)
            is_numbered = {*labels} <= {*"0123"} or len({*labels}) < len(labels)
            is_in_columns = [label[-1] for label in labels] == [*"abcd"]  # such as opa, in a row of the data
            were_shown = text != listed or not {*labels}.isdisjoint(_tokens(response.reply).split())
            if were_shown and not (is_numbered or is_in_columns or _LETTER_IN_REPLY.search(response.reply)):
                return "", f"to choices with the labels {' '.join(labels)}, which are not supported"
            lines = lines or re.findall(f"(?<= )(?:{choice})(?= )", " " + text.rpartition(f" {asked} ")[2])
            is_usual = [*dict.fromkeys(lines)] == [*dict.fromkeys(choices)]
            return (LETTERS, "") if is_usual else in_order(lines)
    return unknown if is_shuffled or shuffles(response.stated) else (LETTERS, "")


def contradicts(reply: str, doc: Row, data: Data) -> bool | None:
    """Return whether all pairs of letter and choice in a reply differ from the row's; None if the reply has no pair.

    A pair is, for example, ``B. Dantrolene``. One pair that agrees with the row is enough for False.
    """
    choices = [plain_words(choice) for choice in doc[data.choices]]
    verdicts = {
        letter == label
        for letter, text in re.findall(r"\b([A-D])(?:[.):\]]+| [-–—] )[\s*]*(?=(\S.*))", reply)
        for label, choice in zip(LETTERS, choices, strict=True)
        if f"{plain_words(text)} ".startswith(f"{choice} ")
    }
    return True not in verdicts if verdicts else None


def _tokens(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(re.sub('[‐-―−]', '-', _plain(text)).casefold()))} "


def shuffles(settings: Row) -> bool:
    """Return whether settings or a record declare that choices are shuffled, for example by ``shuffle_answers: true``.

    A permutation such as ``order: [2, 0, 1, 3]``, of numbers or letters, declares it too, unless it is the identity.
    """
    text = json.dumps(settings, default=str).lower()
    orders = re.findall(r'"\w*(?:shuffl|order|permut)\w*": "?\[?([\w", ]+)', text)
    plain_orders = {re.sub(r"\W", "", order) for order in orders}
    if any("".join(sorted(order)) in _COLUMNS and order not in _COLUMNS for order in plain_orders):
        return True
    words = {*re.findall(r'"\w*shuffl\w*": "?(\w+)', text)} - {*_COLUMNS}
    return bool(words & {"true", "yes"} or (words and not words & {"false", "no", "none", "null", "0"}))
