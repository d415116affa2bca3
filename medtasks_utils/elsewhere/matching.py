"""Find the document of a task to which each imported response belongs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain

from medtasks_utils.benchmarks.known_issues import words_of
from medtasks_utils.results.samples import Row

from .other_runs import Response, identity_of

NOWHERE = -1
Matched = dict[int, list[Response]]
"""Responses by the index of their document, or ``NOWHERE``."""


def by_prompt(responses: Sequence[Response], documents: Sequence[Row], fields: Sequence[str]) -> Matched:
    """Group responses by the document that their prompt shows.

    A prompt shows a document if it contains the text of all ``fields``. If it shows several documents, it belongs to
    the one with the longest text or, on a tie, to the first of these.
    """
    shown = [_shown(doc, fields) for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # indexed by longest word, so that few have to be searched
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    matched: Matched = defaultdict(list)
    for response in responses:
        text = f" {words_of(' '.join(message['content'] for message in response.prompt))} "
        likely = sorted(chain.from_iterable(by_word[word] for word in by_word.keys() & set(text.split())))
        places = [place for place in likely if all(f" {part} " in text for part in shown[place])]
        longest = max(places, key=lambda place: len("".join(shown[place])), default=NOWHERE)
        matched[longest].append(response)
    return matched


def _shown(doc: Row, fields: Sequence[str]) -> list[str]:
    """Return the words of each named field of a document, and of each item of a list, if there are any."""
    texts: list[object] = []
    for value in map(doc.get, fields):
        texts += value if isinstance(value, list) else [value or ""]
    return list(filter(None, map(words_of, map(str, texts))))


def by_id(responses: Sequence[Response], documents: Sequence[Row], fields: Sequence[str]) -> Matched:
    """Group responses by the only document with their id.

    If the documents lack one of the ``fields``, the ids are looked up in the one field of the documents by which most
    responses belong to exactly one document.
    """
    have_fields = all(name in documents[0] for name in fields)
    keys = [fields] if have_fields else [[name] for name in documents[0]]
    candidates = [_by_fields(responses, documents, names) for names in keys]
    return min(candidates, key=lambda matched: len(matched.get(NOWHERE, ())))


def _by_fields(responses: Sequence[Response], documents: Sequence[Row], names: Sequence[str]) -> Matched:
    ids = [identity_of(doc, names) for doc in documents]
    counts = Counter(ids)
    places = {identity: place for place, identity in enumerate(ids) if counts[identity] == 1}
    matched: Matched = defaultdict(list)
    for response in responses:
        matched[places.get(response.id, NOWHERE)].append(response)
    return matched
