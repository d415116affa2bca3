"""Sample logs (``lm_eval --log_samples``): one :class:`Sample` per example.

The harness writes a line per example and filter. Lines that are cut short or no sample are counted and left out; the
rest is used.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from medtasks_utils.statistics.scores import ClassTerms, JudgedScore, Score

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
        cluster: what examples share that are not independent; None if this one stands alone.
        stratum: the group whose mean enters macro averages.
        answers: by filter, what was read out of each response; ``[invalid]`` where nothing was.
        metrics: by filter and metric, the mean over the generations; None where a metric does not apply.
        details: by filter, what the task logged besides, such as ``found_by``, ``judge`` and ``transcript``.
        found_by: by filter, how the answer to each response was found; empty where the run does not say.
        scores: by filter and metric, the scores of the generations, where ``metrics`` does not say all.
    """

    doc_id: int
    doc_hash: str
    doc: Row
    messages: list[Message]
    responses: list[str]
    target: str
    cluster: str | None = None
    stratum: str | None = None
    answers: dict[str, list[str]] = field(default_factory=dict)
    metrics: dict[str, dict[str, float | None]] = field(default_factory=dict)
    details: dict[str, Row] = field(default_factory=dict)
    found_by: dict[str, list[str]] = field(default_factory=dict)
    scores: dict[str, dict[str, Sequence[Score]]] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The messages as one text."""
        return "\n\n".join(message["content"] for message in self.messages)

    def scores_of(self, filter_name: str, metric: str) -> Sequence[Score]:
        """A metric's scores, of one or more generations, None where it does not apply; none if it was not computed."""
        own = self.scores.get(filter_name, {}).get(metric)
        known = self.metrics.get(filter_name, {})
        return own if own is not None else (known[metric],) if metric in known else ()

    def way_found(self, filter_name: str) -> str | None:
        """How the (first) answer was found; None where the run does not say."""
        found = self.found_by.get(filter_name)
        return found[0] if found else None


@dataclass
class SampleLog:
    """What one file holds: its samples in order, and what is wrong with it in words."""

    samples: list[Sample]
    problems: list[str]


def read_samples(path: Path, fields: Mapping[str, str | None] = {}) -> SampleLog:
    """Read a ``samples_<task>_<date>.jsonl``; nothing in it is an error.

    Args:
        fields: of documents, which say ``cluster`` and ``stratum`` where samples were saved without.
    """
    found: dict[tuple[int, str], Sample] = {}
    bad: list[int] = []
    no_numbers: Counter[str] = Counter()
    for place, raw in numbered_lines(path):
        try:
            line = from_json(raw)
            key = line["doc_id"], line["doc_hash"]
            if key not in found:
                found[key] = _new_sample(line, fields)
            for metric in _add_filter(found[key], line):
                no_numbers[metric] += 1
        except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError):
            bad.append(place)
    samples = list(found.values())
    problems = []
    if bad:
        problems.append(f"left out {len(bad)} lines that are no sample or cut short (the first is line {bad[0]})")
    for name in dict.fromkeys(name for sample in samples for name in sample.answers):
        lacking = sum(name not in sample.answers for sample in samples)
        if lacking:
            problems.append(f"{lacking} of {len(samples)} examples lack the filter {name}")
    for metric, times in no_numbers.items():
        problems.append(f"{times} of {len(samples)} values of {metric} are no numbers, left out")
    return SampleLog(samples, [f"{path.name}: {problem}" for problem in problems])


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank. Only a newline ends a line: a response may hold any other separator."""
    with path.open("rb", buffering=1 << 20) as file:
        for number, raw in enumerate(file, start=1):
            if not raw.isspace():
                yield number, raw


def _new_sample(line: Row, fields: Mapping[str, str | None]) -> Sample:
    doc, choices = line["doc"], _choices(line)
    responses, target = _texts(line["resps"]), str(line["target"])
    if choices:
        responses = [f"{choice}: {value}" for choice, value in choices]
        target = choices[int(target)][0] if target.isdigit() else target
    cluster, stratum = (line.get(key, doc.get(fields.get(key))) for key in ("cluster", "stratum"))
    request = next(iter(line["arguments"].values()))
    messages = _messages(next(iter(request.values())))
    return Sample(line["doc_id"], line["doc_hash"], doc, messages, responses, target, cluster, stratum)


def _add_filter(sample: Sample, line: Row) -> list[str]:
    """Add what a line says; returns the metrics whose value is no number, such as NaN."""
    name, choices = line["filter"], _choices(line)
    sample.metrics[name] = numbers = {metric: number(line[metric]) for metric in line.get("metrics", ())}
    sample.details[name] = {k: own for k, own in line.items() if k not in _HARNESS_KEYS and k not in numbers}
    sample.answers[name] = (
        [max(choices, key=lambda choice: choice[1])[0]] if choices else _texts(line["filtered_resps"])
    )
    if "found_by" in line:
        sample.found_by[name] = _texts(line["found_by"])
    if line.get("scores"):
        sample.scores[name] = {metric: list(map(_score, own)) for metric, own in line["scores"].items()}
    lost = [metric for metric, value in numbers.items() if value is None and line[metric] is not None]
    for metric in lost:
        del numbers[metric]
    return [f"{metric} ({name})" for metric in lost]


def _score(logged: Any) -> Score:
    """Return a score from its logged form: a number, or a list of what :data:`Score` has beside numbers."""
    if not isinstance(logged, list):
        return number(logged)
    if isinstance(logged[0], list):
        return ClassTerms((float(top), float(bottom)) for top, bottom in logged)
    first, second = logged
    return JudgedScore(first, number(second)) if isinstance(first, bool) else (float(first), float(second))


def number(value: Any) -> float | None:
    """A finite number as a float; None for anything else."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def mapping(value: Any) -> Row:
    """A mapping as it is; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def _choices(line: Row) -> list[tuple[str, float]]:
    """The continuations whose log-likelihoods were asked for, and these; none where text was generated."""
    if not isinstance(line["resps"][0][0], list):
        return []
    requests = zip(line["arguments"].values(), line["resps"], strict=True)
    return [([*request.values()][1].strip(), float(response[0][0])) for request, response in requests]


def _messages(prompt: Any) -> list[Message]:
    """A prompt as messages: chats over an API are logged as JSON in a list, any other prompt is text."""
    text = prompt[0] if isinstance(prompt, list) else prompt
    if text.startswith('[{"role":'):
        return [{"role": each["role"], "content": content_of(each["content"])} for each in from_json(text)]
    return [{"role": "prompt", "content": text}]


def content_of(content: Any) -> str:
    """A message's text; some servers take it in parts, and a call of a tool may have none."""
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content)
    return str(content or "")


def _texts(value: Any) -> list[str]:
    """The strings in nested lists, in order."""
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else [str(value)]
