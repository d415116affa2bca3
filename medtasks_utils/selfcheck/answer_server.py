"""Run an OpenAI-compatible chat server on this machine that gives known answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answers = dict[str, dict[str, str]]
"""The responses, by the model's name (which is the behaviour) and then by :func:`prompt_key`."""


@contextmanager
def serving(answers: Answers) -> Iterator[str]:
    """Return a context that serves answers on a free local port, and yields the URL of the chat endpoint."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # otherwise each reply waits 40 ms for a delayed acknowledgement

        def do_POST(self) -> None:
            """Send the response to a prompt as a chat completion."""
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = answers[request["model"]].get(prompt_key(request["messages"]))
            if text is None:
                self.send_error(404, "no such prompt")
                return
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            body = json.dumps({"object": "chat.completion", "model": request["model"], "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # the default is 5; further connections are retried after a second

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()


def prompt_key(messages: list[dict[str, str]]) -> str:
    """Return a dictionary key for a chat."""
    return json.dumps(messages, sort_keys=True)
