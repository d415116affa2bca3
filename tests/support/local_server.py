"""Run an OpenAI-compatible server for tests, which gives set replies, fails on purpose, and records its requests.

A reply is a function of the request: a text, a whole body (see :func:`completion`), or a :class:`Fault`.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Request = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """A response without a completion: a status (0 to drop the connection), and a body, JSON unless it is text."""

    status: int
    body: Any = field(default_factory=lambda: {"error": {"message": "on purpose"}})
    headers: Mapping[str, str] = field(default_factory=dict)


HANG_UP = Fault(0)
Answer = str | Fault | dict[str, Any]
Answering = Callable[[Request], Answer]


def completion(content: Any, finish: str = "stop", prompt_tokens: int | None = 7, **message: Any) -> dict[str, Any]:
    """Return the body of a completion, chat or plain; ``message`` has fields such as ``tool_calls`` and ``refusal``."""
    said = {"message": {"role": "assistant", "content": content, **message}, "text": content}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 3, "total_tokens": (prompt_tokens or 0) + 3}
    return {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, **said}],
            "created": 0, "model": "m", **({} if prompt_tokens is None else {"usage": usage})}  # fmt: skip


class LocalServer:
    """A server on this machine, used as a context manager.

    Args:
        answer: a function of a request that returns the reply; called by many threads at once.
        probed: the same for probes, which are requests of a single token.
        port: the port; 0 for any free port.

    Attributes:
        base, url, chat: the address without a path, with ``/v1``, and of the chat endpoint.
        page: the response to ``GET`` and ``HEAD``.
        requests: all requests except probes, in the order of arrival.
        probes: the probes.
        headers: the headers of requests and probes, by lower-case name.
        answered: the requests whose completions were sent in full.
        most_at_once: the maximum number of requests that were answered at the same time.
    """

    def __init__(self, answer=lambda request: ".", probed=None, port=0):
        self.answer = answer
        self.probed = probed or (lambda request: completion(".", prompt_tokens=None))
        self.page = Fault(404)
        self.requests: list[Request] = []
        self.probes: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.answered: list[Request] = []
        self.most_at_once = self._at_once = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"local": self}))
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.base}/v1"
        self.chat = f"{self.url}/chat/completions"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self._server.shutdown()
        self._server.server_close()

    def run_of(self, tasks: str, data: object = "sample", **more: Any) -> list[str]:
        """Return the command line of ``medtasks eval`` with the model at this server."""
        return ["eval", "--data", str(data), "--tasks", tasks, *self.flags(**more)]

    def flags(self, kind: str = "local-chat-completions", **more: Any) -> list[str]:
        """Return the flags of a run with a model at this server."""
        usual = {"model": "m", "base_url": self.chat, "max_retries": 1, "num_concurrent": 4}
        arguments = {name: value for name, value in {**usual, **more}.items() if value is not None}
        return ["--model", kind, "--model_args", json.dumps(arguments, default=str), "--apply_chat_template"]

    def get(self, method: str, path: str) -> Fault:
        return self.page

    def respond(self, request: Request, headers: dict[str, str]) -> Answer:
        is_probe = request.get("max_tokens") == 1
        with self._lock:
            self.headers.append(headers)
            (self.probes if is_probe else self.requests).append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        answer = (self.probed if is_probe else self.answer)(request)
        with self._lock:
            self._at_once -= 1
        return answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    local: LocalServer

    def do_GET(self):
        self._send(self.local.get(self.command, unquote(urlsplit(self.path).path)))

    do_HEAD = do_GET

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.local.respond(request, {name.lower(): value for name, value in self.headers.items()})
        if isinstance(answer, Fault):
            self._send(answer)
            return
        body = completion(answer) if isinstance(answer, str) else answer
        if self._send(Fault(200, body)) and request.get("max_tokens") != 1:
            self.local.answered.append(request)

    def _send(self, answer):
        """Send a response; return False if the client has disconnected."""
        if answer.status == 0:
            self.close_connection = True
            return False
        text = answer.body if isinstance(answer.body, str | bytes) else json.dumps(answer.body)
        body = text.encode() if isinstance(text, str) else text
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
        with suppress(OSError):
            self.send_response(answer.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)
            return True
        return False

    def log_message(self, format, *args):
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """Ignore clients that disconnect."""
