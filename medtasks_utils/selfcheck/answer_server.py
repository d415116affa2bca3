"""Run a local OpenAI-compatible chat server that returns known answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answers = dict[str, dict[str, str]]
"""The responses by the model's name, which is the behaviour, and by :func:`prompt_key`."""


@contextmanager
def serving(answers: Answers) -> Iterator[str]:
    """Yield the URL of a chat endpoint that serves answers on a free local port; stop the server on exit."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Send the response to a prompt as a chat completion."""
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = answers[request["model"]][prompt_key(request["messages"])]
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # the default is 5; further connections are retried after a second

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
        server.shutdown()


def prompt_key(messages: list[dict[str, str]]) -> str:
    """Return a dictionary key for the messages of a chat."""
    return json.dumps(messages, sort_keys=True)
