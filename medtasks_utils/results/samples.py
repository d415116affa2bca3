"""Sample logs (``lm_eval --log_samples``): one :class:`Sample` per example, whatever happened to the file since.

The harness writes a line per example and filter. Lines that are cut short or no sample are counted and left out; the
rest is used. Lines of other versions of the harness, and of other tasks than ours, are read as far as they go.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from medtasks_utils.extraction.printable import printable
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
        ways = self.details.get(filter_name, {}).get("found_by")
        return next(iter(_texts(ways)), None) if ways is not None else None


@dataclass
class SampleLog:
    """What one file holds: its samples in order, and what is wrong with it in words."""

    samples: list[Sample]
    problems: list[str]
    is_complete: bool = True
    """Whether its lines say what aggregation needs: cluster, stratum, and scores of generations."""


def read_samples(path: Path) -> SampleLog:
    """Read a ``samples_<task>_<date>.jsonl``; nothing in it is an error."""
    problems: list[str] = []
    bad: list[int] = []
    repeated = 0
    is_complete = True
    no_numbers: Counter[tuple[str, str]] = Counter()
    by_example: dict[tuple[int, str], Sample] = {}
    try:
        for number, line in numbered_lines(path):
            parsed = _parse(line)
            if parsed is None:
                bad.append(number)
                continue
            doc_id, doc_hash, name = parsed["doc_id"], parsed["doc_hash"], parsed["filter"]
            sample = by_example.get((doc_id, doc_hash))
            if sample is None:
                sample = by_example[doc_id, doc_hash] = _new_sample(parsed)
            if name in sample.answers:
                repeated += 1
            else:
                is_complete &= "cluster" in parsed
                no_numbers.update((metric, name) for metric in _add_filter(sample, name, parsed))
    except OSError as error:
        problems.append(f"{path.name} cannot be read: {error.strerror or error}")
    if bad:
        lines = "1 line" if len(bad) == 1 else f"{len(bad)} lines"
        problems.append(f"{path.name}: left out {lines} that are no sample or cut short (the first is line {bad[0]})")
    if repeated:
        lines = "1 line repeats" if repeated == 1 else f"{repeated} lines repeat"
        problems.append(f"{path.name}: {lines} an example; the first of each is used")
    samples = list(by_example.values())
    names = {name for sample in samples for name in sample.answers}
    for name in sorted(names):
        lacking = sum(name not in sample.answers for sample in samples)
        if lacking:
            lack = "1 example lacks" if lacking == 1 else f"{lacking} examples lack"
            problems.append(f"{path.name}: {lack} the filter {name}")
    for (metric, name), times in no_numbers.items():
        problems.append(f"{path.name}: {times} of {len(samples)} values of {metric} ({name}) are no numbers, left out")
    return SampleLog(samples, problems, is_complete)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank. Only a newline ends a line: a response may hold any other separator."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.decode("utf-8", "replace")
            if line.strip():
                yield number, line


def _parse(line: str) -> Row | None:
    """A line as a sample with the fields that identify it; None if it is none."""
    try:
        sample = _value(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sample, dict) or not isinstance(sample.get("doc_id"), int) or "resps" not in sample:
        return None
    if not isinstance(sample.get("doc"), dict):
        sample["doc"] = {"doc": sample.get("doc")}
    if not isinstance(sample.get("doc_hash"), str):
        sample["doc_hash"] = _harness_hash(sample["doc"])
    sample["filter"] = str(sample.get("filter", "none"))
    return sample


def _value(line: str) -> Any:
    """A line's JSON; the quick reader refuses lone surrogates, and deeper nesting than Python's own."""
    try:
        return from_json(line)
    except ValueError:
        return without_surrogates(json.loads(line))


def _harness_hash(doc: Row) -> str:
    """The harness's own hash of a document, for logs that lack it."""
    return hashlib.sha256(json.dumps(doc, indent=2, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def without_surrogates(value: Any) -> Any:
    """The same with lone surrogates, which no file could hold, as U+FFFD."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value


def _new_sample(line: Row) -> Sample:
    requests = _requests(line.get("arguments"))
    choices = _choices(requests, line["resps"])
    responses = _texts(line["resps"])
    target = str(line.get("target", ""))
    if choices:
        responses = [
            f"{choice}: {value}" for choice, value in zip(choices, _log_likelihoods(line["resps"]), strict=True)
        ]
        if target.isdigit() and int(target) < len(choices):
            target = choices[int(target)]
    return Sample(
        doc_id=line["doc_id"],
        doc_hash=line["doc_hash"],
        doc=line["doc"],
        messages=_messages(requests[0][0] if requests and requests[0] else ""),
        responses=responses,
        target=target,
    )


def _add_filter(sample: Sample, name: str, line: Row) -> list[str]:
    """Add what a line says; returns the metrics whose value is no number, such as NaN."""
    choices = _choices(_requests(line.get("arguments")), line["resps"])
    if choices:
        values = _log_likelihoods(line["resps"])
        sample.answers[name] = [choices[max(range(len(values)), key=values.__getitem__)]]
    else:
        sample.answers[name] = _texts(line.get("filtered_resps", []))
    named = line.get("metrics")
    if not isinstance(named, list):  # older versions of the harness do not say which of the keys are metrics
        named = [key for key, value in line.items() if key not in _HARNESS_KEYS and number(value) is not None]
    known = {metric: line.get(metric) for metric in named if isinstance(metric, str)}
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


def _requests(arguments: Any) -> list[list[Any]]:
    """The arguments of each request: ``{"gen_args_0": {"arg_0": …}}`` or, in older logs, lists."""
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    return [
        list(request.values()) if isinstance(request, dict) else request if isinstance(request, list) else [request]
        for request in (requests if isinstance(requests, list) else [requests])
    ]


def _choices(requests: list[list[Any]], responses: Any) -> list[str]:
    """The continuations whose log-likelihoods were asked for; none where text was generated."""
    if not all(len(request) > 1 and isinstance(request[1], str) for request in requests):
        return []
    values = _log_likelihoods(responses)
    return [request[1].strip() for request in requests] if requests and len(values) == len(requests) else []


def _log_likelihoods(responses: Any) -> list[float]:
    """The first number of each response ``[["-3.2", "False"]]``; none if one is no such pair."""
    values = []
    for response in responses if isinstance(responses, list) else []:
        pair = response[0] if isinstance(response, list) and response else None
        try:
            values.append(float(pair[0] if isinstance(pair, list) else math.nan))
        except (ValueError, IndexError, TypeError):
            return []
    return values


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
