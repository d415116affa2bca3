"""Read sample logs (``lm_eval --log_samples``) into one :class:`Sample` per example.

The harness writes one line per example and filter. Truncated and otherwise unreadable lines are left out and counted.
"""

import gzip
import math
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import TextIOWrapper
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.facts import UNANSWERED
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.statistics.scores import ConfidenceTerms, JudgedScore, Score

Row = dict[str, Any]
Message = dict[str, str]

_HARNESS_KEYS = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "cluster",
    "stratum",
    "scores",
    "found_by",
}


ENDINGS = {
    "finished": "",
    "cut": "cut at the token limit",
    "filtered": "stopped by a content filter",
    "empty": "empty response",
    "refused for length": "prompt refused for length",
    "unknown": "",
}
"""The badge of a sample, by the finish reason of its reply; empty for no badge."""

_SHORT_DETAILS = {"ended", "refusal", "tokens", "confidence", "shown_as"}


@dataclass
class Sample:
    """One example of a task: the prompt, the responses, and the answers and scores of each filter.

    Attributes:
        doc_id: the example's index in the task's rows, from 0.
        doc_hash: lm_eval's hash of its fields; examples with equal fields have equal hashes in every run.
        doc: its fields, as the run logged them.
        messages: the prompt, as ``{"role": …, "content": …}``; without a chat template, one message of the role
            ``prompt``.
        responses: the model's responses, one per generation; for log-likelihoods, one text per choice.
        target: the right answer, as text.
        cluster: a key shared by examples that are not independent of each other; None for an independent example.
        stratum: the part of the examples that has its own average in macro averages; None if there are no parts.
        answers: by filter, the answer read from each response; ``[invalid]`` if none was found.
        metrics: by filter and metric, the mean over the generations; None if the metric does not apply.
        details: by filter, additional logged fields, such as ``judge`` and ``transcript``.
        found_by: by filter, the form in which each answer was found; empty if the run did not log it.
        scores: by filter and metric, the scores of the generations, unless the number in ``metrics`` is sufficient.
        prompt_hash: lm_eval's hash of the prompt as it was sent, in the model's chat template if one was applied.
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
    prompt_hash: str = ""

    @property
    def prompt(self) -> str:
        """The messages joined as text."""
        return "\n\n".join(message["content"] for message in self.messages)

    def without_texts(self) -> "Sample":
        """Return a copy with the prompt, ``found_by`` and long details removed.

        Of each response, only the first character is kept (none if it is blank).
        """
        details = {
            name: {key: value for key, value in logged.items() if key in _SHORT_DETAILS}
            for name, logged in self.details.items()
        }
        responses = [text.strip()[:1] for text in self.responses]
        return replace(self, messages=[], responses=responses, details=details, found_by={})

    def scores_of(self, filter_name: str, metric: str) -> Sequence[Score]:
        """Return the scores of a metric, one per generation (None if it does not apply); empty if not computed."""
        scores = self.scores.get(filter_name, {}).get(metric)
        if scores is not None:
            return scores
        means = self.metrics.get(filter_name, {})
        return (means[metric],) if metric in means else ()

    @property
    def ended(self) -> list[str]:
        """The finish reason of each reply: ``stop``, ``length``, ``filter`` or ``unknown``; empty if not logged."""
        return self._of_replies("ended")

    @property
    def endings(self) -> list[str]:
        """The finish reason of each reply as a key of :data:`ENDINGS`; empty if not logged."""
        refusals = self._of_replies("refusal") or repeat(None)
        return list(map(_ending, self.ended, self.responses, refusals))

    @property
    def tokens(self) -> list[int | None]:
        """The number of tokens of each reply, None if unknown; empty if not logged."""
        return self._of_replies("tokens")

    @property
    def reasoning(self) -> list[str | None]:
        """The reasoning that the server returned separately from each reply; empty if none was logged."""
        return self._of_replies("reasoning")

    def _of_replies(self, name: str) -> list[Any]:
        """Return a logged field with one value per reply; empty if not logged."""
        values = next(iter(self.details.values()), {}).get(name)
        return values if isinstance(values, list) else []

    def order(self, generation: int) -> str | None:
        """Return the letters, in the data, of the choices shown as A to D in a generation; None if none were moved."""
        orders = next(iter(self.details.values()), {}).get("shown_as")
        return orders[generation] if isinstance(orders, list) else orders

    def example_shown(self, benchmark: Benchmark[Any], generation: int) -> Row:
        """Return the example as the model saw it in a generation, with the right answer's letter in the order shown."""
        order = self.order(generation)
        return benchmark.relabelled(self.doc, order) if order else self.doc

    def answer_shown(self, answer: str, generation: int) -> str:
        """Translate an answer or the target from its letter in the data to the letter that the model saw.

        Other texts, such as ``[invalid]``, are returned unchanged.
        """
        order = self.order(generation) or ""
        return LETTERS[order.index(answer)] if answer in tuple(order) else answer

    def way_found(self, filter_name: str) -> str | None:
        """Return the form in which the filter found the first generation's answer; None if not logged."""
        return next(iter(self.found_by.get(filter_name, ())), None)


def _ending(ended: str, response: str, refusal: str | None) -> str:
    if refusal:
        return "refused for length"
    if ended in ("length", "filter"):
        return "cut" if ended == "length" else "filtered"
    if not response.strip():
        return "empty"
    return "finished" if ended == "stop" else "unknown"


class SampleLog(NamedTuple):
    """The samples of a file in order, and the problems of the file as sentences."""

    samples: list[Sample]
    problems: list[str]


