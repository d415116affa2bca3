"""One OpenAI-compatible server for tests: it says what it is told to, fails on purpose, and keeps what it was asked.

What it says is a function of the request: a text, a whole body (see :func:`completion`, which takes ``tool_calls`` and
other fields of a message too), or a :class:`Fault`.
"""

from __future__ import annotations

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

Request = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """Something other than a completion: a status (0 hangs up without a word), and a body, JSON unless a string."""

    status: int
    body: Any = field(default_factory=lambda: {"error": {"message": "on purpose"}})
    headers: Mapping[str, str] = field(default_factory=dict)


HANG_UP = Fault(0)
Answer = str | Fault | dict[str, Any]
Answering = Callable[[Request], Answer]


def completion(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A completion of 7 + 3 tokens, chat or not; ``message`` has ``tool_calls``, ``refusal`` and other fields."""
    said = {"message": {"role": "assistant", "content": content, **message}, "text": content}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, **said}],
            "created": 0, "model": "m", "usage": usage}  # fmt: skip


def whole(messages: Sequence[Mapping[str, Any]]) -> str:
    """A chat as one text."""
    return "\n".join(str(message["content"]) for message in messages)


def prompt_of(request: Request) -> str:
    """What a request asks, chat or not."""
    return whole(request["messages"]) if "messages" in request else str(request["prompt"])


def draw(text: str) -> random.Random:
    """Chance, but the same on every machine."""
    return random.Random(hashlib.sha256(text.encode()).digest())


class InTurn:
    """One answer after another, whatever is asked; the last for ever."""

    def __init__(self, *answers: Answer | Answering) -> None:
        self.answers = list(answers)

    def __call__(self, request: Request) -> Answer:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(request) if callable(answer) else answer


class Faulty:
    """Shares of requests end in faults, by lot; the rest is answered otherwise."""

    def __init__(self, shares: Sequence[tuple[float, Fault]], otherwise: Answering) -> None:
        self.shares = shares
        self.otherwise = otherwise
        self._tries: Counter[str] = Counter()

    def __call__(self, request: Request) -> Answer:
        text = prompt_of(request)
        self._tries[text] += 1
        lot = draw(f"{self._tries[text]} {text}").random()
        for share, fault in self.shares:
            lot -= share
            if lot < 0:
                return fault
        return self.otherwise(request)


class FakeServer:
    """Used as ``with``.

    Args:
        answer: what to say.
        latency: seconds before it is said, or what they are for a request.

    Attributes:
        url: the base, which ends in ``/v1``.
        requests: all, in order, as JSON; ``headers`` theirs, by lower-case names.
        answered: prompts that got a completion, with how often.
        most_in_flight: at any moment.
    """

    def __init__(self, answer: Answering, latency: float | Callable[[Request], float] = 0.0) -> None:
        self.answer = answer
        self.latency = latency
        self.answer_to_get: Fault | None = None
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def counts(self) -> dict[str, int]:
        """Requests, completions, the most in flight."""
        answered = sum(self.answered.values())
        return {"requests": len(self.requests), "answered": answered, "most_in_flight": self.most_in_flight}

    def __enter__(self) -> Any:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def respond(self, request: Request, headers: dict[str, str]) -> Fault:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        time.sleep(self.latency(request) if callable(self.latency) else self.latency)
        answer = self.answer(request)
        with self._lock:
            self._in_flight -= 1
            if isinstance(answer, Fault):
                return answer
            self.answered[prompt_of(request)] += 1
        return Fault(200, completion(answer) if isinstance(answer, str) else answer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake: FakeServer

    def do_GET(self) -> None:
        self._send(self.fake.answer_to_get or Fault(200, {"data": [{"id": "m"}], **self.fake.counts()}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._send(self.fake.respond(request, {name.lower(): value for name, value in self.headers.items()}))

    def _send(self, answer: Fault) -> None:
        if answer.status == 0:
            self.close_connection = True
            return
        body = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""
