"""A model that calls tools in every form, well and badly, and what its conversations must come to.

What it does with an example is drawn from the hash of the prompt. Its replies are a function of the chat so far, so it
can be asked in this process or behind a server; :func:`check` compares a logged sample with what had to happen, worked
out here and not by the code under test.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
from typing import Any, NamedTuple

from conftest import Row, manager
from lm_eval.evaluator import simple_evaluate
from local_server import LocalServer

Chat = list[dict[str, Any]]
Sample = dict[str, Any]

WORST_TURNS = 20


def run(
    server: LocalServer,
    task: str = "medcalc_bench_calculator",
    connections: int = 8,
    options: dict[str, Any] | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Conversations of a task with a server, of up to five turns unless ``options`` say otherwise."""
    arguments = {"model": "m", "base_url": server.chat, "num_concurrent": connections, "max_retries": 1}
    result: dict[str, Any] = simple_evaluate(
        model="local-chat-completions",
        model_args={**arguments, **given.pop("model_args", {})},
        tasks=[task],
        task_manager=manager({"medcalc_bench": {"max_turns": 5, **(options or {})}}),
        apply_chat_template=True,
        confirm_run_unsafe_code=True,
        **given,
    )
    return result


def samples(result: dict[str, Any]) -> list[Row]:
    (logged,) = result["samples"].values()
    return [sample for sample in logged if sample["filter"] == "strict-match"]


def tagged(name: str, argument: str, key: str | None = None) -> str:
    key = key or {"calculator": "expression"}.get(name, "code")
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {key: argument}})}\n</tool_call>"


class Plan(NamedTuple):
    """What becomes of an example.

    Attributes:
        replies: the model's, one a turn; the last is repeated for as long as it is asked. ``{}`` stands for the number
            that the last result ends with.
        failures: for each turn with calls, which of them fail; the last is repeated.
        results: what each turn's results must hold, in order; None where anything may stand.
        ends: whether the last reply ends the conversation.
    """

    replies: list[str]
    failures: list[list[bool]] = []  # noqa: RUF012 - nothing changes it
    results: list[list[str | None]] = []  # noqa: RUF012
    ends: bool = True


ANSWER = "So the value is <answer>{}</answer>"


