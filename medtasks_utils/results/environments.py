"""Runs of the environments that defined the benchmarks' scores: ``results.jsonl``, as ``vf-eval -s`` writes it.

A line is one response: ``prompt`` and ``completion`` (chat messages), ``answer``, ``info``, ``task``, ``reward`` and
one key for each reward function; beside the file stands ``metadata.json``, both in ``<environment>--<model>/<id>``.
The responses are scored anew under the strict filter, as if the harness had asked for them; the environment's own
rewards stand beside as ``env_reward`` and ``env_<function>``. Explanations are left to ``medtasks rescore``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import cards
from medtasks_utils.benchmarks.base import Answer
from medtasks_utils.results.environment_rows import (
    IDENTITY,
    TASK_OF_ALL_ROWS,
    RowError,
    benchmark_named,
    benchmark_with,
    document,
    info_of,
)
from medtasks_utils.results.run import ResultsError, Run, TaskRun
from medtasks_utils.results.samples import (
    STRICT,
    Message,
    Row,
    Sample,
    SampleLog,
    content_of,
    mapping,
    number,
    numbered_lines,
    without_surrogates,
)

FILE_NAME = "results.jsonl"

_NO_REWARDS = {
    *("id", "example_id", "rollout_id", "generation_ms", "scoring_ms", "total_ms", "average_reward", "avg_reward"),
    *("num_turns", "input_tokens", "output_tokens"),
}


class UnknownEnvironmentError(ResultsError):
    """A file of which it cannot be told which benchmark it is of."""


@dataclass(frozen=True)
class _Line:
    """A response."""

    number: int
    values: Row
    benchmark: str
    prompt: list[Message]
    completion: list[Message]

    @property
    def response(self) -> str:
        """What is scored: the last thing that the model said."""
        said = [message["content"] for message in self.completion if message["role"] in ("assistant", "prompt")]
        return said[-1] if said else ""

    @property
    def asked(self) -> str:
        """The last message of the prompt."""
        return self.prompt[-1]["content"] if self.prompt else ""

    @property
    def rewards(self) -> dict[str, float]:
        """The environment's own, by reward function."""
        own = self.values.get("metrics")
        given = {**own, "reward": self.values.get("reward")} if isinstance(own, dict) else self.values
        found = {name: number(value) for name, value in given.items() if name not in _NO_REWARDS}
        kept = {name: value for name, value in found.items() if not isinstance(given[name], bool)}
        return {f"env_{name}": value for name, value in kept.items() if value is not None}


def read_environment_run(path: Path) -> Run:
    """The run that a ``results.jsonl`` holds, with a task for each benchmark.

    Raises:
        UnknownEnvironmentError: if it cannot be told which benchmark a line is of.
        ResultsError: if the file cannot be read, or has no line that is a response.
    """
    metadata = _metadata(path)
    problems: list[str] = []
    try:
        lines = list(_lines(path, metadata, problems))
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror or error}") from None
    if not lines:
        raise ResultsError(f"{path} has no response as vf-eval -s writes them" + "".join(f"; {p}" for p in problems))
    tasks = {}
    for benchmark in dict.fromkeys(line.benchmark for line in lines):
        task = TASK_OF_ALL_ROWS.get(benchmark, cards()[benchmark].default_task)
        log = _samples(path, benchmark, [line for line in lines if line.benchmark == benchmark], metadata)
        tasks[task] = TaskRun(
            task=task,
            benchmark=benchmark,
            metrics={},
            config={},
            samples_path=path,
            reader=lambda _, log=log: log,  # type: ignore[misc]
            identity=IDENTITY[benchmark],
        )
    _, _, of_folder = path.resolve().parent.parent.name.partition("--")
    return Run(
        name="",
        model=str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name),
        path=path,
        date=re.sub(r"[^0-9T-]", "-", str(metadata.get("date", "")).strip().replace(" ", "T")),
        results={},
        tasks=tasks,
        groups={},
        problems=problems,
    )


def _metadata(path: Path) -> Row:
    try:
        return mapping(json.loads((path.parent / "metadata.json").read_bytes()))
    except (OSError, ValueError):
        return {}


