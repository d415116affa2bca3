"""Score responses that were generated without lm_eval, and save them as lm_eval saves a run."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from medtasks_utils.benchmarks import metric_of
from medtasks_utils.writing import write_whole

from .aggregates import HarnessAggregation
from .lm_eval_names import hash_string, sanitize_model_name
from .task import MedTask

Message = dict[str, str]


class ImportedReply(NamedTuple):
    """A conversation with a model.

    Attributes:
        prompt: the messages that the model was given.
        completion: the messages that followed, tool results included.
        response: the text that is scored, the model's last message.
        rewards: further scores of the conversation, by name.
    """

    prompt: list[Message]
    completion: list[Message]
    response: str
    rewards: dict[str, float]


Values = dict[tuple[str, str], list[Any]]
"""The values of each metric under each filter, by example."""


def save(
    task: MedTask, replies: Mapping[int, Sequence[ImportedReply]], folder: Path, *, model: str, date: str, source: str
) -> Path:
    """Score replies under each filter, write the results file and the sample log, and return the results file.

    Args:
        task: the task whose documents were answered.
        replies: the generations of each example, by the place of its document in the task.
        folder: the files go into a folder of it that is named after the model.
        model: the model's name.
        date: the date in the files' names, as in ``2026-11-21T08-27-59``.
        source: where the replies come from, for the remarks.
    """
    samples: list[dict[str, Any]] = []
    values: Values = defaultdict(list)
    for place, generations in sorted(replies.items()):
        samples += _score_example(task, place, generations, values)
    benchmark = task.benchmark.name
    metadata = {"benchmark": benchmark, "remarks": [f"imported from {source}"], "data_source": source}
    results_of_task = {
        "results": _aggregate(values, benchmark),
        "configs": {"dataset_path": task.config.dataset_path, "metadata": metadata},
        "n-samples": {"original": len(task.eval_docs), "effective": len(replies)},
    }
    target: Path = folder / sanitize_model_name(model) / f"results_{date}.json"
    other_tasks = json.loads(target.read_bytes()) if target.exists() else {}  # files of one date are one run
    results: dict[str, Any] = {"model_name": model}
    for key, value in results_of_task.items():
        results[key] = {**other_tasks.get(key, {}), task.info.name: value}
    log = "".join(json.dumps(sample, ensure_ascii=False, default=str) + "\n" for sample in samples)
    write_whole(target.with_name(f"samples_{task.info.name}_{date}.jsonl"), log, make_folder=True)
    write_whole(target, json.dumps(results, indent=2, ensure_ascii=False))
    return target


def _score_example(
    task: MedTask, place: int, generations: Sequence[ImportedReply], values: Values
) -> list[dict[str, Any]]:
    """Return an example's sample under each filter, and add its metrics to ``values``."""
    doc = task.eval_docs[place]
    rewards = _mean_rewards(generations)
    first = generations[0]
    sample = {
        "doc_id": place,
        "doc": doc,
        "doc_hash": hash_string(json.dumps(doc, indent=2, default=str, ensure_ascii=False)),
        "target": str(task.doc_to_target(doc)),
        "arguments": {"gen_args_0": {"arg_0": [json.dumps(first.prompt, ensure_ascii=False)]}},
        "resps": [[reply.response] for reply in generations],
    }
    if len(first.completion) > 1:
        sample["transcript"] = [*first.prompt, *first.completion]
    samples = []
    for filter_name, read in task.benchmark.readers.items():
        answers = [read(reply.response, doc, task.options) for reply in generations]
        scores = task.process_results(doc, answers)
        metrics = {**dict(scores.items()), **rewards}  # ``items`` gives the metrics alone, without details
        for metric, value in metrics.items():
            values[metric, filter_name].append(value)
        of_filter = {"filter": filter_name, "filtered_resps": list(map(str, answers)), "metrics": [*metrics]}
        samples.append({**sample, **of_filter, **scores, **rewards})
    return samples


def _mean_rewards(generations: Sequence[ImportedReply]) -> dict[str, float]:
    """Return the mean over generations of each reward that all of them have."""
    names = set(generations[0].rewards).intersection(*(reply.rewards for reply in generations))
    return {name: fmean(reply.rewards[name] for reply in generations) for name in sorted(names)}


def _aggregate(values: Values, benchmark: str) -> dict[str, Any]:
    """Return each metric and its standard error under each filter, named as in lm_eval's results."""
    aggregated: dict[str, Any] = {}
    for (metric, filter_name), of_examples in values.items():
        aggregate = HarnessAggregation(metric_of(metric, benchmark).aggregation)
        aggregated[f"{metric},{filter_name}"] = aggregate(of_examples)
        aggregated[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(of_examples)
    return aggregated
