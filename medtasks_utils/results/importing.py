"""Runs of the environments that defined the benchmarks' scores, written once as the harness's files.

A line of ``results.jsonl``, as ``vf-eval -s`` writes it, is one response: ``prompt`` and ``completion`` (chat
messages), ``task``, ``reward`` and one key for each reward function; beside the file stands
``metadata.json``, both in ``<environment>--<model>/<id>``. Each is matched with the document of the benchmark that its
prompt shows, and its response scored anew under both filters; the environment's own rewards stand beside as
``env_reward`` and ``env_<function>``. Explanations are left to ``medtasks rescore``.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.errors import MedtasksError
from medtasks_utils.results.samples import Message, Row, content_of, number, numbered_lines
from medtasks_utils.statistics.aggregation import AGGREGATES
from medtasks_utils.writing import write_whole

_TASKS = {"medmcqa": "medmcqa_openmed", "medexqa": "medexqa_all", "medcalc": "medcalc_bench", "medhallu": "medhallu"}
"""The task that an environment's rows are of, by what its name has in it."""

_NO_REWARDS = {
    *("id", "example_id", "rollout_id", "generation_ms", "scoring_ms", "total_ms", "average_reward", "avg_reward"),
    *("num_turns", "input_tokens", "output_tokens"),
}
_SHOWN = ("note", "question", "answer", "options")  # fields of documents that a prompt shows


class ImportingError(MedtasksError):
    """A file that is no run of an environment, or of which it cannot be told what it is of."""


class Line(NamedTuple):
    """A response.

    Attributes:
        response: what is scored: the last thing that the model said.
        rewards: the environment's own, by reward function.
    """

    number: int
    task: str
    prompt: list[Message]
    completion: list[Message]
    response: str
    rewards: dict[str, float]


def import_run(path: Path, folder: Path, task: str | None = None, data: str | None = None) -> tuple[Path, list[str]]:
    """Write an environment's run as the harness's files.

    Args:
        path: a ``results.jsonl``.
        folder: to write into, in a folder named after the model.
        task: whose documents the run is of; None for the benchmark's own.
        data: where its rows come from, as under ``medtasks_data``.

    Returns:
        The results file, and what was left out, in words.

    Raises:
        ImportingError: if it cannot be told what the run is of, or no line shows a document of the task.
        DataError: for rows that cannot be had.
    """
    from medtasks_utils.harness.catalog import our_manager  # imports the harness, which takes seconds

    lines, problems = _read_lines(path)
    beside = path.parent / "metadata.json"
    metadata: Row = json.loads(beside.read_bytes()) if beside.exists() else {}
    environment, _, of_folder = path.resolve().parent.parent.name.partition("--")
    name = task or _task_of(path, f"{lines[0].task} {metadata.get('env_id')} {environment}")
    options: Row = {"medexqa": {"use_explanations": False}}
    if metadata.get("env_args", {}).get("answer_format") == "boxed":
        options["medcalc_bench"] = {"answer_format": "boxed"}
    built = our_manager(options if data is None else {**options, "medtasks_data": data}).load([name])["tasks"][name]
    found, unmatched = _by_document(lines, built.eval_docs)
    if unmatched:
        problems.append(
            f"{path}: left out {len(unmatched)} of {len(lines)} responses whose prompt shows no document of {name} "
            f"(the first is line {unmatched[0]})"
        )
    if not found:
        raise ImportingError(f"{problems[-1]}; name another task with --task, or other rows with --data")
    samples, results = _scored(built, found)
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    of_task = {"benchmark": built.benchmark.name, "remarks": [f"imported from {path}"], "data_source": str(path)}
    content = {
        "results": {name: {"alias": name, **results}},
        "configs": {name: {"task": name, "dataset_path": built.config.dataset_path, "metadata": of_task}},
        "n-samples": {name: {"original": len(built.eval_docs), "effective": len(found)}},
        "config": {"model": model},
        "model_name": model,
    }
    written = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(path.stat().st_mtime))
    date = str(metadata.get("date") or written)[:19].replace(" ", "T").replace(":", "-")
    target = folder / re.sub(r"[^\w.-]+", "__", model) / f"results_{date}.json"
    text = "".join(json.dumps(sample, ensure_ascii=False, default=str) + "\n" for sample in samples)
    write_whole(target.with_name(f"samples_{name}_{date}.jsonl"), text, make_folder=True)
    write_whole(target, json.dumps(content, indent=2, ensure_ascii=False))
    return target, problems


def _task_of(path: Path, names: str) -> str:
    """The task whose rows a file is of, as its lines, its metadata or its folder name it."""
    plain = re.sub(r"[^a-z0-9]", "", names.lower())
    for part, task in _TASKS.items():
        if part in plain:
            return task
    raise ImportingError(
        f"{path}: neither its lines nor metadata.json nor its folder tell which benchmark it is of; name the task "
        "with --task"
    )


