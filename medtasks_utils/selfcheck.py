"""``medtasks selfcheck``: the real harness against a local server whose answers, and so whose scores, are known.

What is served and expected, each benchmark says itself (:mod:`medtasks_utils.benchmarks.known_answers`).
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import cards
from medtasks_utils.benchmarks.known_answers import BEHAVIOURS, Doc, Range, Reply

Answers = dict[str, dict[str, str]]
"""By behaviour and :func:`prompt_key`."""
Examples = dict[tuple[str, str], list[tuple[Doc, Reply]]]
"""By task and behaviour."""
Cells = dict[tuple[str, str, str], dict[str, tuple[Any, Range | None]]]
"""By task, metric and filter, then by behaviour: the value, and what it may be."""

_TOLERANCE = 1e-9


@contextmanager
def serving(answers: Answers) -> Iterator[str]:
    """An OpenAI-compatible chat server on a free local port; yields its address.

    Args:
        answers: by the model's name (the behaviour), then by :func:`prompt_key`.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else every answer waits 40 ms for the client's delayed acknowledgement

        def do_POST(self) -> None:
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
        request_queue_size = 128  # 5 by default; a connection beyond it waits a second to try again

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()


def prompt_key(messages: list[dict[str, str]]) -> str:
    """A chat as a key."""
    return json.dumps(messages, sort_keys=True)


def run(data: str, tasks_folders: Sequence[Path], limit: int | None = None) -> int:
    """Check all behaviours on all tasks, print the table; 0 if every score is as expected, else 1."""
    os.environ["TQDM_DISABLE"] = "1"
    from lm_eval.tasks import TaskManager

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    manager = TaskManager(
        include_path=[str(folder) for folder in tasks_folders],
        include_defaults=False,
        metadata={"medtasks_data": data, "medexqa": {"use_explanations": False}},
    )
    names = [name for card in cards().values() for name in card.checked_tasks]
    loaded = manager.load(names)
    tasks = loaded["tasks"]
    answers, examples = _served(tasks, limit)
    results = _results(answers, names, manager, limit)
    cells: Cells = {}
    for behaviour, (name, task) in itertools.product(BEHAVIOURS, tasks.items()):
        known = task.card.load_known_answers()
        for filter_name in task.extractors:
            ranges = known.expected(behaviour, filter_name, examples[name, behaviour])
            for metric, value in _metrics(results[behaviour][name], filter_name).items():
                cells.setdefault((name, metric, filter_name), {})[behaviour] = (value, ranges.get(metric))
    for behaviour, group in itertools.product(BEHAVIOURS, [name for name in names if name not in tasks]):
        _add_group(cells, behaviour, group, loaded["group_map"][group], results[behaviour][group])
    return _report(cells, sum(map(len, examples.values())))


def _served(tasks: Mapping[str, Any], limit: int | None) -> tuple[Answers, Examples]:
    """The answer to every prompt, and the documents with their answers, by behaviour."""
    answers: Answers = {behaviour: {} for behaviour in BEHAVIOURS}
    examples: Examples = {}
    for name, task in tasks.items():
        known = task.card.load_known_answers()
        task.build_all_requests(
            limit=limit, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=_chat_as_json
        )
        for behaviour, instance in itertools.product(BEHAVIOURS, task.instances):
            key = prompt_key(json.loads(instance.args[0]))
            served = known.reply(behaviour, instance.doc, seed=key)
            answers[behaviour][key] = served.text
            examples.setdefault((name, behaviour), []).append((instance.doc, served))
    return answers, examples


def _results(answers: Answers, names: list[str], manager: Any, limit: int | None) -> dict[str, Any]:
    """What the harness makes of each behaviour."""
    from lm_eval.evaluator import simple_evaluate

    with serving(answers) as address:
        return {
            behaviour: simple_evaluate(
                model="local-chat-completions",
                model_args={"model": behaviour, "base_url": address, "num_concurrent": 16, "max_retries": 1},
                tasks=names,
                task_manager=manager,
                apply_chat_template=True,
                limit=limit,
                log_samples=False,
            )["results"]
            for behaviour in BEHAVIOURS
        }


def _add_group(cells: Cells, behaviour: str, group: str, members: list[str], result: dict[str, Any]) -> None:
    """A group's metrics, expected to be the unweighted means of its tasks'."""
    for filter_name in dict.fromkeys(name for _, _, name in cells):
        for metric, value in _metrics(result, filter_name).items():
            parts = [cells[name, metric, filter_name][behaviour][1] for name in members]
            macro = _mean_range([part for part in parts if part is not None])
            cells.setdefault((group, metric, filter_name), {})[behaviour] = (value, macro)


def _chat_as_json(messages: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
    return json.dumps(messages)


def _metrics(result: dict[str, Any], filter_name: str) -> dict[str, Any]:
    named = re.compile(rf"(?!.*_stderr,)(.+),{re.escape(filter_name)}")
    return {match[1]: value for key, value in result.items() if (match := named.fullmatch(key))}


def _mean_range(ranges: list[Range]) -> Range:
    return sum(low for low, _ in ranges) / len(ranges), sum(high for _, high in ranges) / len(ranges)


def _is_as_expected(value: Any, limits: Range | None) -> bool:
    if value == "N/A":  # a category without examples
        return limits is None
    return limits is not None and limits[0] - _TOLERANCE <= value <= limits[1] + _TOLERANCE


def _report(cells: Cells, answers: int) -> int:
    header = ["task", "metric", "filter", *BEHAVIOURS]
    rows, checked, missed = [], 0, []
    for (task, metric, filter_name), by_behaviour in cells.items():
        row = [task, metric, filter_name]
        for behaviour in BEHAVIOURS:
            value, limits = by_behaviour[behaviour]
            shown = f"{value:.4g}" if isinstance(value, int | float) else str(value)
            checked += 1
            if _is_as_expected(value, limits):
                row.append(
                    shown if limits is None or limits[0] == limits[1] else f"{shown} [{limits[0]:g}-{limits[1]:g}]"
                )
            else:
                wanted = "no such metric" if limits is None else f"{limits[0]:.4g}-{limits[1]:.4g}"
                missed.append(f"{task} {metric} {filter_name} on {behaviour} answers: {shown}, expected {wanted}")
                row.append(f"{shown} MISS")
        rows.append(row)
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for miss in missed:
        print(f"MISS: {miss}")
    print(f"\n{checked} scores checked on {answers} answers, {len(missed)} outside their floor and ceiling")
    return 1 if missed else 0
