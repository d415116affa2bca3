"""Run a local judge that answers every prompt of ours."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from given import table
from local_server import Answer, Answering, LocalServer, Request
from scripts import draw, prompt_of, whole

LABELS = ("FULLY_SUPPORTED", "PARTIALLY_SUPPORTED", "NOT_SUPPORTED")


def sound(request: Request) -> Answer:
    """Return a valid reply of a judge, which depends only on the prompt."""
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
    """Return a complete reply object for G-Eval."""
    (reply,) = table("geval_reply")
    return {**reply, "final_score": score, **changed}


def faulty(shares: Sequence[tuple[float, Answer]], otherwise: Answering) -> Answering:
    """Return a reply function by which random shares of requests get these faults, and others go to ``otherwise``."""
    tries = Counter[str]()

    def answer(request):
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
    """A server that gives valid judgements by default."""

    def __init__(self, answer=sound):
        super().__init__(answer)

    @property
    def judging(self) -> list[Request]:
        """The requests without the probe at the start of a run."""
        return [request for request in self.requests if '"ready"' not in whole(request["messages"])]
