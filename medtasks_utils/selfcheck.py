"""``medtasks selfcheck``: the real harness against a local server whose answers, and so whose scores, are known.

The expected scores are worked out here from the documents and the answers given, with formulas of their own, so that an
error in extraction, scoring, aggregation or in the harness's calling of them shows as a miss.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Doc = dict[str, Any]
Range = tuple[float, float]

TASKS = ("medmcqa_openmed", "medexqa", "medexqa_all", "medcalc_bench", "medhallu")
BEHAVIOURS = ("right", "first", "random", "malformed", "unsure")
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Reply:
    """An answer served for one document.

    Attributes:
        text: the response.
        given: the answer in it, None if there is none.
        right: whether that is the right answer.
    """

    text: str
    given: str | None
    right: bool


def reply(benchmark: str, behaviour: str, doc: Doc, seed: str) -> Reply:
    """What the server answers; documents with the same prompt have the same ``seed``, and so the same answer."""
    rng = random.Random(seed)
    target = _target(benchmark, doc)
    if behaviour == "malformed":
        return Reply(rng.choice(["", f"<think>It is {_written(benchmark, target)}"]), None, False)
    if behaviour == "unsure":
        text = "\\boxed{2}" if benchmark == "medhallu" else "Unsure."
        return Reply(text, "2" if benchmark == "medhallu" else None, False)
    choices = {"medhallu": ["0", "1"], "medcalc_bench": [_first_value(doc), target]}.get(benchmark, list("ABCD"))
    drawn = rng.choice(choices)
    given = {"right": target, "first": choices[0], "random": drawn}[behaviour]
    return Reply(
        f"<think>Let me see.</think>\n{_written(benchmark, given)}", given, _is_right(benchmark, doc, given, target)
    )


def _first_value(doc: Doc) -> str:
    return {"date": "1/1/1900", "weeks_days": "(0 weeks, 1 days)"}.get(str(doc.get("judgement")), "1")


def _target(benchmark: str, doc: Doc) -> str:
    return str(doc[{"medhallu": "target", "medcalc_bench": "shown_truth"}.get(benchmark, "answer_letter")])


def _written(benchmark: str, answer: str) -> str:
    if benchmark == "medcalc_bench":
        return f"<answer>{answer}</answer>"
    return f"The answer is {answer}." if benchmark == "medexqa" else f"\\boxed{{{answer}}}"


def _is_right(benchmark: str, doc: Doc, given: str, target: str) -> bool:
    if benchmark != "medcalc_bench" or given == target or doc["judgement"] in ("date", "weeks_days"):
        return given == target
    return float(doc["lower_limit"]) <= float(given) <= float(doc["upper_limit"])


def expected(benchmark: str, behaviour: str, filter_name: str, examples: list[tuple[Doc, Reply]]) -> dict[str, Range]:
    """Floor and ceiling of every metric of a task."""
    if benchmark == "medexqa" and behaviour == "unsure" and filter_name == "strict-match":
        # The authors' last rule finds the most similar option in any text.
        return {"acc": (0, 1), "answer_accuracy": (0, 100), "macro_acc": (0, 1), "answered": (1, 1)}
    replies = [reply for _, reply in examples]
    right = _share([reply.right for reply in replies])
    exact = {"acc": right, "answered": _share([reply.given is not None for reply in replies])}
    if benchmark == "medmcqa":
        exact["format"] = _share(["</think>" in reply.text for reply in replies])
    elif benchmark == "medexqa":
        specialties = sorted({doc["specialty"] for doc, _ in examples})
        by_specialty = [_share([r.right for doc, r in examples if doc["specialty"] == s]) for s in specialties]
        exact["answer_accuracy"] = 100 * right
        exact["macro_acc"] = sum(by_specialty) / len(by_specialty)
    elif benchmark == "medcalc_bench":
        for category in sorted({doc["category"] for doc, _ in examples}):
            exact[f"acc_{category}"] = _share([r.right for doc, r in examples if doc["category"] == category])
    elif benchmark == "medhallu":
        unsure = _share([reply.given == "2" for reply in replies])
        exact |= {"unsure_rate": unsure, "reward": right + 0.01 * unsure, **_detection(examples)}
        for level in ("easy", "medium", "hard"):
            exact[f"f1_{level}"] = _detection([pair for pair in examples if pair[0]["difficulty"] == level])["f1"]
    return {metric: (value, value) for metric, value in exact.items()}


def _detection(examples: list[tuple[Doc, Reply]]) -> dict[str, float]:
    kept = [(doc["target"] == "1", reply.given == "1") for doc, reply in examples if reply.given in ("0", "1")]
    hits = sum(target and given for target, given in kept)
    flagged, hallucinated = sum(given for _, given in kept), sum(target for target, _ in kept)
    precision = hits / flagged if flagged else 0.0
    recall = hits / hallucinated if hallucinated else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    agreement = _share([target == given for target, given in kept])
    return {"f1": f1, "precision": precision, "recall": recall, "accuracy_answered": agreement}


def _share(flags: list[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


@contextmanager
def serving(answers: dict[str, dict[str, str]]) -> Iterator[str]:
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


def run(data: str, tasks_folder: Path, limit: int | None = None) -> int:
    """Check all behaviours on all tasks, print the table; 0 if every score is as expected, else 1."""
    os.environ["TQDM_DISABLE"] = "1"
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    manager = TaskManager(
        include_path=str(tasks_folder),
        include_defaults=False,
        metadata={"medtasks_data": data, "medexqa": {"use_explanations": False}},
    )
    tasks = manager.load(list(TASKS))["tasks"]
    answers: dict[str, dict[str, str]] = {behaviour: {} for behaviour in BEHAVIOURS}
    examples: dict[tuple[str, str], list[tuple[Doc, Reply]]] = {}
    for name, task in tasks.items():
        task.build_all_requests(
            limit=limit, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=_chat_as_json
        )
        for behaviour, instance in itertools.product(BEHAVIOURS, task.instances):
            key = prompt_key(json.loads(instance.args[0]))
            served = reply(task.benchmark, behaviour, instance.doc, seed=key)
            answers[behaviour][key] = served.text
            examples.setdefault((name, behaviour), []).append((instance.doc, served))

    results: dict[str, dict[str, dict[str, Any]]] = {}
    with serving(answers) as address:
        for behaviour in BEHAVIOURS:
            results[behaviour] = simple_evaluate(
                model="local-chat-completions",
                model_args={"model": behaviour, "base_url": address, "num_concurrent": 16, "max_retries": 1},
                tasks=list(TASKS),
                task_manager=manager,
                apply_chat_template=True,
                limit=limit,
                log_samples=False,
            )["results"]

    cells: dict[tuple[str, str, str], dict[str, tuple[Any, Range | None]]] = {}
    for behaviour in BEHAVIOURS:
        for name, task in tasks.items():
            for filter_name in task.extractors:
                ranges = expected(task.benchmark, behaviour, filter_name, examples[name, behaviour])
                for metric, value in _metrics(results[behaviour][name], filter_name).items():
                    cells.setdefault((name, metric, filter_name), {})[behaviour] = (value, ranges.get(metric))
        members = [name for name in tasks if tasks[name].benchmark == "medexqa" and name != "medexqa_all"]
        for filter_name in ("strict-match", "flexible-extract"):
            for metric, value in _metrics(results[behaviour]["medexqa"], filter_name).items():
                parts = [cells[name, metric, filter_name][behaviour][1] for name in members]
                macro = _mean_range([part for part in parts if part is not None])
                cells.setdefault(("medexqa", metric, filter_name), {})[behaviour] = (value, macro)
    return _report(cells, sum(map(len, examples.values())))


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


def _report(cells: dict[tuple[str, str, str], dict[str, tuple[Any, Range | None]]], answers: int) -> int:
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