def _lines(path: Path, metadata: Mapping[str, Any], problems: list[str]) -> Iterator[_Line]:
    names = [metadata.get("env_id"), metadata.get("env"), path.resolve().parent.parent.name.partition("--")[0]]
    of_file = next((found for name in names if (found := benchmark_named(name))), None)
    bad = []
    for number_, text in numbered_lines(path):
        try:
            values = without_surrogates(json.loads(text))
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or values.get("completion") is None:
            bad.append(number_)
            continue
        benchmark = benchmark_named(values.get("task")) or of_file or benchmark_with(info_of(values))
        if benchmark is None:
            raise UnknownEnvironmentError(
                f"{path}, line {number_}: neither task ({values.get('task')!r}), info nor metadata.json tells which "
                f"benchmark it is of ({', '.join(cards())}); put the file into a folder named <benchmark>--<model>/<id>"
            )
        prompt, completion = (_chat(values.get(key)) for key in ("prompt", "completion"))
        yield _Line(number_, values, benchmark, prompt, completion)
    if bad:
        count = "1 line" if len(bad) == 1 else f"{len(bad)} lines"
        problems.append(f"{path}: left out {count} that are no response or cut short (the first is line {bad[0]})")


def _chat(messages: Any) -> list[Message]:
    """Messages, with calls of tools in their text; a text alone is what a completion model was given or said."""
    if not isinstance(messages, list):
        return [{"role": "prompt", "content": content_of(messages)}]
    return [_message(message) for message in messages if isinstance(message, dict)]


def _message(message: Mapping[str, Any]) -> Message:
    calls = message.get("tool_calls")
    parts = [content_of(message.get("content")), *map(str, calls if isinstance(calls, list) else ())]
    return {"role": str(message.get("role", "")), "content": "\n".join(part for part in parts if part)}


def _samples(path: Path, benchmark: str, lines: list[_Line], metadata: Mapping[str, Any]) -> SampleLog:
    from medtasks_utils.scoring import Scorer

    boxed = benchmark == "medcalc_bench" and mapping(metadata.get("env_args")).get("answer_format") == "boxed"
    scorer = Scorer(cards()[benchmark].default_task, **({"answer_format": "boxed"} if boxed else {}))
    samples, left_out = [], []
    for index, (example, same) in enumerate(_by_example(lines, metadata).items()):
        try:
            samples.append(_sample(scorer, index, example, same))
        except RowError as error:
            left_out.append(f"line {same[0].number}: {error}")
    problems = [f"{path}: left out {len(left_out)} examples ({left_out[0]})"] if left_out else []
    return SampleLog(samples, problems)


def _by_example(lines: list[_Line], metadata: Mapping[str, Any]) -> dict[str, list[_Line]]:
    """The responses to each example: lines of one id; without ids, lines of one prompt where each is asked again."""
    prompts = [json.dumps(line.prompt, sort_keys=True) for line in lines]
    counts = set(Counter(prompts).values())
    repeated = metadata.get("rollouts_per_example", len(counts) == 1 and counts != {1} and 2) not in (1, False)
    found: dict[str, list[_Line]] = {}
    for index, (line, prompt) in enumerate(zip(lines, prompts, strict=True)):
        name = next((line.values[key] for key in ("example_id", "id") if line.values.get(key) is not None), None)
        found.setdefault(str(name) if name is not None else prompt if repeated else str(index), []).append(line)
    return found


def _strict(scorer: Any, doc: Row, responses: list[str]) -> tuple[list[Answer], dict[str, Any]]:
    from medtasks_utils.harness.example_values import combined

    benchmark, options = scorer.benchmark, scorer.options
    answers = [benchmark.strict(response, doc, options) for response in responses]
    scores = [benchmark.score(answer, doc, options) for answer in answers]
    names = scores[0].values
    return answers, {
        name: combined([each.values[name] for each in scores], scores[0].cluster, scores[0].stratum) for name in names
    }


def _sample(scorer: Any, index: int, example: str, lines: list[_Line]) -> Sample:
    first = lines[0]
    doc = document(first.benchmark, first.values, first.asked, example if len(example) < 100 else str(index))
    responses = [line.response for line in lines]
    answers, metrics = _strict(scorer, doc, responses)
    rewards = {name: [line.rewards.get(name) for line in lines] for name in first.rewards}
    means = {name: sum(filter(None, values)) / len(values) for name, values in rewards.items() if None not in values}
    details: Row = {"found_by": [answer.details["found_by"] for answer in answers]}
    if len(lines) == 1:
        details["found_by"] = details["found_by"][0]
        if len(first.completion) > 1:
            details["transcript"] = [*first.prompt, *first.completion]
    text = json.dumps(doc, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    return Sample(
        doc_id=index,
        doc_hash=hashlib.sha256(text).hexdigest(),
        doc=doc,
        messages=first.prompt,
        responses=responses,
        target=str(doc.get("target") or doc.get("answer_letter") or doc.get("ground_truth", "")),
        answers={STRICT: [str(answer) for answer in answers]},
        metrics={STRICT: {**{name: None if v is None else float(v) for name, v in metrics.items()}, **means}},
        details={STRICT: details},
    )
