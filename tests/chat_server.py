"""A server of chats and completions on this machine, scripted by a test; it remembers what it was asked."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


class Asked:
    """What a server was asked.

    Attributes:
        address: for ``base_url``.
        bodies: of all requests, in the order in which they came.
        answered: of those whose replies were sent.
        headers: of all requests.
        most_at_once: the most requests that were in the making at the same time.
        failures: how many requests are still to be refused with status 503, whatever they ask.
    """

    def __init__(self) -> None:
        self.address = ""
        self.bodies: list[Body] = []
        self.answered: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self.failures = 0
        self._at_once = 0
        self._lock = threading.Lock()

    @contextmanager
    def making(self, body: Body, headers: dict[str, str]) -> Iterator[bool]:
        """A request in the making; yields whether it is to be refused."""
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            is_refused = self.failures > 0
            self.failures -= is_refused
        try:
            yield is_refused
        finally:
            with self._lock:
                self._at_once -= 1


def together(number: int, reply: Callable[[Body], str]) -> Callable[[Body], str]:
    """The replies, the first of which wait until so many are asked for at once: no less would end the wait in time."""
    first, met = itertools.count(), threading.Barrier(number)

    def waiting(body: Body) -> str:
        if next(first) < number:
            met.wait(60)
        return reply(body)

    return waiting


def answer_of(text: str | None, calls: Any = None, prompt_tokens: int | None = None) -> bytes:
    """A completion with this text, chat or not, and a chat's ``tool_calls``."""
    message = {"role": "assistant", "content": text, **({} if calls is None else {"tool_calls": calls})}
    usage = {} if prompt_tokens is None else {"usage": {"prompt_tokens": prompt_tokens}}
    return json.dumps({"choices": [{"index": 0, "text": text, "message": message}], **usage}).encode()


@contextmanager
def chat_server(
    reply: Callable[[Body], str | bytes],
    delay: Callable[[Body], float] = lambda body: 0.0,
    tried: Callable[[Body], tuple[int, bytes]] = lambda body: (200, answer_of(".")),
) -> Iterator[Asked]:
    """Serve on a free local port.

    Args:
        reply: the text for the body of a request, or the reply's own body.
        delay: seconds that it takes.
        tried: status and body for requests of a single token, by which a server is tried; they are none of the run's.
    """
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if body.get("max_tokens") == 1:
                status, answer = tried(body)
                self.send(answer, status)
                return
            with asked.making(body, dict(self.headers)) as is_refused:
                if not is_refused:
                    time.sleep(delay(body))
                    said = reply(body)
                    answer = said if isinstance(said, bytes) else answer_of(said)
            # The next request may be here before this one is counted out, if that were done after the reply.
            with suppress(OSError):
                if is_refused:
                    self.send_error(503, "not now")
                    return
                self.send(answer)
                asked.answered.append(body)

        def send(self, answer: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked.address = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
