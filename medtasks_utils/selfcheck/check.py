"""Run the harness against the local server, and compare every score with its expected value."""

import itertools
import logging
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.harness.catalog import manager_for
from medtasks_utils.harness.lm_eval_names import EvaluationTracker, TaskManager, simple_evaluate
from medtasks_utils.harness.task import MedTask
from medtasks_utils.harness.task_options import DATA_KEY
from medtasks_utils.statistics.metrics import REPLY_METRICS

from .answer_server import Answers, prompt_key, serving
from .known_answers import BEHAVIOURS, ExpectedScores, KnownAnswer, expected_scores, known_answer
from .selfcheck_result import CheckedScore, Reported, SelfcheckResult

AnsweredExamples = dict[tuple[str, str], list[tuple[Example, KnownAnswer]]]
"""The examples with their known answers, by task and behaviour."""

ReportedScores = dict[str, Mapping[str, Reported]]
"""The harness's scores by task or group, and then by metric and filter, such as ``acc,strict-match``."""


def run(data: str, limit: int | None, folder: Path) -> SelfcheckResult:
    """Run all checked tasks once for each behaviour of the local server, and compare the scores with the expected ones.

    Args:
        data: the source of the rows, as in ``medtasks eval --data``.
        limit: the number of examples of each task to use; None for all.
        folder: the folder of the runs, one for each behaviour; runs of an earlier check are deleted.
    """
    start = time.perf_counter()
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    usable = benchmarks().usable()
    without_costly = {benchmark.name: benchmark.options_class.without_costly() for benchmark in usable}
    manager = manager_for(metadata={DATA_KEY: data, **without_costly})
    names = [name for benchmark in usable for name in benchmark.tasks.checked or ()]
    loaded = manager.load(names)
    tasks: dict[str, MedTask] = loaded["tasks"]
    answers, examples = _served(tasks, limit)
    problems, scores = list(benchmarks().problems), []
    for behaviour, reported in _run_harness(answers, names, manager, limit, folder).items():
        expected = {name: expected_scores(task.benchmark, examples[name, behaviour]) for name, task in tasks.items()}
        if behaviour == "right":
            for name, task in tasks.items():
                expected[name]["acc"] = 1.0
                problems += _contradictions(task, expected[name], reported[name])
        for group in {*names} - tasks.keys():
            expected[group] = unweighted_means([expected[member] for member in loaded["group_map"][group]])
        for name, values in expected.items():
            for key, value in reported[name].items():
                metric, comma, filter_name = key.partition(",")
                if comma and not metric.endswith("_stderr"):
                    scores.append(CheckedScore(name, metric, filter_name, behaviour, value, values.get(metric)))
    return SelfcheckResult(scores, problems, sum(map(len, examples.values())), time.perf_counter() - start, folder)


def _contradictions(task: MedTask, computed: ExpectedScores, reported: Mapping[str, Reported]) -> Iterator[str]:
    """Yield a line for each score of a task without a declared metric, and for each declared metric without a score."""
    known = {metric.name for metric in (*task.benchmark.metrics, *REPLY_METRICS)}
    for name in computed.keys() - known:
        yield f"{task.task_name}: scores() returns {name}, but no metric of that name is declared"
    declared = {metric.name for metric in task.benchmark.reported()}
    for name in declared - {key.partition(",")[0] for key in reported}:
        yield f"{task.task_name}: the metric {name} is declared, but scores() never returns it"


def _served(tasks: Mapping[str, MedTask], limit: int | None) -> tuple[Answers, AnsweredExamples]:
    """Return the response to every prompt, and the examples with their known answers."""
    answers: Answers = {behaviour: {} for behaviour in BEHAVIOURS}
    examples: AnsweredExamples = {}
    for name, task in tasks.items():
        task.build_all_requests(
            limit=limit,
            apply_chat_template=True,
            fewshot_as_multiturn=True,
            chat_template=lambda messages, add_generation_prompt=True: prompt_key(messages),
        )
        for behaviour, instance in itertools.product(BEHAVIOURS, task.instances):
            key = instance.args[0]
            known = known_answer(task.benchmark, behaviour, instance.doc, seed=key)
            answers[behaviour][key] = known.text
            examples.setdefault((name, behaviour), []).append((instance.doc, known))
    return answers, examples


def _run_harness(
    answers: Answers, names: list[str], manager: TaskManager, limit: int | None, folder: Path
) -> dict[str, ReportedScores]:
    """Run the harness on the tasks once for each behaviour, save the runs, and return the scores by behaviour."""
    scores = {}
    with serving(answers) as address:
        for behaviour, description in BEHAVIOURS.items():
            print(f"running: answers are {description} …", file=sys.stderr, flush=True)
            shutil.rmtree(folder / behaviour, ignore_errors=True)
            tracker = EvaluationTracker(output_path=str(folder))
            results = simple_evaluate(
                model="local-chat-completions",
                model_args={"model": behaviour, "base_url": address, "num_concurrent": 16},
                tasks=names,
                task_manager=manager,
                apply_chat_template=True,
                limit=limit,
                evaluation_tracker=tracker,
                log_samples=True,
            )
            samples = results.pop("samples")
            tracker.save_results_aggregated(results, samples)
            for task in results["configs"]:
                tracker.save_results_samples(task, samples[task])
            scores[behaviour] = results["results"]
    return scores


def unweighted_means(tasks: Sequence[ExpectedScores]) -> ExpectedScores:
    """Return the mean of each metric over a group's tasks that report it; None if it is undefined in one of them."""
    means: ExpectedScores = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(tasks)):
        values = [expected[name] for expected in tasks if name in expected]
        known = [value for value in values if value is not None]
        means[name] = statistics.mean(known) if known == values else None
    return means