def read_samples(path: Path) -> SampleLog:
    """Read ``samples_<task>_<date>.jsonl``; invalid lines are left out and become problems, not errors."""
    by_example: dict[tuple[int, str], Sample] = {}
    bad: list[int] = []
    lost = 0
    for place, raw in numbered_lines(path):
        try:
            line = from_json(raw)
            key = line["doc_id"], line["doc_hash"]
            sample = by_example.get(key) or new_sample(line)
            lost += _add_filter(sample, line)
            by_example[key] = sample
        except Exception:
            bad.append(place)
    samples = list(by_example.values())
    problems = []
    if bad:
        problems.append(f"lines left out because they are truncated or unreadable: {len(bad)} (first: line {bad[0]})")
    if lost:
        problems.append(f"values left out because they are not numbers: {lost}")
    for name in dict.fromkeys(chain.from_iterable(sample.answers for sample in samples)):
        lacking = sum(name not in sample.answers for sample in samples)
        if lacking:
            problems.append(f"{lacking} of {len(samples)} examples lack the filter {name}")
    return SampleLog(samples, [f"{path.name}: {problem}" for problem in problems])


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not blank, in a file that may be compressed by gzip.

    Only a newline ends a line, since responses may contain other line separators. UTF-16 is converted to UTF-8. A byte
    order mark is removed from any line, since files are joined.
    """
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        lines: Iterable[bytes] = file
        if file.peek(2).startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            lines = map(str.encode, TextIOWrapper(file, "utf-16", "replace", "\n"))
        for number, raw in enumerate(lines, start=1):
            if not raw.isspace():
                yield number, raw.removeprefix(BOM_UTF8)


def new_sample(line: Row) -> Sample:
    """Create a sample from a line of a log; the fields that depend on the filter are empty."""
    choices, responses, target = _choices(line), _texts(line["resps"]), str(line["target"])
    if choices:
        responses = [f"{choice}: {value}" for choice, value in choices]
        target = choices[int(target)][0] if target.isdigit() else target
    request = next(iter(line["arguments"].values()))
    messages = _messages(next(iter(request.values())))
    alike = line.get("cluster"), line.get("stratum")
    sample = Sample(line["doc_id"], line["doc_hash"], dict(line["doc"]), messages, responses, target, *alike)
    sample.prompt_hash = line.get("prompt_hash", "")
    return sample


def _add_filter(sample: Sample, line: Row) -> int:
    """Add a line's values to a sample under the line's filter; return the number of metrics without a finite value.

    If the prompt of a log-likelihood task was refused, the response becomes empty and the answer ``[invalid]``.

    Raises:
        ValueError: for a bad order of the choices.
    """
    name, choices = line["filter"], _choices(line)
    answers = [max(choices, key=lambda choice: choice[1])[0]] if choices else _texts(line["filtered_resps"])
    check_orders(line.get("shown_as"), len(sample.responses))
    names = line.get("metrics", ())
    values = {metric: line[metric] for metric in names}
    sample.metrics[name] = numbers = {
        metric: number(value) for metric, value in values.items() if value is None or number(value) is not None
    }
    lost = len(values) - len(numbers)
    sample.details[name] = {key: value for key, value in line.items() if key not in _HARNESS_KEYS and key not in names}
    sample.answers[name] = answers
    if choices and "refusal" in line:
        numbers["answered"], sample.answers[name], sample.responses = 0.0, [UNANSWERED], [""]
    if "found_by" in line:
        sample.found_by[name] = _texts(line["found_by"])
    if line.get("scores"):
        sample.scores[name] = {metric: list(map(as_score, logged)) for metric, logged in line["scores"].items()}
    return lost


def check_orders(orders: Any, generations: int) -> None:
    """Check the logged orders of choices, one for all generations or one for each; raise ValueError for a bad one."""
    of_generations = orders if isinstance(orders, list) else [orders] * generations
    usual = [*LETTERS]
    if len(of_generations) < generations or any(sorted(order or LETTERS) != usual for order in of_generations):
        raise ValueError("shown_as is not an order of the choices")


def as_score(logged: Any) -> Score:
    """Convert a score from its logged form: a number, or a list for the other kinds of :data:`Score`."""
    if not isinstance(logged, list):
        return number(logged)
    if isinstance(logged[0], list):
        return ConfidenceTerms((float(top), float(bottom)) for top, bottom in logged)
    first, second = logged
    return JudgedScore(first, number(second)) if isinstance(first, bool) else (float(first), float(second))


def number(value: Any) -> float | None:
    """Convert a finite number to a float; return None for any other value."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def mapping(value: Any) -> Row:
    """Return a mapping unchanged, and an empty mapping for any other value."""
    return value if isinstance(value, dict) else {}


def _choices(line: Row) -> list[tuple[str, float]]:
    """Return the choices with their log-likelihoods, 0 if the prompt was refused; empty for generated text."""
    choices = []
    for request, response in zip(line.get("arguments", {}).values(), line.get("resps", ()), strict=False):
        for continuation in [*request.values()][1:]:
            if isinstance(continuation, str):
                choices.append((continuation.strip(), float(response[0][0]) if response[0] else 0.0))
    return choices


def _messages(prompt: Any) -> list[Message]:
    """Convert a logged prompt to messages. Chats of API models are logged as JSON in a list, other prompts as text."""
    text = prompt[0] if isinstance(prompt, list) else prompt
    if text.startswith('[{"role":'):
        return [{"role": message["role"], "content": content_of(message["content"])} for message in from_json(text)]
    return [{"role": "prompt", "content": text}]


def content_of(content: Any) -> str:
    """Return the text of a message's content: a string, a list of parts, or None in a message that only has calls."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _texts(value: Any) -> list[str]:
    return list(chain.from_iterable(map(_texts, value))) if isinstance(value, list) else [str(value)]
