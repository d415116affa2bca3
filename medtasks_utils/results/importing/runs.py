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
    boxed = {"answer_format": "boxed"} if mapping(metadata.get("env_args")).get("answer_format") == "boxed" else {}
    metadata_of_task = {"medexqa": {"use_explanations": False}, "medcalc_bench": boxed}
    given = {**metadata_of_task, **({} if data is None else {"medtasks_data": data})}
    built = our_manager(given).load([name])["tasks"][name]
    found, unmatched = _by_document(lines, built.eval_docs)
    if unmatched:
        problems.append(
            f"{path}: left out {len(unmatched)} of {len(lines)} responses whose prompt shows no document of {name} "
            f"(the first is line {unmatched[0]})"
        )
    if not found:
        raise ImportingError(f"{problems[-1]}; name another task with --task, or other rows with --data")
    samples, items = _scored(built, found)
    _, _, of_folder = path.resolve().parent.parent.name.partition("--")
    model = str(metadata.get("model") or of_folder.replace("--", "/") or path.parent.name)
    content = {
        "results": {name: _aggregated(name, built.benchmark.name, items)},
        "configs": {
            name: {"task": name, "metadata": {"benchmark": built.benchmark.name, "remarks": [f"imported from {path}"]}}
        },
        "n-samples": {name: {"original": len(built.eval_docs), "effective": len(found)}},
        "config": {"model": model},
        "model_name": model,
    }
    date = _date(path, metadata)
    place_of_run = folder / re.sub(r"[^\w.-]+", "__", model)
    target = place_of_run / f"results_{date}.json"
    text = "".join(json.dumps(sample, ensure_ascii=False, default=str) + "\n" for sample in samples)
    write_whole(place_of_run / f"samples_{name}_{date}.jsonl", text, make_folder=True)
    write_whole(target, json.dumps(content, indent=2, ensure_ascii=False))
    return target, problems


def _read(task: Any, doc: Row, responses: Sequence[str]) -> dict[str, tuple[list[str], Any]]:
    """By filter, the answers to one example, and its metrics and details as a run has them."""
    found = {}
    for name, read in zip(FILTERS, (task.benchmark.strict, task.benchmark.flexible), strict=True):
        answers = [read(response, dict(doc), task.options) for response in responses]
        found[name] = list(map(str, answers)), task.process_results(dict(doc), answers)
    return found


def _scored(task: Any, found: Mapping[int, list[Line]]) -> tuple[list[Row], Mapping[str, list[Any]]]:
    """The lines of the sample log, and the examples' values by metric and filter."""
    samples: list[Row] = []
    items: dict[str, list[Any]] = defaultdict(list)
    for place, own in found.items():
        doc = task.eval_docs[place]
        rewards = {key: [line.rewards.get(key) for line in own] for key in own[0].rewards}
        means = {key: sum(filter(None, each)) / len(own) for key, each in rewards.items() if None not in each}
        for filter_name, (answers, scores) in _read(task, doc, [line.response for line in own]).items():
            own_scores = {**dict(scores.items()), **means}
            for metric, value in own_scores.items():
                items[f"{metric},{filter_name}"].append(value)
            samples.append(_sample(place, doc, task.doc_to_target(doc), own, filter_name, answers))
            samples[-1] |= {**scores, **means, "metrics": list(own_scores)}
    return samples, items


def _aggregated(name: str, benchmark: str, items: Mapping[str, list[Any]]) -> Row:
    """The values and standard errors of a task, by metric and filter, as a results file has them."""
    results: Row = {"alias": name}
    for key, values in items.items():
        metric, _, filter_name = key.partition(",")
        aggregate = AGGREGATES[metric_of(metric, benchmark).aggregation]
        results |= {key: aggregate(values), f"{metric}_stderr,{filter_name}": aggregate.stderr(values)}
    return results


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
        named = next((line.values[key] for key in ("example_id", "id") if line.values.get(key) is not None), None)
        example = json.dumps(named, default=str)
        if not places:
            unmatched.append(line.number)
            continue
        taken = by_example.get(example) if named is not None else None
        free = next((place for place in places if place not in found), places[-1])
        place = taken if taken in places else free if named is not None or len(places) > 1 else places[0]
        by_example[example] = place
        found[place].append(line)
    return {place: found[place] for place in sorted(found)}, unmatched


def _sample(place: int, doc: Row, target: Any, lines: list[Line], filter_name: str, answers: list[str]) -> Row:
    """A line of a sample log, as the harness writes it."""
    text = json.dumps(doc, indent=2, default=str, ensure_ascii=False)
    prompt = json.dumps(lines[0].prompt, ensure_ascii=False)
    several = {"transcript": [*lines[0].prompt, *lines[0].completion]} if len(lines[0].completion) > 1 else {}
    return {
        "doc_id": place,
        "doc": doc,
        "target": str(target),
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
