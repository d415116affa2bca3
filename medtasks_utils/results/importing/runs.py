"""An environment's run as a results file and a sample log."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.results.importing.lines import (
    Documents,
    ImportingError,
    Line,
    benchmark_of,
    metadata_of,
    read_lines,
)
from medtasks_utils.results.samples import Row, mapping
from medtasks_utils.scoring import FILTERS
from medtasks_utils.statistics.aggregation import AGGREGATES
from medtasks_utils.writing import write_whole

_TASKS = {"medexqa": "medexqa_all"}
"""The task that an environment's rows are of, where that is not the benchmark's default."""


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
    lines, problems = read_lines(path)
    metadata = metadata_of(path)
    benchmark = benchmark_of(path, lines)
    if benchmark is None and task is None:
        raise ImportingError(
            f"{path}: neither its lines nor metadata.json nor its folder tell which benchmark it is of; name the task "
            "with --task"
        )
    from medtasks_utils.harness.catalog import our_manager  # imports the harness, which takes seconds

    name = task or _TASKS.get(benchmark or "", benchmarks()[benchmark or ""].default_task)
    options: Row = {"medexqa": {"use_explanations": False}}
    if mapping(metadata.get("env_args")).get("answer_format") == "boxed":
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
    of_folder = path.resolve().parent.parent.name.partition("--")[2]
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    content = {
        "results": {name: {"alias": name, **results}},
        "configs": {
            name: {"task": name, "metadata": {"benchmark": built.benchmark.name, "remarks": [f"imported from {path}"]}}
        },
        "n-samples": {name: {"original": len(built.eval_docs), "effective": len(found)}},
        "config": {"model": model},
        "model_name": model,
    }
    date = _date(path, metadata)
    target = folder / re.sub(r"[^\w.-]+", "__", model) / f"results_{date}.json"
    text = "".join(json.dumps(sample, ensure_ascii=False, default=str) + "\n" for sample in samples)
    write_whole(target.with_name(f"samples_{name}_{date}.jsonl"), text, make_folder=True)
    write_whole(target, json.dumps(content, indent=2, ensure_ascii=False))
    return target, problems


def _by_document(lines: Sequence[Line], documents: Sequence[Row]) -> tuple[dict[int, list[Line]], list[int]]:
    """The responses to each document by its place, in the documents' order, and the lines that show none.

    Of equal documents, each example of the environment has one of its own.
    """
    shown = Documents(documents)
    by_example: dict[str, int] = {}
    found: dict[int, list[Line]] = defaultdict(list)
    unmatched = []
    for line in lines:
        places = shown.shown_in(line.shown)
        if not places:
            unmatched.append(line.number)
            continue
        example = json.dumps(line.example)
        taken = by_example.get(example) if line.example is not None else None
        place = taken if taken in places else next((place for place in places if place not in found), places[-1])
        by_example[example] = place
        found[place].append(line)
    return {place: found[place] for place in sorted(found)}, unmatched


def _scored(task: Any, found: Mapping[int, list[Line]]) -> tuple[list[Row], Row]:
    """The lines of the sample log, and the task's values and standard errors as a results file has them."""
    samples: list[Row] = []
    items: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for place, lines in found.items():
        doc = task.eval_docs[place]
        in_all = [name for name in lines[0].rewards if all(name in line.rewards for line in lines)]
        means = {name: sum(line.rewards[name] for line in lines) / len(lines) for name in in_all}
        for filter_name, read in zip(FILTERS, (task.benchmark.strict, task.benchmark.flexible), strict=True):
            answers = [read(line.response, dict(doc), task.options) for line in lines]
            scores = task.process_results(dict(doc), answers)
            metrics = {**dict(scores.items()), **means}
            for metric, value in metrics.items():
                items[metric, filter_name].append(value)
            sample = _sample(place, doc, lines, filter_name, list(map(str, answers)))
            samples.append({**sample, "target": str(task.doc_to_target(doc)), **scores, **means, "metrics": [*metrics]})
    results: Row = {}
    for (metric, filter_name), values in items.items():
        aggregate = AGGREGATES[metric_of(metric, task.benchmark.name).aggregation]
        results[f"{metric},{filter_name}"] = aggregate(values)
        results[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(values)
    return samples, results


def _sample(place: int, doc: Row, lines: list[Line], filter_name: str, answers: list[str]) -> Row:
    """A line of a sample log, as the harness writes it."""
    text = json.dumps(doc, indent=2, default=str, ensure_ascii=False)
    prompt = json.dumps(lines[0].prompt, ensure_ascii=False)
    several = {"transcript": [*lines[0].prompt, *lines[0].completion]} if len(lines[0].completion) > 1 else {}
    return {
        "doc_id": place,
        "doc": doc,
        "arguments": {"gen_args_0": {"arg_0": [prompt], "arg_1": {}}},
        "resps": [[line.response] for line in lines],
        "filtered_resps": answers,
        "filter": filter_name,
        "doc_hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        **several,
    }


def _date(path: Path, metadata: Row) -> str:
    """As in the harness's file names: the run's own, else the file's."""
    said = re.sub(r"[^0-9T]", "-", str(metadata.get("date", "")).strip()[:19].replace(" ", "T"))
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d", said):
        return said
    return time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(path.stat().st_mtime))
