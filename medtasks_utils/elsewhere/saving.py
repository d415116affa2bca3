"""Score imported responses, and save them as lm_eval saves a run."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from medtasks_utils.benchmarks import benchmarks, metric_of
from medtasks_utils.benchmarks.base import Benchmark
from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.benchmarks.facts import Data
from medtasks_utils.errors import DataError, MedtasksError, UsageError, logger
from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.harness.aggregates import ExampleScore, HarnessAggregation, without_nan
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.harness.lm_eval_names import Instance, hash_string, sanitize_model_name
from medtasks_utils.harness.task import MedTask
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.inference.replies import as_reply
from medtasks_utils.inference.reply_checks import Exchange, failure_of, remarks_on
from medtasks_utils.results.samples import Row
from medtasks_utils.writing import printable, read_json, shortened, write_whole

from .matching import NOWHERE, Documents, find_documents
from .other_runs import (
    Fields,
    OtherRun,
    Records,
    Response,
    Spool,
    named,
    read_other_run,
    records_by_run,
    run_of_records,
)
from .record_contents import contradicts, differing, shown_order, shuffles, stated_fields


@dataclass
class Imported:
    """The result of importing a run.

    Attributes:
        path: the results file.
        task: the name of the task.
        available: the number of all examples.
        missing: the indices of the unanswered examples.
        agreement: the share of examples on which the two harnesses agree, by the other harness's score and our filter.
        problems: lines about records and responses that were left out, and about documents with more than one response
            (with the place of the second).
    """

    path: Path
    task: str
    available: int
    missing: list[int]
    agreement: dict[str, dict[str, float]]
    problems: list[str]


_KNOWN = Fields()


class TaskRows:
    """A task and its rows, to which responses are matched; loaded and indexed once for several runs.

    Args:
        name: the name of the task.
        arguments: the arguments of the environment, which set the task's options.
        data: the source of the rows, as in ``medtasks_data``; None for the default.

    Raises:
        UsageError: for an unknown task, a group, or a task of no benchmark.
        DataError: if the rows cannot be read.
    """

    def __init__(self, name: str, arguments: Row, data: str | None) -> None:
        self.task = build_task(name, arguments, data)
        self.documents = Documents(self.task.eval_docs)


def import_runs(
    path: Path,
    folder: Path,
    task: str | None = None,
    data: str | None = None,
    fields: Fields = _KNOWN,
    model: str = "",
) -> Iterator[Imported | MedtasksError]:
    """Convert another harness's runs to files as lm_eval writes them, in subfolders named after the models.

    With ``split_by``, which requires ``task``, a run that cannot be imported, such as one of a different benchmark,
    does not stop the import of the other runs: its error is yielded instead of a result. An error about records without
    a value of the field is yielded last.

    Args:
        path: the file.
        folder: the folder in which the subfolders are created.
        task: the task to whose documents the runs have responses; None to infer it from the names in the run.
        data: the source of the rows, as in ``medtasks_data``.
        fields: the fields of the records, if the file is in none of the known formats.
        model: the model's name; empty for the name in the file.

    Raises:
        MedtasksError: if the file has no response that can be read, the benchmark cannot be inferred, or no response
            belongs to a document of the task.
        UsageError: for an unknown task, a group, or a task of no benchmark.
        DataError: if the rows cannot be read.
    """
    runs: Mapping[str, Records | None] = {model: None}
    without: list[str] = []
    if fields.split_by:
        runs, without = records_by_run(path, fields.split_by)
    rows = None
    for name, records in runs.items():
        try:
            run = read_other_run(path, fields) if records is None else run_of_records(path, fields, records)
            run.model = name or run.model
            rows = rows or TaskRows(task or task_of(run), run.arguments, data)
            matched = _match(run, rows, fields.id)
            if not matched:
                raise MedtasksError(f"{run.problems[-1]}; choose another task with --task, or other rows with --data")
            yield _save(rows, matched, run, folder, fields.response)
        except MedtasksError as error:
            if not fields.split_by or isinstance(error, UsageError | DataError):
                raise
            yield MedtasksError(f"{name}: {error}")
    if without:
        yield MedtasksError(f"{path}: left out {named(without, f'records without the field {fields.split_by}')}")


_OTHER_ANSWER = "whose record differs from the row in answer"

Matched = dict[int, list[tuple[int, str]]]
"""For each document's index, its responses: their positions in the run, and the orders of their choices."""


