"""An OpenAI-compatible server whose faults are chosen by the model's name."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = "m"
"""The model that answers, with ``usage``."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    asked: list[dict[str, Any]]

    def do_GET(self) -> None:
        self._send(200, json.dumps({"data": [{"id": GOOD}]}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**request, "key": self.headers.get("Authorization")})
        self._answer(str(request["model"]), "messages" in request)

    def _answer(self, model: str, is_chat: bool) -> None:
        """``401``: that status; ``late1-500``: the same after five good answers; ``html``, ``nothing``, ``slow``."""
        late, _, status = model.rpartition("-")
        if model == "slow" and len(self.asked) > 1:
            time.sleep(0.3)
        if status.isdigit() and (not late.startswith("late") or self._asked_of(model) > 5):
            self._send(int(status), json.dumps({"error": {"message": "no luck"}}))
        elif status in ("short", "cut", "overloaded", "circle") and (not late or self._asked_of(model) > 5):
            self._answer_oddly(status)
        elif model == "html":
            self._send(200, "<html>welcome</html>", "text/html")
        elif model == "nothing":
            self._send(200, "{}")
        elif not self.path.endswith("/completions"):
            self._send(404, json.dumps({"detail": "Not Found"}))
        elif model in (GOOD, "slow") or late.startswith("late"):
            text = "The answer is B. \\boxed{1}"
            said = {"message": {"role": "assistant", "content": text}} if is_chat else {"text": text}
            usage = {"prompt_tokens": 10, "completion_tokens": 3}
            self._send(200, json.dumps({"choices": [{"index": 0, **said}], "usage": usage}))
        else:
            self._send(404, json.dumps({"error": {"message": f"The model `{model}` does not exist."}}))

    def _answer_oddly(self, how: str) -> None:
        if how == "cut":
            self._send(200, '{"choices": [{"mess')
        elif how == "overloaded":
            self._send(200, json.dumps({"error": {"message": "model overloaded"}}))
        else:
            self.send_response(200 if how == "short" else 307)
            self.send_header("Location", self.path)
            self.send_header("Content-Length", "500" if how == "short" else "0")
            self.end_headers()
            self.close_connection = how == "short"

    def _asked_of(self, model: str) -> int:
        return sum(request["model"] == model for request in self.asked)

    def _send(self, status: int, text: str, kind: str = "application/json") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that was stopped


@contextmanager
def openai_server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields the base of its addresses, as in ``http://127.0.0.1:1234``, and what it was asked."""
    asked: list[dict[str, Any]] = []
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
