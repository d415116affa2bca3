"""Sample logs (``lm_eval --log_samples``): one :class:`Sample` per example, whatever happened to the file since.

The harness writes a line per example and filter. Lines that are cut short or no sample are counted and left out; the
rest is used. Lines of other versions of the harness, and of other tasks than ours, are read as far as they go.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from medtasks_utils.statistics.metrics import JudgedScore, Score

STRICT, FLEXIBLE = FILTERS = "strict-match", "flexible-extract"
"""The filters of every generation task: the benchmark's published rule, and the best reading."""

Row = dict[str, Any]
Message = dict[str, str]

_HARNESS_KEYS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "cluster", "stratum", "scores"),
}


@dataclass
class Sample:
    """One example of a task: what was asked, what came back, and what each filter made of it.

    Attributes:
        doc_id: its place in the task's rows, from 0.
        doc_hash: of its document; equal documents have equal hashes in every run.
        doc: the document.
        messages: the prompt, as ``{"role": …, "content": …}``; a prompt without a chat template has the one role
            ``prompt``.
        responses: the model's responses, one for each generation; for log-likelihoods one line for each choice.
        target: the right answer, as text.
        answers: by filter, what was read out of each response; ``[invalid]`` where nothing was.
        metrics: by filter and metric, the mean over the generations; None where a metric does not apply.
        details: by filter, what the task logged besides, such as ``found_by``, ``judge`` and ``transcript``.
        scores: by filter and metric, the scores of the generations, where ``metrics`` does not say all.
        cluster: what examples share that are not independent; None if this one stands alone.
        stratum: the group whose mean enters macro averages.
    """

    doc_id: int
    doc_hash: str
    doc: Row
    messages: list[Message]
    responses: list[str]
    target: str
    answers: dict[str, list[str]] = field(default_factory=dict)
    metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    details: dict[str, Row] = field(default_factory=dict)
    scores: dict[str, dict[str, Sequence[Score]]] = field(default_factory=dict)
    cluster: str | None = None
    stratum: str | None = None

    @property
    def prompt(self) -> str:
        """The messages as one text."""
        return "\n\n".join(message["content"] for message in self.messages)

    @property
    def found_by(self) -> dict[str, list[str]]:
        """By filter, how the answer to each response was found; empty where the run does not say."""
        return {name: _texts(details["found_by"]) for name, details in self.details.items() if "found_by" in details}

    def scores_of(self, filter_name: str, metric: str) -> Sequence[Score]:
        """A metric's scores, of one or more generations, None where it does not apply; none if it was not computed."""
        own = self.scores.get(filter_name, {}).get(metric)
        known = self.metrics.get(filter_name, {})
        return own if own is not None else (known[metric],) if metric in known else ()

    def way_found(self, filter_name: str) -> str | None:
        """How the (first) answer was found; None where the run does not say."""
        return next(iter(self.found_by.get(filter_name, [])), None)


@dataclass
class SampleLog:
    """What one file holds: its samples in order, and what is wrong with it in words."""

    samples: list[Sample]
    problems: list[str]
    is_complete: bool = True
    """Whether its lines say what aggregation needs: cluster, stratum, and scores of generations."""


def read_samples(path: Path) -> SampleLog:
    """Read a ``samples_<task>_<date>.jsonl``; nothing in it is an error."""
    bad: list[int] = []
    is_complete = True
    no_numbers: Counter[tuple[str, str]] = Counter()
    by_example: dict[tuple[int, str], Sample] = {}
    try:
        for place, raw in numbered_lines(path):
            line = _parse(raw)
            if line is None:
                bad.append(place)
                continue
            key = line["doc_id"], line["doc_hash"]
            if key not in by_example:
                by_example[key] = _new_sample(line)
            is_complete &= "cluster" in line
            no_numbers.update((metric, line["filter"]) for metric in _add_filter(by_example[key], line))
    except OSError as error:
        return SampleLog([], [f"{path.name} cannot be read: {error.strerror or error}"])
    samples = list(by_example.values())
    problems = []
    if bad:
        lines = "1 line that is" if len(bad) == 1 else f"{len(bad)} lines that are"
        problems.append(f"left out {lines} no sample or cut short (the first is line {bad[0]})")
    for name in sorted({name for sample in samples for name in sample.answers}):
        lacking = sum(name not in sample.answers for sample in samples)
        if lacking:
            problems.append(f"{lacking} of {len(samples)} examples lack the filter {name}")
    for (metric, name), times in no_numbers.items():
        problems.append(f"{times} of {len(samples)} values of {metric} ({name}) are no numbers, left out")
    return SampleLog(samples, [f"{path.name}: {problem}" for problem in problems], is_complete)


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank. Only a newline ends a line: a response may hold any other separator."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.isspace():
                yield number, raw


