"""Score imported responses, and save them in files of the form that lm_eval writes for a run."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.errors import MedtasksError, UsageError
from medtasks_utils.harness.aggregates import HarnessAggregation, without_nan
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.harness.lm_eval_names import Instance, hash_string, sanitize_model_name
from medtasks_utils.harness.task import MedTask
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.results.samples import Row
from medtasks_utils.writing import json_lines, read_json, write_whole

from .matching import NOWHERE, by_id, by_prompt
from .other_runs import OtherRun, Response, named, read_other_run


def import_run(
    path: Path,
    folder: Path,
    task: str | None = None,
    data: str | None = None,
    id_fields: Sequence[str] = (),
    response_field: str = "",
) -> tuple[Path, list[str]]:
    """Convert another harness's run into files of the form that lm_eval writes, in a folder named after the model.

    Args:
        task: the task to whose documents the run has responses; None to infer it from the names in the run.
        data: the source of the rows, as in ``medtasks_data``.
        id_fields: the fields of the file that identify the document; empty for the known file formats.
        response_field: the field with the response; empty for the known file formats.

    Returns:
        The path of the results file, and lines about records and responses that were left out, and about documents
        with several responses (with the place of the second response to each).

    Raises:
        MedtasksError: if the file has no response that can be read, the benchmark cannot be inferred, or no response
            belongs to a document of the task.
        UsageError: for an unknown task, a group, or a task of no benchmark.
        DataError: if the rows cannot be read.
    """
    run = read_other_run(path, id_fields, response_field)
    built = _build_task(task or _task_of(run), run.arguments, data)
    documents, name = built.eval_docs, built.task_name
    if id_fields:
        matched = by_id(run.responses, documents, id_fields)
        why = f"whose id matches either no document of {name} or several"
    else:
        matched = by_prompt(run.responses, documents, built.benchmark.data.shown)
        why = f"whose prompt shows no document of {name}"
    unmatched = [response.place for response in matched.pop(NOWHERE, [])]
    twice = [responses[1].place for responses in matched.values() if id_fields and len(responses) > 1]
    problems = {
        "documents with several responses, used as generations": twice,
        f"of {len(run.responses)} responses, left out those {why}": unmatched,
    }
    run.problems += [f"{path}: {named(places, what)}" for what, places in problems.items() if places]
    if not matched:
        raise MedtasksError(f"{run.problems[-1]}; choose another task with --task, or other rows with --data")
    return _save(built, matched, run, folder), run.problems


def _build_task(name: str, arguments: Row, data: str | None) -> MedTask:
    """Build a task with the options of an environment, and without costly scores.

    Raises:
        UsageError: for an unknown task, a group, or a task of no benchmark.
    """
    metadata: Row = {} if data is None else {DATA_KEY: data}
    for benchmark in benchmarks().usable():
        kind = benchmark.options_class
        metadata[benchmark.name] = {**kind.without_costly(), **kind.of_environment(arguments)}
    task = manager_for([name], metadata=metadata).load([name])["tasks"].get(name)
    if not isinstance(task, MedTask):
        raise UsageError(f"--task {name} is not a single task of this package")
    task.turns = None  # the conversations with tools are already over
    return task


def _task_of(run: OtherRun) -> str:
    """Return the main task of the benchmark whose name, without underscores, occurs in the run's names.

    The longest such name decides.

    Raises:
        MedtasksError: if no benchmark's name occurs in them.
    """
    plain = re.sub(r"[\W_]", "", run.names.lower())
    in_names = [benchmark for benchmark in benchmarks().usable() if benchmark.name.replace("_", "") in plain]
    if not in_names:
        raise MedtasksError(f"{run.path}: cannot tell which benchmark was run; name the task with --task")
    return max(in_names, key=lambda benchmark: len(benchmark.name)).tasks.whole


# ---- scores and files


def _save(task: MedTask, responses: Mapping[int, Sequence[Response]], run: OtherRun, folder: Path) -> Path:
    """Score responses under each filter, write a results file and a sample log, and return the results file's path.

    ``responses`` has the generations of each example, by the index of its document in the task.
    """
    name, benchmark = task.task_name, task.benchmark.name
    instances: dict[int, list[Instance]] = defaultdict(list)
    for place, generations in sorted(responses.items()):
        for number, response in enumerate(generations):
            prompt = ([json.dumps(response.prompt, ensure_ascii=False)],)
            about = (task.eval_docs[place], prompt, number, (name, place, 1))
            instances[place].append(Instance("generate_until", *about, resps=[response.reply]))
    task._instances = [*chain.from_iterable(instances.values())]
    task.apply_filters()
    samples: list[Row] = []
    for place, of_example in instances.items():
        samples += _score_example(task, responses[place], of_example)
    remarks = [f"imported from {run.path}", *task.config.metadata.get("remarks", ())]
    metadata = {"benchmark": benchmark, "remarks": remarks, "data_source": str(run.path)}
    results_of_task = {
        "results": _aggregate(samples, benchmark),
        "configs": {"dataset_path": task.config.dataset_path, "metadata": metadata},
        "n-samples": {"original": len(task.eval_docs), "effective": len(responses)},
    }
    # A name of dots would lead out of the folder, and file names cannot contain NUL.
    model_folder = re.sub(r"^\.+$|[\x00-\x1f]", "_", sanitize_model_name(run.model))
    target = folder / model_folder / f"results_{run.date}.json"
    other_tasks = read_json(target)  # files with the same date are one run
    results: Row = {"model_name": run.model}
    for key, value in results_of_task.items():
        results[key] = {**other_tasks.get(key, {}), name: value}
    write_whole(target.with_name(f"samples_{name}_{run.date}.jsonl"), json_lines(samples))
    write_whole(target, json.dumps(results, indent=2, ensure_ascii=False))
    return target


def _score_example(task: MedTask, generations: Sequence[Response], instances: Sequence[Instance]) -> list[Row]:
    """Score the generations of an example, and return its sample for each filter."""
    doc = instances[0].doc
    # The other harness's scores are means over generations, without scores that a generation lacks.
    scores_of = [response.scores for response in generations]
    names = sorted(set.intersection(*map(set, scores_of)))
    their_scores = {name: fmean(map(itemgetter(name), scores_of)) for name in names}
    sample = {
        "doc_id": instances[0].doc_id,
        "doc": doc,
        "doc_hash": hash_string(json.dumps(doc, indent=2, default=str, ensure_ascii=False)),
        "target": str(task.doc_to_target(doc)),
        "arguments": {"gen_args_0": {"arg_0": instances[0].args[0]}},
        "resps": [[response.reply] for response in generations],
    }
    if their_scores:
        sample["other_scores"] = their_scores
    samples = []
    for filter_name in task.filter_names:
        answers = [instance.filtered_resps[filter_name] for instance in instances]
        scores = task.process_results(doc, answers)
        metrics = [*dict(scores.items()), *their_scores]  # items() returns only the metrics, without details
        of_filter = {"filter": filter_name, "filtered_resps": list(map(str, answers)), "metrics": metrics}
        samples.append({**sample, **of_filter, **scores, **their_scores})
    return samples


def _aggregate(samples: Sequence[Row], benchmark: str) -> Row:
    """Return the value and standard error of each metric for each filter, under lm_eval's names."""
    values: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for sample in samples:
        for metric in sample["metrics"]:
            values[metric, sample["filter"]].append(sample[metric])
    aggregated: Row = {}
    for (metric, filter_name), of_examples in values.items():
        aggregate = HarnessAggregation(metric_of(metric, benchmark).aggregation)
        aggregated[f"{metric},{filter_name}"] = aggregate(of_examples)
        aggregated[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(of_examples)
    return without_nan(aggregated)