def _match(run: OtherRun, rows: TaskRows, id_fields: Sequence[str]) -> Matched:
    """Return the responses to each document, and add problems about responses that are left out.

    A response is left out if it belongs to no document, if its record differs from the row, if the order of the choices
    that the model saw is unknown, or if the ids do not tell the documents of its row apart. All responses are left out
    if the answer differs in more than a third of the records that otherwise match their rows, or if more than a third
    of the replies that pair letters with choices contradict the data's order. With ``id_fields``, a problem also names
    documents with several responses.
    """
    task, documents, responses = rows.task, rows.documents, run.responses
    data = task.benchmark.data
    check = partial(_order_in, task.benchmark, shuffles(run.arguments))
    places = find_documents(responses, documents, data, id_fields, lambda response, doc: not check(response, doc)[1])
    nowhere = f"whose prompt shows no document of {task.task_name}"
    if id_fields:
        nowhere = f"whose id matches no document of {task.task_name}, or more than one"
    matched: Matched = defaultdict(list)
    left_out: dict[str, list[int]] = defaultdict(list)
    pairs: Counter[bool | None] = Counter()
    for number, (place, response) in enumerate(zip(places, responses, strict=True)):
        order, reason = (LETTERS, nowhere) if place == NOWHERE else check(response, documents[place])
        if reason:
            left_out[reason].append(number)
            continue
        matched[place].append((number, order))
        if data.choices and order == LETTERS:
            pairs[contradicts(response.reply, documents[place], data)] += 1
    many_differ = {  # the others are equal by chance
        "whose letters often belong to different choices than in the data, in an order that the file does not state": (
            pairs[True] > max(4, pairs[False] / 2, pairs.total() / 20)  # models err in up to 2 % of replies
        ),
        "that agree with their row's answer, since many others do not, so the file is about different rows": (
            2 * len(left_out.get(_OTHER_ANSWER, ())) > sum(map(len, matched.values()))
        ),
    }
    for reason in many_differ:
        if many_differ[reason]:
            left_out[reason] = [number for number, _ in chain.from_iterable(map(matched.pop, list(matched)))]
    if id_fields and data.told_apart_by not in (None, *id_fields):
        reason = f"that do not say which {data.told_apart_by} they are about; add this field to --id"
        left_out[reason] = _untold(matched, documents, data)
    numbers = {
        "documents with several responses, used as generations": [
            generations[1][0] for generations in matched.values() if id_fields and len(generations) > 1
        ]
    }
    numbers |= {f"of {len(responses)} responses, left out those {reason}": of for reason, of in left_out.items()}
    for problem, of_problem in numbers.items():
        if of_problem:
            run.problems.append(f"{run.path}: {named([responses[number].place for number in of_problem], problem)}")
    return dict(matched)


def _order_in(benchmark: Benchmark[Any], is_shuffled: bool, response: Response, doc: Row) -> tuple[str, str]:
    """Return the order of a record's choices, and the reason to leave the record out; empty if there is none."""
    stated = stated_fields(response.stated, benchmark)
    order, reason = LETTERS, ""
    if benchmark.data.choices:
        order, reason = shown_order(response, stated, doc, benchmark.data, is_shuffled)
    differ = differing(stated, doc, order or LETTERS, benchmark)
    return order, f"whose record differs from the row in {' and '.join(differ)}" if differ else reason


def _untold(matched: Matched, documents: Sequence[Row], data: Data) -> list[int]:
    """Remove the responses whose ids do not tell the documents of a row apart, and return their positions in the run.

    These are the responses to a document that has more than one, while a different document of the same row has none.
    """
    rows = list(map(data.cluster_of, documents))
    lacking = Counter(rows) - Counter(rows[place] for place in matched)
    doubtful = [place for place, responses in matched.items() if len(responses) > 1 and lacking[rows[place]]]
    return [number for place in doubtful for number, _ in matched.pop(place)]


