"""Find the document of a task to which each imported response belongs."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain

from medtasks_utils.benchmarks.facts import Data
from medtasks_utils.results.samples import Row

from .other_runs import Response
from .record_contents import as_text, plain_words

NOWHERE = -1
"""The document index of a response that matches no document."""

Identity = tuple[str, ...]
"""The normalised words of the fields that together identify a document."""


class Documents(list[Row]):
    """The documents of a task, which are indexed once for all runs."""

    def __init__(self, documents: Iterable[Row]) -> None:
        super().__init__(documents)
        self.places = cache(self._places)
        self.by_word = cache(self._by_word)

    def _places(self, *fields: str) -> Mapping[Identity, list[int]]:
        """Return the indices of the documents, by the words of the fields."""
        places: dict[Identity, list[int]] = defaultdict(list)
        for place, doc in enumerate(self):
            places[_words(doc[name] for name in fields)].append(place)
        return places

    def _by_word(self, *fields: str) -> tuple[list[list[str]], Mapping[str, list[int]]]:
        """Return the texts that each document shows, and, for a fast search, the documents' indices by longest word."""
        shown = [_shown(doc, fields) for doc in self]
        by_word: dict[str, list[int]] = defaultdict(list)
        for place, parts in enumerate(shown):
            by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
        return shown, by_word


def find_documents(
    responses: Iterable[Response],
    documents: Documents,
    data: Data,
    id_fields: Sequence[str],
    fits: Callable[[Response, Row], bool],
) -> list[int]:
    """Return the index of each response's document, found by id or, without ``id_fields``, by the prompt.

    The index is :data:`NOWHERE` for a response that matches no document.

    If half of the ids or more match no document, the ids and other fields of the records are also searched for the
    documents' texts, and the result is used if it matches more responses. Other fields are ignored where a row yields
    several documents, since they may contain the texts of all of them.

    ``fits`` decides which of several documents with the same id a response belongs to.
    """

    def texts_of(response: Response) -> Iterable[object]:
        if not id_fields:
            return [message["content"] for message in response.prompt]
        return chain(response.id, () if data.told_apart_by else response.stated.values())

    places = by_id(responses, documents, id_fields, fits) if id_fields else []
    if 2 * places.count(NOWHERE) < len(places):
        return places
    by_text = by_prompt((" ".join(map(as_text, texts_of(response))) for response in responses), documents, data.shown)
    return min(filter(None, (places, by_text)), key=lambda places: places.count(NOWHERE))


def by_prompt(prompts: Iterable[str], documents: Documents, fields: Sequence[str]) -> list[int]:
    """Return, for each prompt, the index of the document that it shows, or :data:`NOWHERE`.

    A prompt shows a document if it contains the text of all ``fields``. If it shows several documents, some of them
    as solved examples, it asks about the last. If one document's text contains another's, only the longer one counts.
    """
    shown, by_word = documents.by_word(*fields)

    def asked(prompt: str) -> int:
        """Return the index of the document that a prompt asks about, or :data:`NOWHERE`."""
        text = f" {plain_words(prompt)} "
        likely = sorted(chain.from_iterable(by_word[word] for word in by_word.keys() & set(text.split())))
        spans = {}
        for place in likely:
            if all(f" {part} " in text for part in shown[place]):
                longest = max(shown[place], key=len)
                start = text.rindex(f" {longest} ")
                spans[place] = range(start, start + len(longest))

        def is_whole(place: int) -> bool:
            span = spans[place]
            return not any(
                other.start <= span.start and span.stop <= other.stop and len(span) < len(other)
                for other in spans.values()
            )

        whole = filter(is_whole, spans)
        return max(whole, key=lambda place: (spans[place].start, len("".join(shown[place]))), default=NOWHERE)

    return list(map(asked, prompts))


def _shown(doc: Row, fields: Sequence[str]) -> list[str]:
    """Return the words of each named field of a document, and of each item of a list; empty fields are left out."""
    texts: list[object] = []
    for value in map(doc.get, fields):
        texts += value if isinstance(value, list) else [value or ""]
    return list(filter(None, map(plain_words, map(str, texts))))


def by_id(
    responses: Iterable[Response],
    documents: Documents,
    fields: Sequence[str],
    fits: Callable[[Response, Row], bool] = lambda response, doc: True,
) -> list[int]:
    """Return, for each response, the index of the document that its id identifies, or :data:`NOWHERE`.

    If the documents lack one of the ``fields``, or none of the ids occurs in them, the field that matches most
    responses is used; a match with n documents counts as 1/n. If several documents have a response's id, those with the
    same spelling are preferred, and the response belongs to the one that it ``fits``. If it fits none or more than one,
    the result is :data:`NOWHERE`.
    """
    counts = Counter(_words(response.id) for response in responses)

    def belonging(places: Mapping[Identity, list[int]]) -> float:
        return sum(count / len(places[identity]) for identity, count in counts.items() if identity in places)

    named = documents.places(*fields) if all(name in documents[0] for name in fields) else {}
    places = named if belonging(named) else max(map(documents.places, documents[0]), key=belonging)
    matches = []
    for response in responses:
        likely = places.get(_words(response.id), [])
        if len(likely) > 1:  # such as ids that differ in their letters' case
            as_written = [
                place for place in likely if {*map(str, response.id)} <= {*map(str, documents[place].values())}
            ]
            likely = as_written or likely
        if len(likely) > 1:
            likely = [place for place in likely if fits(response, documents[place])]
        matches.append(likely[0] if len(likely) == 1 else NOWHERE)
    return matches


def _words(values: Iterable[object]) -> Identity:
    """Return the words of each value, without the .0 of a whole number."""
    return tuple(plain_words(str(value).strip().removesuffix(".0")) for value in values)