def _read_lines(path: Path) -> tuple[list[Line], list[str]]:
    """The responses in a file, and what was left out, in words."""
    if not path.is_file():
        raise ImportingError(f"no file {path}")
    found, bad = [], []
    for place, raw in numbered_lines(path):
        try:
            found.append(_line(place, from_json(raw)))
        except (AttributeError, LookupError, TypeError, ValueError):
            bad.append(place)
    left_out = [f"{path}: left out {len(bad)} lines that are no response (the first is line {bad[0]})"] if bad else []
    if not found:
        raise ImportingError(f"{path} has no response as vf-eval -s writes them; {'; '.join(left_out)}")
    return found, left_out


def _line(place: int, values: Row) -> Line:
    prompt, completion = _chat(values["prompt"]), _chat(values["completion"])
    given = values | values.get("metrics", {})
    return Line(
        number=place,
        task=str(values.get("task")),
        prompt=prompt,
        completion=completion,
        response=[message["content"] for message in completion if message["role"] in ("assistant", "prompt")][-1],
        rewards={
            f"env_{name}": float(value)
            for name, value in given.items()
            if name not in _NO_REWARDS and number(value) is not None and not isinstance(value, bool)
        },
    )


def _chat(messages: Any) -> list[Message]:
    """Messages, with calls of tools in their text; a text alone is what a completion model was given or said."""
    if isinstance(messages, str):
        return [{"role": "prompt", "content": messages}]
    chat = []
    for message in messages:
        parts = [content_of(message.get("content")), *map(str, message.get("tool_calls") or ())]
        chat.append({"role": message["role"], "content": "\n".join(part for part in parts if part)})
    return chat


# ---- which document


def _by_document(lines: Sequence[Line], documents: Sequence[Row]) -> tuple[dict[int, list[Line]], list[int]]:
    """The responses to each document by its place, in the documents' order, and the lines that show none.

    Where a prompt shows all of several, the longest is meant; of equal ones the first.
    """
    shown = [[plain for part in _parts(doc) if (plain := _plain(part))] for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # so that not all are looked for
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    found: dict[int, list[Line]] = defaultdict(list)
    unmatched = []
    for line in lines:
        text = f" {_plain(' '.join(message['content'] for message in line.prompt))} "
        near = (place for word in set(text.split()) & by_word.keys() for place in by_word[word])
        places = sorted(place for place in near if all(f" {part} " in text for part in shown[place]))
        if places:
            found[max(places, key=lambda place: len("".join(shown[place])))].append(line)
        else:
            unmatched.append(line.number)
    return {place: found[place] for place in sorted(found)}, unmatched


def _parts(doc: Row) -> Iterator[str]:
    for name in _SHOWN:
        value = doc.get(name) or []
        yield from map(str, value if isinstance(value, list) else [value])


def _plain(text: str) -> str:
    """Words and numbers alone, so that no letter before an option and no line break matters."""
    return " ".join(re.findall(r"\w+", text.casefold()))


# ---- as the harness writes it


def _scored(task: Any, found: Mapping[int, list[Line]]) -> tuple[list[Row], Row]:
    """The lines of the sample log, and the task's values and standard errors as a results file has them."""
    samples: list[Row] = []
    items: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for place, lines in found.items():
        doc = dict(task.eval_docs[place])
        in_all = [name for name in lines[0].rewards if all(name in line.rewards for line in lines)]
        means = {name: sum(line.rewards[name] for line in lines) / len(lines) for name in in_all}
        text = json.dumps(doc, indent=2, default=str, ensure_ascii=False)
        sample = {
            "doc_id": place,
            "doc": doc,
            "doc_hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
            "target": str(task.doc_to_target(doc)),
            "arguments": {"gen_args_0": {"arg_0": [json.dumps(lines[0].prompt, ensure_ascii=False)]}},
            "resps": [[line.response] for line in lines],
        }
        if len(lines[0].completion) > 1:
            sample["transcript"] = [*lines[0].prompt, *lines[0].completion]
        for filter_name, read in task.benchmark.readers.items():
            answers = [read(line.response, doc, task.options) for line in lines]
            scores = task.process_results(doc, answers)
            metrics = {**dict(scores.items()), **means}
            for metric, value in metrics.items():
                items[metric, filter_name].append(value)
            of_filter = {"filter": filter_name, "filtered_resps": list(map(str, answers)), "metrics": [*metrics]}
            samples.append({**sample, **of_filter, **scores, **means})
    results: Row = {}
    for (metric, filter_name), values in items.items():
        aggregate = AGGREGATES[metric_of(metric, task.benchmark.name).aggregation]
        results[f"{metric},{filter_name}"] = aggregate(values)
        results[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(values)
    return samples, results
