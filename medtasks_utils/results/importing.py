"""Convert runs of the environments that defined the scores into the harness's files.

``vf-eval -s`` writes ``results.jsonl`` and ``metadata.json`` into ``<environment>--<model>/<id>``. A line of
``results.jsonl`` is one response: ``prompt`` and ``completion`` (chat messages), ``task``, ``reward`` and one key per
reward function. Each line is matched with the document that its prompt shows, and its response is scored again under
both filters. The environment's rewards are kept as ``env_reward`` and ``env_<function>``. ``medtasks rescore`` judges
the explanations.
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


class EnvironmentLine(NamedTuple):
    """A line of ``results.jsonl``: its number, its task and its response."""

    number: int
    task: str
    reply: ImportedReply


def import_run(path: Path, folder: Path, task: str | None = None, data: str | None = None) -> tuple[Path, list[str]]:
    """Convert an environment's run into the harness's files.

    Args:
        path: the ``results.jsonl``.
        folder: the output folder, in which a folder named after the model is made.
        task: the task whose documents the run shows; None to infer it.
        data: the source of the rows, as under ``medtasks_data``.

    Returns:
        The path of the results file, and a line for each kind of response left out.

    Raises:
        MedtasksError: if the benchmark cannot be inferred, or no line shows a document of the task.
        UsageError: for an unknown task, or one outside this pack.
        DataError: if the rows cannot be read.
    """
    lines, problems = _read_lines(path)
    metadata_path = path.parent / "metadata.json"
    metadata: Row = json.loads(metadata_path.read_bytes()) if metadata_path.exists() else {}
    environment, _, of_folder = path.resolve().parent.parent.name.partition("--")
    name = task or _task_of(path, f"{lines[0].task} {metadata.get('env_id')} {environment}")
    arguments = metadata.get("env_args") or {}
    options: Row = {
        benchmark.name: {**benchmark.options.without_costly(), **benchmark.options_of_environment(arguments)}
        for benchmark in benchmarks().usable()
    }
    manager = manager_for([name], metadata=options if data is None else {**options, "medtasks_data": data})
    built = manager.load([name])["tasks"].get(name)
    if not isinstance(built, MedTask):
        known = ", ".join(map(_whole_task, benchmarks().usable()))
        raise UsageError(f"--task {name}: name one task of this pack, such as {known}")
    lines_by_document = _by_document(lines, built.eval_docs, built.benchmark.shown_fields)
    unmatched = lines_by_document.pop(_NOWHERE, [])
    if unmatched:
        problems.append(
            f"{path}: left out {len(unmatched)} of {len(lines)} responses whose prompt shows no document of {name} "
            f"(the first is line {unmatched[0].number})"
        )
    if not lines_by_document:
        raise MedtasksError(f"{problems[-1]}; name another task with --task, or other rows with --data")
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    date = str(metadata.get("date") or datetime.fromtimestamp(path.stat().st_mtime))[:19]
    date = date.replace(" ", "T").replace(":", "-")
    replies = {place: [line.reply for line in matched] for place, matched in lines_by_document.items()}
    return save(built, replies, folder, model=model, date=date, source=str(path)), problems


def _task_of(path: Path, names: str) -> str:
    """Return the task that the lines, the metadata or the folder of a file name."""
    plain = _letters_and_digits(names)
    by_part = {
        part: benchmark
        for benchmark in benchmarks().usable()
        for part in (benchmark.environments or (_letters_and_digits(benchmark.name),))
    }
    longest = max((part for part in by_part if part in plain), key=len, default=None)
    if longest is not None:
        return _whole_task(by_part[longest])
    raise MedtasksError(
        f"{path}: its lines, metadata.json and folder do not tell which benchmark was run; name the task with --task"
    )


def _whole_task(benchmark: Benchmark) -> str:
    return benchmark.whole_task or benchmark.default_task


def _letters_and_digits(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _read_lines(path: Path) -> tuple[list[EnvironmentLine], list[str]]:
    """Return the responses in a file, and a line on what was left out."""
    if not path.is_file():
        raise MedtasksError(f"no file {path}")
    readable, bad = [], []
    for place, raw in numbered_lines(path):
        try:
            readable.append(_line(place, from_json(raw)))
        except (AttributeError, LookupError, TypeError, ValueError):
            bad.append(place)
    left_out = [f"{path}: left out {len(bad)} lines without a response (the first is line {bad[0]})"] if bad else []
    if not readable:
        raise MedtasksError(f"{path} has no response in the form of vf-eval -s; {'; '.join(left_out)}")
    return readable, left_out


def _line(place: int, values: Row) -> EnvironmentLine:
    """Convert a line; raise LookupError, TypeError or ValueError if it has no response."""
    completion = _chat(values["completion"])
    numbers = values | values.get("metrics", {})
    response = [message["content"] for message in completion if message["role"] in ("assistant", "prompt")][-1]
    rewards = {
        f"env_{name}": float(value)
        for name, value in numbers.items()
        if name not in _NO_REWARDS and number(value) is not None and not isinstance(value, bool)
    }
    reply = ImportedReply(_chat(values["prompt"]), completion, response, rewards)
    return EnvironmentLine(place, str(values.get("task")), reply)


def _chat(messages: Any) -> list[Message]:
    """Return messages with tool calls in their text; a plain text belongs to a completion model."""
    if isinstance(messages, str):
        return [{"role": "prompt", "content": messages}]
    chat = []
    for message in messages:
        parts = [content_of(message.get("content")), *map(str, message.get("tool_calls") or ())]
        chat.append({"role": message["role"], "content": "\n".join(part for part in parts if part)})
    return chat


# ---- match lines with documents


def _by_document(
    lines: Sequence[EnvironmentLine], documents: Sequence[Row], fields: Sequence[str]
) -> dict[int, list[EnvironmentLine]]:
    """Return the lines of each document, by its index; lines whose prompt shows no document are under -1.

    A prompt shows a document if it contains the text of all ``fields``. Of several, the longest counts, and of equal
    ones the first.
    """
    shown = [list(filter(None, map(_plain, _texts(doc, fields)))) for doc in documents]
    by_word: dict[str, list[int]] = defaultdict(list)  # an index, so that not every document is searched for
    for place, parts in enumerate(shown):
        by_word[max(" ".join(parts).split(), key=len, default="")].append(place)
    matched: dict[int, list[EnvironmentLine]] = defaultdict(list)
    for line in lines:
        text = f" {_plain(' '.join(message['content'] for message in line.reply.prompt))} "
        candidates = {place for word in set(text.split()) & by_word.keys() for place in by_word[word]}
        places = sorted(place for place in candidates if all(f" {part} " in text for part in shown[place]))
        best = max(places, key=lambda place: len("".join(shown[place])), default=_NOWHERE)
        matched[best].append(line)
    return matched


def _texts(doc: Row, fields: Sequence[str]) -> Iterator[str]:
    """Yield the texts in some fields of a document; each item of a list is a text."""
    for value in map(doc.get, fields):
        yield from map(str, value if isinstance(value, list) else [value or ""])


def _plain(text: str) -> str:
    """Return the words and numbers of a text, so that punctuation and line breaks do not matter."""
    return " ".join(re.findall(r"\w+", text.casefold()))
