"""The lines of a ``results.jsonl``, and the documents that their prompts show."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results.samples import Message, Row, content_of, mapping, number, numbered_lines, parse

_BY_NAME = {"medmcqa": "medmcqa", "medexqa": "medexqa", "medcalc": "medcalc_bench", "medhallu": "medhallu"}
_NO_REWARDS = {
    *("id", "example_id", "rollout_id", "generation_ms", "scoring_ms", "total_ms", "average_reward", "avg_reward"),
    *("num_turns", "input_tokens", "output_tokens"),
}
_SHOWN = ("note", "question", "answer", "options")  # fields of documents that a prompt shows
_WORDS = 5  # of a document's beginning, by which it is looked up


class ImportingError(MedtasksError):
    """A file that is no run of an environment, or of which it cannot be told what it is of."""


@dataclass(frozen=True)
class Line:
    """A response.

    Attributes:
        example: what the lines of one example share; None where the file does not say.
        response: what is scored: the last thing that the model said.
        shown: all that the model was asked.
        rewards: the environment's own, by reward function.
    """

    number: int
    task: Any
    example: Any
    prompt: list[Message]
    completion: list[Message]
    response: str
    shown: str
    rewards: dict[str, float]


def metadata_of(path: Path) -> Row:
    """What stands beside the file; nothing where that cannot be read."""
    try:
        return mapping(json.loads((path.parent / "metadata.json").read_bytes()))
    except (OSError, ValueError):
        return {}


def benchmark_of(path: Path, lines: Sequence[Line]) -> str | None:
    """The benchmark that a file is of, as its lines, its metadata or its folder name it."""
    folder = path.resolve().parent.parent.name.partition("--")[0]
    for name in (lines[0].task, metadata_of(path).get("env_id"), folder):
        plain = re.sub(r"[^a-z0-9]", "", str(name or "").lower())
        found = next((benchmark for part, benchmark in _BY_NAME.items() if part in plain), None)
        if found:
            return found
    return None


def read_lines(path: Path) -> tuple[list[Line], list[str]]:
    """The responses in a file, and what was left out, in words.

    Raises:
        ImportingError: if it cannot be read, or holds none.
    """
    found, bad = [], []
    try:
        for place, raw in numbered_lines(path):
            try:
                values = parse(raw)
            except ValueError:
                values = {}
            if values.get("completion") is None:
                bad.append(place)
            else:
                found.append(_line(place, values))
    except OSError as error:
        raise ImportingError(f"{path} cannot be read: {error.strerror or error}") from None
    left_out = [f"{path}: left out {len(bad)} lines that are no response (the first is line {bad[0]})"] if bad else []
    if not found:
        raise ImportingError(f"{path} has no response as vf-eval -s writes them; {'; '.join(left_out)}")
    return found, left_out


def _line(number_of_line: int, values: Row) -> Line:
    prompt, completion = _chat(values.get("prompt")), _chat(values["completion"])
    said = [message["content"] for message in completion if message["role"] in ("assistant", "prompt")]
    given = {**values, **mapping(values.get("metrics"))}
    rewards = {
        f"env_{name}": reward
        for name, value in given.items()
        if name not in _NO_REWARDS and not isinstance(value, bool) and (reward := number(value)) is not None
    }
    return Line(
        number=number_of_line,
        task=values.get("task"),
        example=next((values[key] for key in ("example_id", "id") if values.get(key) is not None), None),
        prompt=prompt,
        completion=completion,
        response=said[-1] if said else "",
        shown="\n".join(message["content"] for message in prompt),
        rewards=rewards,
    )


def _chat(messages: Any) -> list[Message]:
    """Messages, with calls of tools in their text; a text alone is what a completion model was given or said."""
    if not isinstance(messages, list):
        return [{"role": "prompt", "content": content_of(messages)}]
    chat = []
    for message in map(mapping, messages):
        calls = message.get("tool_calls")
        parts = [content_of(message.get("content")), *map(str, calls if isinstance(calls, list) else ())]
        chat.append({"role": str(message.get("role", "")), "content": "\n".join(part for part in parts if part)})
    return chat


# ---- which document


class Documents:
    """Documents of a task, to be found by the texts that show them.

    Args:
        documents: in the task's order.
    """

    def __init__(self, documents: Sequence[Row]) -> None:
        self._parts = [[plain for part in _parts(doc) if (plain := _plain(part))] for doc in documents]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, parts in enumerate(self._parts):
            self._places[" ".join("".join(parts[:1]).split()[:_WORDS])].append(place)

    def shown_in(self, text: str) -> list[int]:
        """The places of the documents of which all is in a text."""
        plain = f" {_plain(text)} "
        words = plain.split()
        starts = {" ".join(words[i : i + n]) for i in range(len(words)) for n in range(1, _WORDS + 1)}
        near = (place for start in starts & self._places.keys() for place in self._places[start])
        return sorted(place for place in near if all(f" {part} " in plain for part in self._parts[place]))


def _parts(doc: Row) -> Iterator[str]:
    for name in _SHOWN:
        value = doc.get(name)
        yield from map(str, value if isinstance(value, list) else [value] if value else [])


def _plain(text: str) -> str:
    """Words and numbers alone, so that no letter before an option and no line break matters."""
    return " ".join(re.findall(r"\w+", text.casefold()))