def build_task(name: str, arguments: Row, data: str | None) -> MedTask:
    """Build a task with the options of an environment, with costly scores and tools turned off.

    Raises:
        UsageError: for an unknown task, a group, or a task of no benchmark.
    """
    metadata: Row = {} if data is None else {DATA_KEY: data}
    for benchmark in benchmarks().usable():
        kind = benchmark.options_class
        metadata[benchmark.name] = {**kind.without_costly(), **kind.of_environment(arguments)}
    task = manager_for([name], metadata=metadata).load([name])["tasks"].get(name)
    if not isinstance(task, MedTask):
        whole = [other.tasks.whole for other in benchmarks().usable() if name in (other.name, other.tasks.default)]
        way_on = f"; use {whole[0]}, which has all of its rows" if whole else ""
        raise UsageError(f"--task {name} is not a single task of this package{way_on}")
    task.turns = None  # the conversations with tools are already over
    return task


def task_of(run: OtherRun) -> str:
    """Return the main task of the benchmark whose name, without underscores, occurs in the run's names.

    If more than one name occurs, the longest decides.

    Raises:
        MedtasksError: if no benchmark's name occurs in the run's names.
    """
    plain = re.sub(r"[\W_]", "", run.names.lower())
    in_names = [benchmark for benchmark in benchmarks().usable() if benchmark.name.replace("_", "") in plain]
    if not in_names:
        raise MedtasksError(f"{run.path}: cannot tell which benchmark was run; name the task with --task")
    return max(in_names, key=lambda benchmark: len(benchmark.name)).tasks.whole


# ---- scores and files


def _save(rows: TaskRows, matched: Matched, run: OtherRun, folder: Path, field: str) -> Imported:
    """Score responses under each filter, write a results file and a sample log, and return a summary.

    An earlier import of the same model and field of the same file is replaced.
    """
    task, available = rows.task, len(rows.documents)
    name, benchmark = task.task_name, task.benchmark.name
    exchanges = [Exchange(number, "", "", {}, reply) for number, reply in enumerate(run.ends)]
    of_replies = [*filter(None, [*remarks_on(exchanges), failure_of(exchanges)])]
    # A name of dots would lead out of the folder, and file names cannot contain NUL.
    model_folder = re.sub(r"^\.+$|[\x00-\x1f]", "_", sanitize_model_name(run.model))
    source = f"{run.model} in {field} of {run.path.resolve()}"
    for date in chain([run.date], (f"{run.date}.{number:06}" for number in count(1))):
        target = folder / model_folder / f"results_{date}.json"
        other_tasks = read_json(target)  # files with the same date are one run
        config_there = other_tasks.get("configs", {}).get(name)
        if config_there is None or config_there["metadata"].get("imported_from") == source:
            break
    values: Values = defaultdict(list)
    samples = chain.from_iterable(_samples(rows, *item, run.responses) for item in sorted(matched.items()))
    write_whole(target.with_name(f"samples_{name}_{date}.jsonl"), _lines(samples, values))
    if not any(chain.from_iterable(values["answered", by] for by in task.filter_names)):
        shown = shortened(run.responses[next(iter(matched.values()))[0][0]].reply, 60)
        of_replies.append(f"no response has an answer that can be read; is this a response: {shown!r}?")
    for line in of_replies:
        logger.warning("%s: %s", name, line)
    remarks = [f"imported from {run.path}", *task.config.metadata.get("remarks", ()), *of_replies]
    about = {"benchmark": benchmark, "remarks": remarks, "data_source": str(run.path), "imported_from": source}
    results_of_task = {
        "results": _aggregate(values, benchmark),
        "configs": {"dataset_path": task.config.dataset_path, "metadata": about},
        "n-samples": {"original": available, "effective": len(matched)},
    }
    results: Row = {"model_name": run.model}
    for key, value in results_of_task.items():
        results[key] = {**other_tasks.get(key, {}), name: value}
    write_whole(target, json.dumps(results, indent=2, ensure_ascii=False))
    missing = sorted(set(range(available)).difference(matched))
    return Imported(target, name, available, missing, agreement_of(values), run.problems)


