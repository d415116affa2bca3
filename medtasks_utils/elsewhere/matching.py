"""Find the document of a task to which each imported response belongs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from medtasks_utils.results.samples import Row

from .contents import plain_words
from .other_runs import Response, identity_of

NOWHERE = -1
"""The index of the document of a response that belongs to none."""


def by_prompt(responses: Iterable[Response], documents: Sequence[Row], fields: Sequence[str]) -> list[int]:
    """Return, for each response, the index of the document that its prompt shows.

    A prompt shows a document if it contains the text of all ``fields``. If it shows several documents, it belongs to
    the one with the longest text or, on a tie, to the first of these.
    """
    shown = [_shown(doc, fields) for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # indexed by longest word, so that few have to be searched
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    found = []
    for response in responses:
        text = f" {plain_words(' '.join(message['content'] for message in response.prompt))} "
        likely = sorted(chain.from_iterable(by_word[word] for word in by_word.keys() & set(text.split())))
        places = [place for place in likely if all(f" {part} " in text for part in shown[place])]
        found.append(max(places, key=lambda place: len("".join(shown[place])), default=NOWHERE))
    return found


def _shown(doc: Row, fields: Sequence[str]) -> list[str]:
    """Return the words of each named field of a document, and of each item of a list, if there are any."""
    texts: list[object] = []
    for value in map(doc.get, fields):
        texts += value if isinstance(value, list) else [value or ""]
    return list(filter(None, map(plain_words, map(str, texts))))


def by_id(
    responses: Iterable[Response],
    documents: Sequence[Row],
    fields: Sequence[str],
    fits: Callable[[Response, Row], bool] = lambda response, doc: True,
) -> list[int]:
    """Return, for each response, the index of the only document with its id.

    If the documents lack one of the ``fields``, or have none of the ids there, the ids are looked up in the one field
    by which most responses belong to documents; of several with the same value, each counts in part. A response with
    the id of several belongs to the only one that it ``fits``.
    """
    counts = Counter(response.id for response in responses)

    def belonging(places: Mapping[tuple[str, ...], list[int]]) -> float:
        return sum(count / len(places[identity]) for identity, count in counts.items() if identity in places)

    named = _places(documents, fields) if all(name in documents[0] for name in fields) else {}
    places = named if belonging(named) else max((_places(documents, [name]) for name in documents[0]), key=belonging)
    found = []
    for response in responses:
        likely = places.get(response.id, [])
        if len(likely) > 1:
            likely = [place for place in likely if fits(response, documents[place])]
        found.append(likely[0] if len(likely) == 1 else NOWHERE)
    return found


def _places(documents: Sequence[Row], names: Sequence[str]) -> Mapping[tuple[str, ...], list[int]]:
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, doc in enumerate(documents):
        places[identity_of(doc, names)].append(place)
    return places
