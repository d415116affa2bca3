"""A local judge that answers every prompt of ours."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from given import table
from local_server import Answer, Answering, LocalServer, Request
from scripts import draw, prompt_of, whole

LABELS = ("FULLY_SUPPORTED", "PARTIALLY_SUPPORTED", "NOT_SUPPORTED")


def sound(request: Request) -> Answer:
    """What a sound judge says: a function of the prompt alone."""
    messages = request["messages"]
    text, rng = whole(messages), draw(messages[-1]["content"])
    if '"ready"' in text:
        return '{"ready": true}'
    if "final_score" in text:
        return json.dumps(geval_reply(rng.randrange(101)))
    if "JSON array" in text:
        return json.dumps([f"Claim {index} of {rng.randrange(10**9)}." for index in range(6)])
    return rng.choice(LABELS)


def geval_reply(score: Any, **changed: Any) -> dict[str, Any]:
    """A complete object for G-Eval."""
    (reply,) = table("geval_reply")
    return {**reply, "final_score": score, **changed}


def faulty(shares: Sequence[tuple[float, Answer]], otherwise: Answering) -> Answering:
    """Shares of requests end in faults or useless replies, by lot; the rest is answered otherwise."""
    tries = Counter[str]()

    def answer(request: Request) -> Answer:
        text = prompt_of(request)
        tries[text] += 1
        lot = draw(f"{tries[text]} {text}").random()
        for share, fault in shares:
            lot -= share
            if lot < 0:
                return fault
        return otherwise(request)

    return answer


class JudgeServer(LocalServer):
    """A server that judges, unless it is told otherwise."""

    def __init__(self, answer: Answering = sound) -> None:
        super().__init__(answer)

    @property
    def judging(self) -> list[Request]:
        """The requests without the small check at the start of a run."""
        return [request for request in self.requests if '"ready"' not in whole(request["messages"])]
