"""Read runs that other harnesses saved: their responses, with the scores that the other harness gave them.

``results.jsonl``
    ``vf-eval -s`` of the environments that defined the scores, with ``metadata.json`` beside it in a folder
    ``<environment>--<model>/<id>``. A line has ``prompt``, ``completion`` (chat messages), ``task``, ``reward`` and one
    key for each reward function.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.replies import Reply
from medtasks_utils.results.samples import Message, Row, content_of, number, numbered_lines

_NO_SCORES = {
    *("id", "example_id", "rollout_id", "generation_ms", "scoring_ms", "total_ms", "average_reward", "avg_reward"),
    *("num_turns", "input_tokens", "output_tokens"),
}
"""Numbers in ``results.jsonl`` that are no scores."""


class Response(NamedTuple):
    """A response from elsewhere.

    Attributes:
        place: where it stands in its file, as in ``line 3``.
        prompt: the messages that the model was given.
        completion: the messages that followed, tool results included.
        reply: the text that is scored, the model's last message.
        scores: the other harness's scores, by name.
    """

    place: str
    prompt: list[Message]
    completion: list[Message]
    reply: Reply
    scores: dict[str, float]


@dataclass
class OtherRun:
    """A run that another harness saved.

    Attributes:
        path: its file.
        model: the model's name.
        date: when it was run, as in ``2026-11-21T08-27-59``.
        names: names in which the benchmark's may be.
        arguments: options of the environment.
        responses: those that could be read.
        problems: sentences on what could not.
    """

    path: Path
    model: str
    date: str
    names: str
    arguments: Row = field(default_factory=dict)
    responses: list[Response] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def read(self, records: Iterable[tuple[str, Any]], convert: Callable[[str, Any], Response]) -> None:
        """Convert records, given with their places; those without a response become a problem.

        Raises:
            MedtasksError: if there is no response.
        """
        bad: dict[str, list[str]] = defaultdict(list)
        for place, record in records:
            try:
                values = from_json(record) if isinstance(record, bytes) else record
            except ValueError:
                bad["lines that are not JSON"].append(place)
                continue
            try:
                self.responses.append(convert(place, values))
            except (AttributeError, LookupError, TypeError, ValueError):
                bad["records without a response that is text"].append(place)
        self.problems += [f"{self.path}: left out {named(places, what)}" for what, places in bad.items()]
        if not self.responses:
            raise MedtasksError("; ".join(self.problems) or f"{self.path} has no response")


def named(names: Sequence[str], what: str) -> str:
    """Return how many there are of something, with the names of the first three."""
    return f"{len(names)} {what}: {', '.join(names[:3])}{', …' * (len(names) > 3)}"


def read_other_run(path: Path) -> OtherRun:
    """Read the run in a file.

    Raises:
        MedtasksError: if there is no such file, or no response in it.
    """
    if not path.is_file():
        raise MedtasksError(f"no file {path}")
    return _environment_run(path)


def _date(path: Path, date: Any) -> str:
    """Return a date as file names have it; the file's own where none is given."""
    text = str(date or datetime.fromtimestamp(path.stat().st_mtime))[:19]
    return text.replace(" ", "T").replace(":", "-")


# ---- the environments that defined the scores


def _environment_run(path: Path) -> OtherRun:
    metadata_path = path.parent / "metadata.json"
    metadata: Row = json.loads(metadata_path.read_bytes()) if metadata_path.exists() else {}
    environment, _, of_folder = path.resolve().parent.parent.name.partition("--")
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    names = f"{metadata.get('env_id')} {environment}"
    run = OtherRun(path, model, _date(path, metadata.get("date")), names, metadata.get("env_args") or {})

    def convert(place: str, line: Row) -> Response:
        completion = _chat(line["completion"])
        response = [message["content"] for message in completion if message["role"] in ("assistant", "prompt")][-1]
        scores = {
            f"env_{name}": float(value)
            for name, value in (line | line.get("metrics", {})).items()
            if name not in _NO_SCORES and number(value) is not None and not isinstance(value, bool)
        }
        run.names += f" {line.get('task')}" * (not run.responses)
        return Response(place, _chat(line["prompt"]), completion, Reply(response), scores)

    run.read(((f"line {place}", raw) for place, raw in numbered_lines(path)), convert)
    return run


def _chat(messages: Any) -> list[Message]:
    """Return messages with tool calls in their text; a plain text belongs to a completion model."""
    if isinstance(messages, str):
        return [{"role": "prompt", "content": messages}]
    chat = []
    for message in messages:
        parts = [content_of(message.get("content")), *map(str, message.get("tool_calls") or ())]
        chat.append({"role": message["role"], "content": "\n".join(part for part in parts if part)})
    return chat