def _samples(
    rows: TaskRows, place: int, of_example: Sequence[tuple[int, str]], responses: Spool[Response]
) -> Iterator[Row]:
    """Score the generations of an example, and yield its sample for each filter.

    Only the first sample contains the fields that all filters share.
    """
    numbers, orders = zip(*of_example, strict=True)
    generations = [responses[number] for number in numbers]
    task, doc = rows.task, rows.documents[place]
    benchmark = task.benchmark
    reordered = benchmark if isinstance(benchmark, ChoiceBenchmark) and {*orders} != {LETTERS} else None
    shown = [reordered.relabelled(doc, order) if reordered else doc for order in orders]
    prompt = ([prompt_of(generations[0], shown[0], benchmark)],)
    task._instances = instances = []
    for number, (response, doc_shown) in enumerate(zip(generations, shown, strict=True)):
        about = (doc_shown, prompt, number, (task.task_name, place, 1))
        instances.append(Instance("generate_until", *about, resps=[as_reply(response.reply)]))
    task.read_replies()
    # The other harness's scores are means over generations, without scores that a generation lacks.
    scores_of = [response.scores for response in generations]
    names = sorted(set.intersection(*map(set, scores_of)))
    their_scores = {name: fmean(map(itemgetter(name), scores_of)) for name in names}
    doc_hash = hash_string(json.dumps(doc, indent=2, default=str, ensure_ascii=False))
    shared = {
        "doc": doc,
        "arguments": {"gen_args_0": {"arg_0": prompt[0]}},
        "resps": [[instance.resps[0]] for instance in instances],
    }
    for filter_name in task.filter_names:
        answers = [instance.filtered_resps[filter_name] for instance in instances]
        if reordered:
            answers = list(map(reordered.answer_in_data, answers, orders))
        scores = task.process_results(doc, answers)
        metrics = [*dict(scores.items()), *their_scores]  # items() returns only the metrics, without details
        sample = {"doc_id": place, "doc_hash": doc_hash, **shared, "target": str(task.doc_to_target(doc))}
        sample |= {"filter": filter_name, "filtered_resps": list(map(str, answers)), "metrics": metrics}
        yield {**sample, **({"other_scores": their_scores} if their_scores else {}), **scores, **their_scores}
        shared = {}


def prompt_of(response: Response, doc: Row, benchmark: Benchmark[Any]) -> str:
    """Return the prompt as JSON messages or, without one, the example's fields that prompts show."""
    if response.prompt:
        return printable(json.dumps(response.prompt, ensure_ascii=False))
    shown = [doc[field] for field in benchmark.data.shown]
    lines = [text if isinstance(text, str) else "\n".join(map("{}. {}".format, LETTERS, text)) for text in shown]
    return "\n\n".join(lines)


Values = dict[tuple[str, str], list[Any]]
"""The values of all examples, by metric and filter."""


def _lines(samples: Iterable[Row], values: Values) -> Iterator[str]:
    """Yield the lines of the sample log, and collect the scores in ``values``, where equal scores share an object."""
    known: dict[Any, Any] = {}
    for sample in samples:
        for metric in sample["metrics"]:
            value = sample[metric]
            key = vars(value).values() if isinstance(value, ExampleScore) else [value]
            values[metric, sample["filter"]].append(known.setdefault(tuple(key), value))
        yield json.dumps(sample, ensure_ascii=False, default=str, separators=(",", ":")) + "\n"


def agreement_of(values: Values) -> dict[str, dict[str, float]]:
    """Return the share of examples on which the harnesses agree, by the other harness's score and our filter.

    The harnesses agree on an example if both scores, or neither, are above 0.5. A score of the other harness is
    compared only if every example has one, and all are from 0 to 1.
    """
    agreement: dict[str, dict[str, float]] = defaultdict(dict)
    for (score, name), theirs in values.items():
        ours = values["acc", name]
        is_other = all(type(value) is float and 0 <= value <= 1 for value in theirs)  # ours are ExampleScore or None
        if is_other and len(theirs) == len(ours):
            pairs = zip(ours, theirs, strict=True)
            agreement[score][name] = fmean((our_score > 0.5) == (their_score > 0.5) for our_score, their_score in pairs)
    return agreement


def _aggregate(values: Values, benchmark: str) -> Row:
    """Return the value and standard error of each metric under each filter, named as in lm_eval."""
    aggregated: Row = {}
    for (metric, filter_name), of_examples in values.items():
        aggregate = HarnessAggregation(metric_of(metric, benchmark).aggregation)
        aggregated[f"{metric},{filter_name}"] = aggregate(of_examples)
        aggregated[f"{metric}_stderr,{filter_name}"] = aggregate.stderr(of_examples)
    return without_nan(aggregated)