def parse(raw: bytes) -> Row:
    """A line's mapping; characters that are no UTF-8 are replaced.

    Raises:
        ValueError: for a line that is no JSON.
    """
    try:
        return mapping(from_json(raw))
    except ValueError:
        return mapping(from_json(raw.decode("utf-8", "replace")))


def _parse(raw: bytes) -> Row | None:
    """A line as a sample with the fields that identify it; None if it is none."""
    try:
        line = parse(raw)
    except ValueError:
        return None
    kinds = {"doc_id": int, "doc_hash": str, "doc": dict, "filter": str}
    is_sample = "resps" in line and all(isinstance(line.get(name), kind) for name, kind in kinds.items())
    return line if is_sample else None


def _new_sample(line: Row) -> Sample:
    requests = _requests(line)
    choices = _choices(line)
    responses = _texts(line["resps"])
    target = str(line.get("target", ""))
    if choices:
        responses = [f"{choice}: {value}" for choice, value in choices]
        target = choices[int(target)][0] if target.isdigit() and int(target) < len(choices) else target
    return Sample(
        doc_id=line["doc_id"],
        doc_hash=line["doc_hash"],
        doc=line["doc"],
        messages=_messages(requests[0][0] if requests and requests[0] else ""),
        responses=responses,
        target=target,
    )


def _add_filter(sample: Sample, line: Row) -> list[str]:
    """Add what a line says; returns the metrics whose value is no number, such as NaN."""
    name, choices = line["filter"], _choices(line)
    if choices:
        sample.answers[name] = [max(choices, key=lambda choice: choice[1])[0]]
    else:
        sample.answers[name] = _texts(line.get("filtered_resps", []))
    named = line.get("metrics")
    known = {metric: line.get(metric) for metric in named if isinstance(metric, str)} if isinstance(named, list) else {}
    sample.metrics[name] = {
        metric: number(value) for metric, value in known.items() if value is None or number(value) is not None
    }
    sample.details[name] = {key: value for key, value in line.items() if key not in {*_HARNESS_KEYS, *known}}
    sample.cluster, sample.stratum = (
        None if line.get(key) is None else str(line[key]) for key in ("cluster", "stratum")
    )
    sample.scores[name] = {
        metric: [_score(score) for score in own]
        for metric, own in mapping(line.get("scores")).items()
        if isinstance(own, list)
    }
    return [metric for metric in known if metric not in sample.metrics[name]]


def _score(logged: Any) -> Score:
    """A score as it was logged: a number, a numerator and a denominator, or whether right and what a judge said."""
    if not isinstance(logged, list) or len(logged) != 2:
        return number(logged)
    if isinstance(logged[0], bool):
        return JudgedScore(logged[0], number(logged[1]))
    return number(logged[0]) or 0.0, number(logged[1]) or 0.0


def number(value: Any) -> float | None:
    """A finite number as a float; None for anything else."""
    try:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    except OverflowError:
        return None


def mapping(value: Any) -> Row:
    """A mapping as it is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _requests(line: Row) -> list[list[Any]]:
    """The arguments of each request: ``{"gen_args_0": {"arg_0": …}}``."""
    return [list(mapping(request).values()) for request in mapping(line.get("arguments")).values()]


def _choices(line: Row) -> list[tuple[str, float]]:
    """The continuations whose log-likelihoods were asked for, and these; none where text was generated."""
    try:
        found = [
            (request[1].strip(), float(response[0][0]))
            for request, response in zip(_requests(line), line["resps"], strict=True)
        ]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return []
    return found


def _messages(prompt: Any) -> list[Message]:
    """A prompt as messages: chats over an API are logged as JSON in a list, any other prompt is text."""
    text = prompt[0] if isinstance(prompt, list) and len(prompt) == 1 else prompt
    chat = text
    if isinstance(text, str) and text.startswith("[{"):
        try:
            chat = json.loads(text)
        except (ValueError, RecursionError):
            chat = text
    if isinstance(chat, list) and all(isinstance(message, dict) and "content" in message for message in chat):
        return [{"role": str(message.get("role", "")), "content": content_of(message["content"])} for message in chat]
    return [{"role": "prompt", "content": text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)}]


def content_of(content: Any) -> str:
    """A message's text; some servers take it in parts, and a call of a tool may have none."""
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) and "text" in part for part in content):
        return "".join(str(part["text"]) for part in content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _texts(value: Any) -> list[str]:
    """The strings in nested lists, in order."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [text for item in value for text in _texts(item)]
    return [str(value)]
