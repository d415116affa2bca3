"""Run the harness against the local server, and compare every score with its expected value."""

import itertools
import json
import logging
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, Example
from medtasks_utils.errors import did_you_mean
from medtasks_utils.writing import counted

from .answer_server import Answers, prompt_key, serving
from .known_answers import BEHAVIOURS, ExpectedScores, KnownAnswer, expected_scores, known_answer, metric_problems
from .selfcheck_result import CheckedScore, SelfcheckResult

AnsweredExamples = dict[tuple[str, str], list[tuple[Example, KnownAnswer]]]
"""The examples with their answers, by task and behaviour."""


def run(data: str, limit: int | None, folder: Path, log: Callable[[str], object]) -> SelfcheckResult:
    """Run all checked tasks once for each behaviour of the local server, and compare the scores with the expected ones.

    Args:
        data: the source of the rows, as in ``medtasks eval --data``.
        limit: the number of examples of each task to use; None for all.
        folder: the folder of the runs, one for each behaviour; runs of an earlier check are replaced.
        log: a function that is called with lines about the progress.
    """
    start = time.perf_counter()
    log("building the tasks …")
    from medtasks_utils.harness.catalog import our_manager
    from medtasks_utils.harness.task_options import DATA_KEY

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    usable = benchmarks().usable()
    without_costly = {benchmark.name: benchmark.options.without_costly() for benchmark in usable}
    manager = our_manager({DATA_KEY: data, **without_costly})
    problems = [*benchmarks().problems, *_unknown_tasks(usable, manager.all_tasks)]
    names = [name for benchmark in usable for name in benchmark.checked_tasks if name in manager.all_tasks]
    loaded = manager.load(names)
    tasks = loaded["tasks"]
    answers, examples = _served(tasks, limit)
    results = _run_harness(answers, names, manager, limit, folder, log)
    scores: list[CheckedScore] = []
    for behaviour, reported in results.items():
        expected: dict[str, ExpectedScores] = {}
        for name, task in tasks.items():
            expected[name] = expected_scores(task.benchmark, task.options, examples[name, behaviour])
            if behaviour == "right":
                expected[name]["acc"] = 1.0
                metrics = task.benchmark.metrics_of(task.info, task.options)
                problems += metric_problems(name, task.benchmark, metrics, expected[name], reported[name])
        for group in [name for name in names if name not in tasks]:
            expected[group] = _unweighted_means([expected[member] for member in loaded["group_map"][group]])
        for name, expected_values in expected.items():
            for key, value in reported[name].items():
                metric, comma, filter_name = key.partition(",")
                if comma and not metric.endswith("_stderr"):
                    score = CheckedScore(name, metric, filter_name, behaviour, value, expected_values.get(metric))
                    scores.append(score)
    problems = list(dict.fromkeys(problems))
    return SelfcheckResult(scores, problems, sum(map(len, examples.values())), time.perf_counter() - start, folder)


def _unknown_tasks(usable: Iterable[Benchmark], known: Sequence[str]) -> Iterator[str]:
    """Yield a line for each task that a benchmark names but no YAML defines."""
    for benchmark in usable:
        for name in dict.fromkeys((benchmark.default_task, *benchmark.checked_tasks)):
            if name not in known:
                yield f"benchmark {benchmark.name}: no YAML defines its task {name}{did_you_mean(name, known)}"


def _served(tasks: Mapping[str, Any], limit: int | None) -> tuple[Answers, AnsweredExamples]:
    """Return the response to every prompt, and the examples with their known answers."""
    answers: Answers = {behaviour: {} for behaviour in BEHAVIOURS}
    examples: AnsweredExamples = {}
    for name, task in tasks.items():
        task.build_all_requests(
            limit=limit,
            apply_chat_template=True,
            fewshot_as_multiturn=True,
            chat_template=lambda messages, add_generation_prompt=True: json.dumps(messages),
        )
        for behaviour, instance in itertools.product(BEHAVIOURS, task.instances):
            key = prompt_key(json.loads(instance.args[0]))
            known = known_answer(task.benchmark, behaviour, instance.doc, seed=key)
            answers[behaviour][key] = known.text
            examples.setdefault((name, behaviour), []).append((instance.doc, known))
    return answers, examples


def _run_harness(
    answers: Answers, names: list[str], manager: Any, limit: int | None, folder: Path, log: Callable[[str], object]
) -> dict[str, Any]:
    """Run the harness on the tasks, once for each behaviour, and return the reported scores by behaviour."""
    from medtasks_utils.harness.lm_eval_names import EvaluationTracker, simple_evaluate

    scores = {}
    with serving(answers) as address:
        for number, (behaviour, description) in enumerate(BEHAVIOURS.items(), 1):
            prompts = counted(len(answers[behaviour]), "prompt")
            log(f"run {number} of {len(BEHAVIOURS)}: {prompts}, answers are {description} …")
            shutil.rmtree(folder / behaviour, ignore_errors=True)
            tracker = EvaluationTracker(output_path=str(folder))
            results = simple_evaluate(
                model="local-chat-completions",
                model_args={"model": behaviour, "base_url": address, "num_concurrent": 16, "max_retries": 1},
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
    """Return the mean of each metric over a group's tasks that report it; None if one of them has no value."""
    means: ExpectedScores = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(tasks)):
        values = [expected[name] for expected in tasks if name in expected]
        known = [value for value in values if value is not None]
        means[name] = statistics.mean(known) if len(known) == len(values) else None
    return means