def plan(chat: Chat) -> tuple[str, Plan]:
    """The name of what is done with the chat's prompt, and the plan of it."""
    prompt = "".join(message["content"] for message in itertools.takewhile(lambda m: m["role"] != "assistant", chat))
    rng = random.Random(hashlib.sha256(prompt.encode()).hexdigest())
    a, b = rng.randrange(2, 90), rng.randrange(2, 90)
    product, total = str(a * b), str(a + b)
    well: list[list[bool]] = [[False]]
    of_product: list[list[str | None]] = [[product]]
    code = f"a = {a}\nb = {b}\na * b"
    as_string = json.dumps({"name": "calculator", "arguments": json.dumps({"expression": f"{a}*{b}"})})
    openai = json.dumps({"type": "function", "function": json.loads(as_string)})
    with_line_break = f'{{"name": "code_interpreter", "arguments": {{"code": "a = {a}\nprint(a * {b})"}}}}'
    plain = json.dumps({"name": "calculator", "parameters": {"expression": f"{a} * {b}"}})
    plans = {
        "tag": Plan([f"I compute.\n{tagged('calculator', f'{a} * {b}')}", ANSWER], well, of_product),
        "code in a tag": Plan([tagged("python", code), ANSWER], well, of_product),
        "interpreter": Plan([tagged("code_interpreter", f"print({a} * {b})"), ANSWER], well, of_product),
        "fence": Plan([f"First:\n```python\n{code}\n```", ANSWER], well, of_product),
        "object": Plan([plain, ANSWER], well, of_product),
        "fenced object": Plan([f"Now.\n```json\n{plain}\n```\n", ANSWER], well, of_product),
        "arguments as a string": Plan([as_string, ANSWER], well, of_product),
        "as openai": Plan([f"<tool_call>{openai}</tool_call>", ANSWER], well, of_product),
        "line break": Plan([f"<tool_call>{with_line_break}</tool_call>", ANSWER], well, of_product),
        "unclosed tag": Plan([tagged("calculator", f"{a}*{b}").removesuffix("</tool_call>"), ANSWER], well, of_product),
        "after reasoning": Plan(
            [f"<think>{tagged('python', '1 / 0')}</think>{tagged('python', code)}", f"<think>Hm.</think>{ANSWER}"],
            well,
            of_product,
        ),
        "several": Plan(
            [
                tagged("python", f"total = {a} + {b}\nprint(total)")
                + tagged("calculator", f"{a} * {b}")
                + tagged("python", "total += 1\ntotal"),
                tagged("python", "total - 1"),
                ANSWER,
            ],
            [[False, False, False], [False]],
            [[total, product, str(a + b + 1)], [total]],
        ),
        "numpy": Plan(
            [f"```py\nimport numpy as np\nx = np.arange({a})\nint(x.sum())\n```", ANSWER],
            well,
            [[str(a * (a - 1) // 2)]],
        ),
        "date": Plan(
            [tagged("python", f"import datetime\nday = datetime.timedelta({a})\nday.days"), ANSWER],
            well,
        ),
        "malformed, then well": Plan(
            ['<tool_call>{"name": "calculator", "arguments": {"expr</tool_call>', f"```py\n{code}\n```", ANSWER],
            [[True], [False]],
            [["not valid JSON"], [product]],
        ),
        "unknown tool": Plan(
            [tagged("abacus", "1 + 1"), tagged("calculator", f"{a}*{b}"), ANSWER],
            [[True], [False]],
            [["there is no tool 'abacus'"], [product]],
        ),
        "missing argument": Plan(
            [tagged("calculator", "1", key="formula"), ANSWER.format("5")], [[True]], [['"expression" is missing']]
        ),
        "failing": Plan(
            [tagged("calculator", "1 / 0") + tagged("python", f"x = {a}\nx / 0"), tagged("python", f"x * {b}"), ANSWER],
            [[True, True], [False]],
            [["division by zero", "ZeroDivisionError"], [product]],
        ),
        "forbidden": Plan(
            [
                tagged("python", "open('/etc/passwd').read()") + tagged("python", "import os\nos.listdir('/')"),
                ANSWER.format(a),
            ],
            [[True, True]],
        ),
        "long result": Plan([tagged("python", "print('x' * 100_000)"), ANSWER.format(b)], well, [["left out"]]),
        "answers at once": Plan([ANSWER.format(a)]),
        "answers beside a call": Plan([f"{tagged('calculator', '1 / 0')}\n{ANSWER.format(b)}"]),
        "says nothing": Plan(["I cannot say."]),
        "empty": Plan([""]),
        "cut off in reasoning": Plan([f"<think>{tagged('calculator', '2')}"]),
        "never ends": Plan([tagged("calculator", f"{a} + {b}")], well, [[total]], ends=False),
        "never learns": Plan(["<tool_call>{name: calculator}</tool_call>"], [[True]], [["not valid JSON"]], ends=False),
        "counts on": Plan(
            [tagged("python", "n = 0"), tagged("python", "n += 1\nprint(n)")], [[False], [False]], ends=False
        ),
    }  # fmt: skip
    name = rng.choice(sorted(plans))
    return name, plans[name]


def reply(chat: Chat) -> str:
    """The next reply to a chat."""
    assert chat[-1]["role"] == "user"
    roles = [message["role"] for message in chat if message["role"] != "system"]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"], "roles alternate, as some templates insist"
    replies = plan(chat)[1].replies
    text = replies[min(len(roles) // 2, len(replies) - 1)]
    return text.replace("{}", last_number(chat[-1]["content"])) if "<answer>{}" in text else text


def last_number(content: str) -> str:
    return str((re.findall(r"\d+", content) or ["0"])[-1])


def check(sample: Sample, max_turns: int = WORST_TURNS) -> str:
    """Compare a sample with what had to happen to its example; returns the name of the plan.

    Raises:
        AssertionError: if anything in it is not as it must be.
    """
    transcript = sample["transcript"]
    first = next(index for index, message in enumerate(transcript) if message["role"] == "assistant")
    name, wanted = plan(transcript)
    replies = [message["content"] for message in transcript[first::2]]
    results = transcript[first + 1 :: 2]
    assert [message["role"] for message in transcript[first:]] == (["assistant", "user"] * len(replies))[:-1], name
    assert len(replies) == (len(wanted.replies) if wanted.ends else max_turns), name
    for index, text in enumerate(replies):  # every reply is the model's to the chat before it
        assert text == reply(transcript[: first + 2 * index]), name
    failures = [wanted.failures[min(i, len(wanted.failures) - 1)] for i in range(len(results))]
    assert [[call["failed"] for call in message["calls"]] for message in results] == failures, name
    for index, message in enumerate(results):
        blocks = re.findall(r"<tool_response>\n(.*?)\n</tool_response>", message["content"], re.DOTALL)
        assert len(blocks) == len(message["calls"]), name
        assert all(len(block) < 3_100 for block in blocks), name
        expected = wanted.results[min(index, len(wanted.results) - 1)] if wanted.results else [None] * len(blocks)
        for block, text in zip(blocks, expected, strict=True):
            assert text is None or (block == text if text.isdigit() else text in block), (name, block[:200])
        is_last = len(replies) == max_turns and index == len(results) - 1
        assert ("Give the final answer now" in message["content"]) == is_last, name
    if name == "counts on":
        shown = [last_number(message["content"].replace("No more", "")) for message in results[1:]]
        assert shown == [str(number) for number in range(1, len(results))], (name, shown)
    assert sample["turns"] == len(replies), name
    assert sample["tool_calls"] == sum(map(len, failures)), name
    assert sample["tool_errors"] == sum(map(sum, failures)), name
    assert sample["resps"] == [[replies[-1]]], name
    answered = wanted.ends and "<answer>" in wanted.replies[-1]
    if sample["doc"]["judgement"] in ("integer", "decimal") or not answered:
        assert sample["answered"] == answered, name
    return name


class Replies(dict[str, str]):
    """The model's replies as :func:`medtasks_utils.selfcheck.serving` looks them up."""

    def get(self, key: str, default: Any = None) -> str:
        return reply(json.loads(key))
