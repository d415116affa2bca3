"""Define replies of the local server: in turn, at random, or held back."""

import hashlib
import itertools
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from local_server import Answer, Answering, Fault, Request, completion


def refusal(status: int, words: str) -> Fault:
    """Return a fault with a message of the server."""
    return Fault(status, {"error": {"message": words}})


def as_answer(answer: Any) -> Answer:
    """Return the answer of a table's row: a fault by its status, a completion by what it is made of, or a body."""
    if isinstance(answer, list):
        content, finish, message = answer
        return completion(content, finish, **message)
    return Fault(**answer) if isinstance(answer, dict) and "status" in answer else answer


def whole(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return a chat as one text."""
    return "\n".join(str(message["content"]) for message in messages)


def prompt_of(request: Request) -> str:
    """Return a key of a request: its prompt and its seed."""
    return json.dumps([request.get("messages") or request.get("prompt"), request.get("seed")])


def draw(text: str) -> random.Random:
    """Return a random generator seeded by a text, which is the same on every machine."""
    return random.Random(hashlib.sha256(text.encode()).digest())


def in_turn(*answers: Answer | Answering) -> Answering:
    """Return a reply function that gives the answers in turn, whatever the request, and repeats the last."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))

    def answer(request):
        this = next(left)
        return this(request) if callable(this) else this

    return answer


def together(number: int, answer: Answering) -> Answering:
    """Return a reply function whose first ``number`` replies wait until that many requests are under way at once."""
    first, met = itertools.count(), threading.Barrier(number)

    def waiting(request):
        if next(first) < number:
            met.wait(60)
        return answer(request)

    return waiting


def echoed(request: Request, values: Any = None) -> Answer:
    """Return log-probabilities for a prompt to be echoed, by default made from its tokens, or else a full stop."""
    if not request.get("echo"):
        return "."
    choices = []
    for index, tokens in enumerate(request["prompt"]):
        found = values or [None, *(-1.0 - token % 7 for token in tokens[1:]), -1.0]
        top = [value and {"x": -1.0} for value in found]
        choices.append({"index": index, "logprobs": {"token_logprobs": found, "top_logprobs": top}})
    return {"choices": choices}


class Held:
    """A reply function that answers ``number`` requests; later ones wait for ``release``, so a run can be cut short.

    Attributes:
        then: a function that is called when the first request waits; by default, it sets ``reached``.
    """

    def __init__(self, number, answer):
        self.answer, self.number = answer, number
        self.reached, self.release = threading.Event(), threading.Event()
        self.then: Callable[[], object] = self.reached.set
        self._places = itertools.count()

    def __call__(self, request):
        place = next(self._places)
        if place == self.number:
            self.then()
        if place >= self.number:
            self.release.wait(300)
        return self.answer(request)
