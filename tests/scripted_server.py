"""A server of chats and completions on this machine, scripted by a test; it remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass
class Refusal:
    """A reply that is no answer: a status, with the server's words, or a body of its own."""

    status: int
    words: str = ""
    raw: bytes | None = None

    @property
    def body(self) -> bytes:
        return json.dumps({"error": {"message": self.words}}).encode() if self.raw is None else self.raw


@dataclass
class Served:
    """What a server is, and was asked.

    Attributes:
        bodies: of all requests, in the order in which they came; those of one token, the probes, stand apart.
        answered: of those whose answers were sent whole.
    """

    base: str = ""
    bodies: list[Body] = field(default_factory=list)
    probes: list[Body] = field(default_factory=list)
    answered: list[Body] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def chat(self) -> str:
        """For ``base_url`` of chats."""
        return f"{self.base}/v1/chat/completions"

    @property
    def answered_prompts(self) -> list[str]:
        with self.lock:
            return [prompt_of(body) for body in self.answered]


def prompt_of(body: Body) -> str:
    """What a request asks, with its seed: requests that are equal ask the same."""
    return json.dumps([body.get("messages") or body.get("prompt"), body.get("seed")])


def completion(text: str, **usage: int) -> bytes:
    """A reply with this text, to a chat or not."""
    choice = {"index": 0, "text": text, "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [choice], "usage": usage or None}).encode()


@contextmanager
def scripted_server(
    reply: Callable[[Body], str | Refusal],
    probed: Callable[[Body], str | Refusal] = lambda body: ".",
    models: dict[str, int | None] | None = None,
    key: str | None = None,
) -> Iterator[Served]:
    """Serve on a free local port.

    Args:
        reply: the text for the body of a request, or a refusal; called by many threads at once.
        probed: the same for requests of one token.
        models: what ``/v1/models`` lists, with ``max_model_len``; None for a server without that page.
        key: without which everything is refused with 401.
    """
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            listed = [{"id": name, "max_model_len": length} for name, length in (models or {}).items()]
            self.send(404 if models is None else 200, json.dumps({"data": listed}).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            is_probe = body.get("max_tokens") == 1
            with served.lock:
                (served.probes if is_probe else served.bodies).append(body)
                served.headers.append(dict(self.headers))
            if key is not None and self.headers.get("Authorization") != f"Bearer {key}":
                answer: str | Refusal = Refusal(401, "bad key")
            else:
                answer = (probed if is_probe else reply)(body)
            with suppress(OSError):
                if isinstance(answer, Refusal):
                    self.send(answer.status, answer.body)
                    return
                self.send(200, completion(answer, prompt_tokens=3, completion_tokens=2))
                if not is_probe:
                    with served.lock:
                        served.answered.append(body)

        def send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    served.base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
