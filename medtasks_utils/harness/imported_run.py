"""Responses that were got without the harness, scored by a task and saved as the harness saves a run."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.statistics.aggregation import AGGREGATES
from medtasks_utils.writing import write_whole

from .lm_eval_names import hash_string, sanitize_model_name
from .task import MedTask

Message = dict[str, str]


class Reply(NamedTuple):
    """What a model was asked and said.

    Attributes:
        response: what is scored: the last thing that the model said.
        rewards: further scores of it, by name.
    """

    prompt: list[Message]
    completion: list[Message]
    response: str
    rewards: dict[str, float]


def save(
    task: MedTask, replies: Mapping[int, Sequence[Reply]], folder: Path, *, model: str, date: str, source: str
) -> Path:
    """Score replies under each filter, and write the results file and the sample log.

    Args:
        replies: to documents of the task, by their places; several are an example's generations.
        folder: to write into, in a folder named after the model.
        date: for the files' names, as in ``2026-11-21T08-27-59``.
        source: where the replies come from.

    Returns:
        The results file.
    """
    samples: list[dict[str, Any]] = []
    items: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for place, own in sorted(replies.items()):
        doc = task.eval_docs[place]
        in_all = set.intersection(*(set(reply.rewards) for reply in own))
        means = {name: fmean(reply.rewards[name] for reply in own) for name in sorted(in_all)}
        sample = {
            "doc_id": place,
            "doc": doc,
            "doc_hash": hash_string(json.dumps(doc, indent=2, default=str, ensure_ascii=False)),
            "target": str(task.doc_to_target(doc)),
            "arguments": {"gen_args_0": {"arg_0": [json.dumps(own[0].prompt, ensure_ascii=False)]}},
            "resps": [[reply.response] for reply in own],
        }
        if len(own[0].completion) > 1:
            sample["transcript"] = [*own[0].prompt, *own[0].completion]
        for filter_name, read in task.benchmark.readers.items():
            answers = [read(reply.response, doc, task.options) for reply in own]
            scores = task.process_results(doc, answers)
            metrics = {**dict(scores.items()), **means}
            for metric, value in metrics.items():
                items[metric, filter_name].append(value)
            of_filter = {"filter": filter_name, "filtered_resps": list(map(str, answers)), "metrics": [*metrics]}
            samples.append({**sample, **of_filter, **scores, **means})
    name, benchmark = task.info.name, task.benchmark.name
    values: dict[str, Any] = {}
    for (metric, filter_name), each in items.items():
        aggregate = AGGREGATES[metric_of(metric, benchmark).aggregation]
        values[f"{metric},{filter_name}"] = aggregate(each)
        values[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(each)
    metadata = {"benchmark": benchmark, "remarks": [f"imported from {source}"], "data_source": source}
    by_task = {
        "results": values,
        "configs": {"dataset_path": task.config.dataset_path, "metadata": metadata},
        "n-samples": {"original": len(task.eval_docs), "effective": len(replies)},
    }
    target: Path = folder / sanitize_model_name(model) / f"results_{date}.json"
    others = json.loads(target.read_bytes()) if target.exists() else {}  # files of one date are one run
    results = {key: {**others.get(key, {}), name: own} for key, own in by_task.items()} | {"model_name": model}
    text = "".join(json.dumps(sample, ensure_ascii=False, default=str) + "\n" for sample in samples)
    write_whole(target.with_name(f"samples_{name}_{date}.jsonl"), text, make_folder=True)
    write_whole(target, json.dumps(results, indent=2, ensure_ascii=False))
    return target
