"""A local OpenAI-compatible judge: it waits as long as it is told, answers every prompt of ours, fails on purpose,
and remembers what it was asked.

``python tests/judge_server.py --latency 0.2`` serves until it is killed; ``GET /counts`` tells what it has seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Messages = list[dict[str, str]]

LABELS = ("FULLY_SUPPORTED", "PARTIALLY_SUPPORTED", "NOT_SUPPORTED")


def whole(messages: Messages) -> str:
    """A chat as one text."""
    return "\n".join(message["content"] for message in messages)


def draw(text: str) -> random.Random:
    return random.Random(hashlib.sha256(text.encode()).digest())


def reply_to(messages: Messages, claims: int = 6) -> str:
    """What a sound judge says: a function of the prompt alone."""
    text, rng = whole(messages), draw(messages[-1]["content"])
    if '"ready"' in text:
        return '{"ready": true}'
    if "final_score" in text:
        return json.dumps(geval_reply(rng.randrange(101)))
    if "JSON array" in text:
        return json.dumps([f"Claim {index} of {rng.randrange(10**9)}." for index in range(claims)])
    return rng.choice(LABELS)


def geval_reply(score: Any, **changed: Any) -> dict[str, Any]:
    """A complete object for G-Eval."""
    return {
        "claims": ["One."],
        "alignment": {"aligned": ["One."], "contradicting": [], "new": []},
        "correct_option_justified": True,
        "medical_errors": [],
        "distractor_refutation": "absent",
        "reasoning": "clear",
        "final_score": score,
        "justification": "It is so.",
        **changed,
    }


@dataclass(frozen=True)
class Fault:
    """Something other than a reply.

    Attributes:
        status: HTTP status; 0 hangs up without a word.
        body: sent as JSON, or as it is if a string.
        headers: sent with it.
    """

    status: int
    body: Any = field(default_factory=lambda: {"error": {"message": "on purpose"}})
    headers: Mapping[str, str] = field(default_factory=dict)


HANG_UP = Fault(0)


def completion(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion of 7 + 3 tokens."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice], "usage": usage}


Answer = str | Fault | dict[str, Any]
Answering = Callable[[dict[str, Any]], Answer]
"""From a request's JSON to a reply's text, a whole body, or a fault."""


def sound(request: dict[str, Any]) -> Answer:
    return reply_to(request["messages"])


class Faulty:
    """Some requests fail, by lot, but the same ones on every machine; the check at the start does not.

    Args:
        shares: of requests that end in a fault, with the fault.
        otherwise: answers the rest.
    """

    def __init__(self, shares: Sequence[tuple[float, Fault]], otherwise: Answering = sound) -> None:
        self.shares = shares
        self.otherwise = otherwise
        self._tries: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Answer:
        text = whole(request["messages"])
        with self._lock:
            self._tries[text] += 1
            lot = draw(f"{self._tries[text]} {text}").random()
        if '"ready"' not in text:
            for share, fault in self.shares:
                lot -= share
                if lot < 0:
                    return fault
        return self.otherwise(request)


class JudgeServer:
    """Used as ``with``.

    Args:
        answer: what to say.
        latency: seconds before it is said.

    Attributes:
        requests: all, in order, as JSON; ``headers`` theirs.
        answered: texts of chats that got a reply, with how often.
        most_in_flight: at any moment.
    """

    def __init__(self, answer: Answering = sound, latency: float = 0.0) -> None:
        self.answer = answer
        self.latency = latency
        self.answer_to_get: Fault | None = None
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> JudgeServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def judging(self) -> list[dict[str, Any]]:
        """The requests without the small check at the start of a run."""
        return [request for request in self.requests if '"ready"' not in whole(request["messages"])]

    def counts(self) -> dict[str, int]:
        """Requests, replies, chats that got more than one reply, the most in flight."""
        repeated = sum(count > 1 for count in self.answered.values())
        return {
            "requests": len(self.requests),
            "judging": len(self.judging),
            "answered": sum(self.answered.values()),
            "answered_twice": repeated,
            "most_in_flight": self.most_in_flight,
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        judge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._send(judge.answer_to_get or Fault(200, judge.counts()))

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with judge._lock:
                    judge.requests.append(request)
                    judge.headers.append({name.lower(): value for name, value in self.headers.items()})
                    judge._in_flight += 1
                    judge.most_in_flight = max(judge.most_in_flight, judge._in_flight)
                if judge.latency:
                    time.sleep(judge.latency)
                answer = judge.answer(request)
                with judge._lock:
                    judge._in_flight -= 1
                    if not isinstance(answer, Fault):
                        judge.answered[whole(request["messages"])] += 1
                if isinstance(answer, Fault):
                    self._send(answer)
                else:
                    self._send(Fault(200, completion(answer) if isinstance(answer, str) else answer))

            def _send(self, answer: Fault) -> None:
                if answer.status == 0:
                    self.close_connection = True
                    return
                text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
                body = text.encode()
                self.send_response(answer.status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""


def main() -> None:
    parser = argparse.ArgumentParser(description="a local judge for measurements")
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--faulty", action="store_true", help="10 %% 429, 5 %% 500, 3 %% hang-ups")
    arguments = parser.parse_args()
    shares = ((0.10, Fault(429, headers={"Retry-After": "1"})), (0.05, Fault(500)), (0.03, HANG_UP))
    with JudgeServer(Faulty(shares) if arguments.faulty else sound, arguments.latency) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
