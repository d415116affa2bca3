"""Define a model that calls tools, rightly or wrongly at random; a reply depends only on the chat so far."""

import json
from typing import Any

from local_server import LocalServer
from running import evaluate
from scripts import draw

Chat = list[dict[str, Any]]


def run(
    server: LocalServer,
    task: str = "medcalc_bench_calculator",
    connections: int = 8,
    options: dict[str, Any] | None = None,
    **given: Any,
) -> Any:
    """Run a task with tools at a server, with up to five turns by default."""
    arguments = {"model": "m", "base_url": server.chat, "num_concurrent": connections, "max_retries": 1}
    return evaluate(
        task,
        "local-chat-completions",
        model_args={**arguments, **given.pop("model_args", {})},
        metadata={"medcalc_bench": {"max_turns": 5, **(options or {})}},
        **given,
    )


def tagged(name: str, argument: str) -> str:
    key = {"calculator": "expression"}.get(name, "code")
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {key: argument}})}\n</tool_call>"


def turn(chat: Chat) -> int:
    """Return the number of the requested reply, from 1."""
    return 1 + [message["role"] for message in chat].count("assistant")


def reply(chat: Chat) -> str:
    """Return the next reply to a chat; the prompt determines at random which way of using tools it follows."""
    roles = [message["role"] for message in chat if message["role"] != "system"]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], "roles alternate, as some templates insist"
    rng = draw(chat[1]["content"])
    a, b = rng.randrange(2, 90), rng.randrange(2, 90)
    answer = f"So the value is <answer>{a * b}</answer>"
    ways = [
        [f"I compute.\n{tagged('calculator', f'{a} * {b}')}", answer],
        [tagged("python", f"total = {a}") + tagged("calculator", "1") + tagged("python", "total + 1"), answer],
        [tagged("calculator", "1 / 0"), tagged("abacus", "1"), tagged("calculator", f"{a} + {b}"), answer],
        [answer],
        [tagged("calculator", f"{a} + {b}")] * 9,
    ]
    return rng.choice(ways)[len(roles) // 2]
