"""Run the harness against the local server, and compare every score with its expected value."""

import itertools
import logging
import shutil
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.facts import Example
from medtasks_utils.statistics.metrics import REPLY_METRICS

from .answer_server import Answers, prompt_key, serving
from .known_answers import BEHAVIOURS, ExpectedScores, KnownAnswer, expected_scores, known_answer
from .selfcheck_result import CheckedScore, SelfcheckResult

AnsweredExamples = dict[tuple[str, str], list[tuple[Example, KnownAnswer]]]
"""The examples with their answers, by task and behaviour."""


def run(data: str, limit: int | None, folder: Path) -> SelfcheckResult:
    """Run all checked tasks once for each behaviour of the local server, and compare the scores with the expected ones.

    Args:
        data: the source of the rows, as in ``medtasks eval --data``.
        limit: the number of examples of each task to use; None for all.
        folder: the folder of the runs, one for each behaviour; runs of an earlier check are deleted.
    """
    start = time.perf_counter()
    from medtasks_utils.harness.catalog import manager_for
    from medtasks_utils.harness.task_options import DATA_KEY

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    usable = benchmarks().usable()
    without_costly = {benchmark.name: benchmark.options_class.without_costly() for benchmark in usable}
    manager = manager_for(metadata={DATA_KEY: data, **without_costly})
    problems = list(benchmarks().problems)
    names = list(itertools.chain.from_iterable(benchmark.tasks.checked for benchmark in usable))
    loaded = manager.load(names)
    tasks = loaded["tasks"]
    answers, examples = _served(tasks, limit)
    results = _run_harness(answers, names, manager, limit, folder)
    scores = []
    for behaviour, reported in results.items():
        expected = {name: expected_scores(task.benchmark, examples[name, behaviour]) for name, task in tasks.items()}
        if behaviour == "right":
            for name, task in tasks.items():
                expected[name]["acc"] = 1.0
                problems += _contradictions(task, expected[name], reported[name])
        for group in {*names} - tasks.keys():
            expected[group] = _unweighted_means([expected[member] for member in loaded["group_map"][group]])
        for name, values in expected.items():
            for key, value in reported[name].items():
                metric, comma, filter_name = key.partition(",")
                if comma and not metric.endswith("_stderr"):
                    scores.append(CheckedScore(name, metric, filter_name, behaviour, value, values.get(metric)))
    return SelfcheckResult(scores, problems, sum(map(len, examples.values())), time.perf_counter() - start, folder)


def _contradictions(task: Any, computed: ExpectedScores, reported: Mapping[str, Any]) -> list[str]:
    """Return a line for each score of a task that is not declared, and for each declared metric without a score."""
    benchmark, task_name = task.benchmark, task.info.name
    known = {metric.name for metric in (*benchmark.metrics, *REPLY_METRICS)}
    declared = {metric.name for metric in benchmark.reported()}
    lacking = declared - {key.partition(",")[0] for key in reported}
    return [
        *(
            f"{task_name}: scores() returns {name}, but no metric of that name is declared"
            for name in {*computed} - known
        ),
        *(f"{task_name}: the metric {name} is declared, but scores() never returns it" for name in lacking),
    ]


def _served(tasks: Mapping[str, Any], limit: int | None) -> tuple[Answers, AnsweredExamples]:
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


def _run_harness(answers: Answers, names: list[str], manager: Any, limit: int | None, folder: Path) -> dict[str, Any]:
    """Run the harness on the tasks, once for each behaviour, and return the reported scores by behaviour."""
    from medtasks_utils.harness.lm_eval_names import EvaluationTracker, simple_evaluate

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


def _unweighted_means(tasks: Sequence[ExpectedScores]) -> ExpectedScores:
    """Return the mean of each metric over the tasks of a group that report it; None if one of these has no value."""
    means: ExpectedScores = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(tasks)):
        values = [expected[name] for expected in tasks if name in expected]
        known = [value for value in values if value is not None]
        means[name] = statistics.mean(known) if known == values else None
    return means
