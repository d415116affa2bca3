"""A model that calls tools well and badly, by lot; its replies are a function of the chat so far."""

import itertools
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
) -> dict[str, Any]:
    """Conversations of a task with a server, of up to five turns unless ``options`` say otherwise."""
    arguments = {"model": "m", "base_url": server.chat, "num_concurrent": connections, "max_retries": 1}
    return evaluate(
        task,
        "local-chat-completions",
        model_args={**arguments, **given.pop("model_args", {})},
        metadata={"medcalc_bench": {"max_turns": 5, **(options or {})}},
        confirm_run_unsafe_code=True,
        **given,
    )


def tagged(name: str, argument: str) -> str:
    key = {"calculator": "expression"}.get(name, "code")
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {key: argument}})}\n</tool_call>"


def turn(chat: Chat) -> int:
    """Which reply is asked for, from 1."""
    return 1 + [message["role"] for message in chat].count("assistant")


def replies_to(chat: Chat) -> list[str]:
    """What the model says to a prompt, turn by turn: one of the ways to use tools well or badly, by lot."""
    prompt = "".join(message["content"] for message in itertools.takewhile(lambda m: m["role"] != "assistant", chat))
    rng = draw(prompt)
    a, b = rng.randrange(2, 90), rng.randrange(2, 90)
    answer = f"So the value is <answer>{a * b}</answer>"
    ways = [
        [f"I compute.\n{tagged('calculator', f'{a} * {b}')}", answer],
        [f"First:\n```python\na = {a}\na * {b}\n```", answer],
        [tagged("python", f"total = {a}") + tagged("calculator", "1") + tagged("python", "total + 1"), answer],
        [tagged("calculator", "1 / 0"), tagged("abacus", "1"), tagged("calculator", f"{a} + {b}"), answer],
        ['<tool_call>{"name": "calculator", "arguments": {"expr</tool_call>', answer],
        [answer],
        [f"<think>{tagged('calculator', '2')}"],
        [tagged("calculator", f"{a} + {b}")] * 9,
    ]
    return rng.choice(ways)


def reply(chat: Chat) -> str:
    """The next reply to a chat."""
    roles = [message["role"] for message in chat if message["role"] != "system"]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], "roles alternate, as some templates insist"
    return replies_to(chat)[len(roles) // 2]
