"""Find the document of a task to which each imported response belongs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from medtasks_utils.benchmarks.known_issues import words_of
from medtasks_utils.results.samples import Row

from .other_runs import Response

NOWHERE = -1


def by_prompt(
    responses: Sequence[Response], documents: Sequence[Row], fields: Sequence[str]
) -> dict[int, list[Response]]:
    """Group responses by the index of the document that their prompt shows, or -1 if it shows none.

    A prompt shows a document if it contains the text of all ``fields``. If it shows several documents, it belongs to
    the one with the longest text or, on a tie, to the first of these.
    """
    shown = [list(filter(None, map(words_of, _texts(doc, fields)))) for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # indexed by longest word, so that few have to be searched
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    matched: dict[int, list[Response]] = defaultdict(list)
    for response in responses:
        text = f" {words_of(' '.join(message['content'] for message in response.prompt))} "
        likely = sorted(chain.from_iterable(by_word[word] for word in by_word.keys() & set(text.split())))
        places = [place for place in likely if all(f" {part} " in text for part in shown[place])]
        longest = max(places, key=lambda place: len("".join(shown[place])), default=NOWHERE)
        matched[longest].append(response)
    return matched


def by_id(responses: Sequence[Response], documents: Sequence[Row], fields: Sequence[str]) -> dict[int, list[Response]]:
    """Group responses by the index of the document with their id, or -1 if no document or several have it.

    If the documents lack one of the ``fields``, the ids are looked up in the one field of the documents by which most
    responses belong to exactly one document.
    """
    have_fields = all(name in documents[0] for name in fields)
    candidates = []
    for names in [fields] if have_fields else [[name] for name in documents[0]]:
        places: dict[tuple[str, ...], int] = {}
        for place, doc in enumerate(documents):
            identity = tuple(str(doc[name]).strip() for name in names)
            places[identity] = NOWHERE if identity in places else place
        matched: dict[int, list[Response]] = defaultdict(list)
        for response in responses:
            matched[places.get(response.id, NOWHERE)].append(response)
        candidates.append(matched)
    return min(candidates, key=lambda by_place: len(by_place.get(NOWHERE, ())))


def _texts(doc: Row, fields: Sequence[str]) -> Iterator[str]:
    """Yield the text of each named field of a document; each item of a list is a separate text."""
    for value in map(doc.get, fields):
        yield from map(str, value if isinstance(value, list) else [value or ""])
