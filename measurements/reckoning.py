"""What a run of many models on the full sets comes to: requests, tokens, hours, money.

Usage: MEDTASKS_DATA=DIR python measurements/reckoning.py --tokenizer tekken.json [--models 100] [--reply 400]
    [--turns 4] [--rates 5 50] [--prices 0.1 0.4 1 4]

Tokens of prompts are counted over the rows that DIR has and multiplied to the full number of examples; those of
replies, and the turns of a conversation with tools, are what is assumed. Of k turns with r tokens in each reply and
each result, turn i sends the prompt and what was said before: in all k prompts and r k (k - 1) tokens of earlier turns.

    hours = requests / rate / 3600        money = prompt tokens x price + reply tokens x price, in millions

The tokenizer is a file in the form of Mistral's tekken.json (in the wheel ``mistral-common``); without one, a token is
taken to be four characters.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

FULL = {
    "medmcqa_openmed": 4183,
    "medexqa_all": 940,
    "medcalc_bench": 1100,
    "medhallu": 2000,
    "medcalc_bench_tools": 1100,
    "medhallu_artificial": 18000,
}
"""Examples of each task's full set; MedHallu asks two for a row."""
STANDARD = ("medmcqa_openmed", "medexqa_all", "medcalc_bench", "medhallu")
ROWS_OF = {"medhallu_artificial": "medhallu"}
"""Whose prompts stand for those of a task without rows at hand."""


def counter(path: Path | None) -> Callable[[str], float]:
    """How many tokens a text has."""
    if path is None:
        return lambda text: len(text) / 4
    import tiktoken

    content = json.loads(path.read_text(encoding="utf-8"))
    special = content["config"]["default_num_special_tokens"]
    vocabulary = content["vocab"][: content["config"]["default_vocab_size"] - special]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in vocabulary}
    encoding = tiktoken.Encoding(
        "tekken", pat_str=content["config"]["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def prompt_tokens(task_name: str, count: Callable[[str], float]) -> float:
    """The mean over the rows at hand, system message included, without the marks of a chat template."""
    from medtasks_utils.harness.catalog import manager_for

    name = ROWS_OF.get(task_name, task_name)
    task: Any = manager_for(metadata={"medexqa": {"use_explanations": False}}).load([name])["tasks"][name]
    task.build_all_requests(apply_chat_template=True, chat_template=lambda chat, **_: json.dumps(chat))
    chats = [json.loads(instance.args[0]) for instance in task.instances]
    return sum(count(message["content"]) for chat in chats for message in chat) / len(chats)


def main() -> None:
    """Print two tables: for a model by task, and for all models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--reply", type=float, default=400)
    parser.add_argument("--turns", type=float, default=4)
    parser.add_argument("--rates", type=float, nargs="*", default=[5, 50])
    parser.add_argument("--prices", type=float, nargs="*", default=[0.1, 0.4, 1, 4], help="prompt, reply, prompt, …")
    given = parser.parse_args()
    os.environ["TQDM_DISABLE"] = "1"
    count = counter(given.tokenizer)
    print("| a model | requests | prompt tokens each | prompt, M | replies, M |\n|---|--:|--:|--:|--:|")
    sums: dict[str, tuple[float, float, float]] = {}
    for task, examples in FULL.items():
        turns = given.turns if task.endswith("_tools") else 1
        mean = prompt_tokens(task, count)
        prompt = examples * (turns * mean + given.reply * turns * (turns - 1)) / 1e6
        requests, reply = examples * turns, examples * turns * given.reply / 1e6
        sums[task] = requests, prompt, reply
        print(f"| {task} | {requests:,.0f} | {mean:,.0f} | {prompt:.2f} | {reply:.2f} |")
    parts = {"the four": STANDARD, "and with tools": (*STANDARD, "medcalc_bench_tools"), "and 9,000 rows more": FULL}
    prices = list(zip(given.prices[::2], given.prices[1::2], strict=True))
    head = [f"h at {rate:g}/s" for rate in given.rates] + [f"${ours:g}, ${theirs:g}" for ours, theirs in prices]
    print(f"\n| {given.models} models | requests | prompt, M | replies, M | {' | '.join(head)} |")
    print("|---|" + "--:|" * (3 + len(head)))
    for part, tasks in parts.items():
        requests, prompt, reply = (given.models * sum(sums[task][at] for task in tasks) for at in range(3))
        hours = [f"{requests / rate / 3600:,.0f}" for rate in given.rates]
        money = [f"{prompt * ours + reply * theirs:,.0f}" for ours, theirs in prices]
        print(f"| {part} | {requests:,.0f} | {prompt:,.0f} | {reply:,.0f} | {' | '.join([*hours, *money])} |")


if __name__ == "__main__":
    main()
