"""Runs of the environments that defined the benchmarks' scores, written once as the harness's files.

A line of ``results.jsonl``, as ``vf-eval -s`` writes it, is one response: ``prompt`` and ``completion`` (chat
messages), ``task``, ``reward`` and one key for each reward function; beside the file stands
``metadata.json``, both in ``<environment>--<model>/<id>``. Each is matched with the document of the benchmark that its
prompt shows, and its response scored anew under both filters; the environment's own rewards stand beside as
``env_reward`` and ``env_<function>``. Explanations are left to ``medtasks rescore``.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.harness.imported_run import ImportedReply, Message, save
from medtasks_utils.harness.task import MedTask

from .samples import Row, content_of, number, numbered_lines

_NO_REWARDS = {
    *("id", "example_id", "rollout_id", "generation_ms", "scoring_ms", "total_ms", "average_reward", "avg_reward"),
    *("num_turns", "input_tokens", "output_tokens"),
}
_NOWHERE = -1


class Line(NamedTuple):
    """A response, and the number of the line that it stands on."""

    number: int
    task: str
    reply: ImportedReply


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
        MedtasksError: if it cannot be told what the run is of, or no line shows a document of the task.
        UsageError: for a task that there is not, or that is none of this pack.
        DataError: for rows that cannot be had.
    """
    lines, problems = _read_lines(path)
    beside = path.parent / "metadata.json"
    metadata: Row = json.loads(beside.read_bytes()) if beside.exists() else {}
    environment, _, of_folder = path.resolve().parent.parent.name.partition("--")
    name = task or _task_of(path, f"{lines[0].task} {metadata.get('env_id')} {environment}")
    arguments = metadata.get("env_args") or {}
    options: Row = {
        each.name: {**each.options.without_costly(), **each.options_of_environment(arguments)}
        for each in benchmarks().usable()
    }
    manager = manager_for([name], metadata=options if data is None else {**options, "medtasks_data": data})
    built = manager.load([name])["tasks"].get(name)
    if not isinstance(built, MedTask):
        known = ", ".join(map(_whole_task, benchmarks().usable()))
        raise UsageError(f"--task {name}: name one task of this pack, such as {known}")
    found = _by_document(lines, built.eval_docs, built.benchmark.shown_fields)
    unmatched = found.pop(_NOWHERE, [])
    if unmatched:
        problems.append(
            f"{path}: left out {len(unmatched)} of {len(lines)} responses whose prompt shows no document of {name} "
            f"(the first is line {unmatched[0].number})"
        )
    if not found:
        raise MedtasksError(f"{problems[-1]}; name another task with --task, or other rows with --data")
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    date = str(metadata.get("date") or datetime.fromtimestamp(path.stat().st_mtime))[:19]
    date = date.replace(" ", "T").replace(":", "-")
    replies = {place: [line.reply for line in own] for place, own in found.items()}
    return save(built, replies, folder, model=model, date=date, source=str(path)), problems


def _task_of(path: Path, names: str) -> str:
    """The task whose rows a file is of, as its lines, its metadata or its folder name it."""
    plain = _letters_and_digits(names)
    by_part = {
        part: benchmark
        for benchmark in benchmarks().usable()
        for part in (benchmark.environments or (_letters_and_digits(benchmark.name),))
    }
    found = max((part for part in by_part if part in plain), key=len, default=None)
    if found is not None:
        return _whole_task(by_part[found])
    raise MedtasksError(
        f"{path}: neither its lines nor metadata.json nor its folder tell which benchmark it is of; name the task "
        "with --task"
    )


def _whole_task(benchmark: Benchmark) -> str:
    return benchmark.whole_task or benchmark.default_task


def _letters_and_digits(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _read_lines(path: Path) -> tuple[list[Line], list[str]]:
    """The responses in a file, and what was left out, in words."""
    if not path.is_file():
        raise MedtasksError(f"no file {path}")
    found, bad = [], []
    for place, raw in numbered_lines(path):
        try:
            found.append(_line(place, from_json(raw)))
        except (AttributeError, LookupError, TypeError, ValueError):
            bad.append(place)
    left_out = [f"{path}: left out {len(bad)} lines that are no response (the first is line {bad[0]})"] if bad else []
    if not found:
        raise MedtasksError(f"{path} has no response as vf-eval -s writes them; {'; '.join(left_out)}")
    return found, left_out


def _line(place: int, values: Row) -> Line:
    completion = _chat(values["completion"])
    given = values | values.get("metrics", {})
    response = [message["content"] for message in completion if message["role"] in ("assistant", "prompt")][-1]
    rewards = {
        f"env_{name}": float(value)
        for name, value in given.items()
        if name not in _NO_REWARDS and number(value) is not None and not isinstance(value, bool)
    }
    return Line(place, str(values.get("task")), ImportedReply(_chat(values["prompt"]), completion, response, rewards))


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


def _by_document(lines: Sequence[Line], documents: Sequence[Row], fields: Sequence[str]) -> dict[int, list[Line]]:
    """The responses to each document by its place, and under -1 those whose prompt shows none.

    A prompt shows a document if it has the text of all ``fields``. Of several, the longest is meant; of equal ones the
    first.
    """
    shown = [list(filter(None, map(_plain, _texts(doc, fields)))) for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # so that not all are looked for
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    found: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        text = f" {_plain(' '.join(message['content'] for message in line.reply.prompt))} "
        near = (place for word in set(text.split()) & by_word.keys() for place in by_word[word])
        places = sorted(place for place in near if all(f" {part} " in text for part in shown[place]))
        found[max(places, key=lambda place: len("".join(shown[place])), default=_NOWHERE)].append(line)
    return found


def _texts(doc: Row, fields: Sequence[str]) -> Iterator[str]:
    """Yield the texts in some fields of a document, each of a list by itself."""
    for value in map(doc.get, fields):
        yield from map(str, value if isinstance(value, list) else [value or ""])


def _plain(text: str) -> str:
    """Words and numbers alone, so that no letter before an option and no line break matters."""
    return " ".join(re.findall(r"\w+", text.casefold()))
