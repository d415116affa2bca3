"""What the local server says: one answer after another, some held back, others by lot."""

import hashlib
import itertools
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from local_server import Answer, Answering, Fault, Request


def refusal(status: int, words: str) -> Fault:
    """A fault with the server's words."""
    return Fault(status, {"error": {"message": words}})


def whole(messages: Sequence[Mapping[str, Any]]) -> str:
    """A chat as one text."""
    return "\n".join(str(message["content"]) for message in messages)


def prompt_of(request: Request) -> str:
    """What a request asks, with its seed: requests that are equal ask the same."""
    return json.dumps([request.get("messages") or request.get("prompt"), request.get("seed")])


def draw(text: str) -> random.Random:
    """Chance, but the same on every machine."""
    return random.Random(hashlib.sha256(text.encode()).digest())


def in_turn(*answers: Answer | Answering) -> Answering:
    """One answer after another, whatever is asked; the last for ever."""
    left = itertools.chain(answers, itertools.repeat(answers[-1]))

    def answer(request: Request) -> Answer:
        this = next(left)
        return this(request) if callable(this) else this

    return answer


def together(number: int, answer: Answering) -> Answering:
    """The answers, the first of which wait until so many are asked for at once: no fewer would end the wait."""
    first, met = itertools.count(), threading.Barrier(number)

    def waiting(request: Request) -> Answer:
        if next(first) < number:
            met.wait(60)
        return answer(request)

    return waiting


def echoed(request: Request, values: Any = None) -> Answer:
    """The log-probabilities of a prompt that is to be echoed, or the same values for any; else a full stop."""
    if not request.get("echo"):
        return "."
    choices = []
    for index, tokens in enumerate(request["prompt"]):
        found = values or [None, *(-1.0 - token % 7 for token in tokens[1:]), -1.0]
        top = [value and {"x": -1.0} for value in found]
        choices.append({"index": index, "logprobs": {"token_logprobs": found, "top_logprobs": top}})
    return {"choices": choices}


class Held:
    """Answers so many requests; those after them wait for `release`, so that who asks can be ended half-way.

    Attributes:
        then: called when the first of them waits; sets `reached` unless it is told otherwise.
    """

    def __init__(self, number: int, answer: Answering) -> None:
        self.answer, self.number = answer, number
        self.reached, self.release = threading.Event(), threading.Event()
        self.then: Callable[[], object] = self.reached.set
        self._places = itertools.count()

    def __call__(self, request: Request) -> Answer:
        place = next(self._places)
        if place == self.number:
            self.then()
        if place >= self.number:
            self.release.wait(300)
        return self.answer(request)
