"""The runs against the server, and each of their scores beside what it must be."""

import itertools
import json
import logging
import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.base import Benchmark, Example
from medtasks_utils.errors import did_you_mean

from .answers import BEHAVIOURS, Reply, expected, never_given, reply_of, undeclared
from .server import Answers, prompt_key, serving

Examples = dict[tuple[str, str], list[tuple[Example, Reply]]]
"""By task and behaviour."""

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Score:
    """One score of one run: a number, or ``N/A`` for a category without examples, and what it must be.

    ``expected`` is None where there must be no such score.
    """

    task: str
    metric: str
    filter_name: str
    behaviour: str
    value: Any
    expected: float | None

    @property
    def is_as_expected(self) -> bool:
        """Whether the value is what it must be."""
        if self.value == "N/A" or self.expected is None:
            return self.value == "N/A" and self.expected is None
        return bool(abs(self.value - self.expected) <= _TOLERANCE)


@dataclass(frozen=True)
class Checked:
    """What was found; ``answers`` is how many were served.

    Attributes:
        problems: what benchmarks lack or contradict, in a line each.
    """

    scores: list[Score]
    problems: list[str]
    answers: int
    seconds: float

    @property
    def missed(self) -> list[Score]:
        """The scores that are not as expected."""
        return [score for score in self.scores if not score.is_as_expected]


def run(data: str, limit: int | None, folder: Path, tell: Callable[[str], object]) -> Checked:
    """Check all behaviours on all tasks.

    ``folder`` keeps the runs, one for each behaviour, in place of those of an earlier check; ``tell`` takes lines on
    how far it is.
    """
    start = time.perf_counter()
    tell("building the tasks …")
    from medtasks_utils.harness.catalog import our_manager
    from medtasks_utils.harness.task_options import DATA_KEY

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    usable = benchmarks().usable()
    manager = our_manager({DATA_KEY: data, **{each.name: each.options.without_costly() for each in usable}})
    problems = [*benchmarks().problems, *_unknown_tasks(usable, manager.all_tasks)]
    names = [name for benchmark in usable for name in benchmark.checked_tasks if name in manager.all_tasks]
    loaded = manager.load(names)
    tasks = loaded["tasks"]
    answers, examples = _served(tasks, limit)
    results = _results(answers, names, manager, limit, folder, tell)
    for name, task in tasks.items():
        reported = {key.partition(",")[0] for key in results["right"][name]}
        problems += undeclared(task.benchmark, task.options, examples[name, "right"], name)
        problems += never_given(task.benchmark.metrics_of(task.info, task.options), reported, name)
    scores: list[Score] = []
    for behaviour, found in results.items():
        values = {
            name: expected(task.benchmark, task.options, examples[name, behaviour])
            | ({"acc": 1.0} if behaviour == "right" else {})
            for name, task in tasks.items()
        }
        for group in [name for name in names if name not in tasks]:
            values[group] = _unweighted([values[member] for member in loaded["group_map"][group]])
        for name, own in values.items():
            for key, value in found[name].items():
                metric, is_score, filter_name = key.partition(",")
                if is_score and not metric.endswith("_stderr"):
                    scores.append(Score(name, metric, filter_name, behaviour, value, own.get(metric)))
    return Checked(scores, list(dict.fromkeys(problems)), sum(map(len, examples.values())), time.perf_counter() - start)


def _unknown_tasks(usable: Iterable[Benchmark], known: Sequence[str]) -> Iterator[str]:
    """Yield a line for each task that a benchmark names and no YAML defines."""
    for benchmark in usable:
        for name in dict.fromkeys((benchmark.default_task, *benchmark.checked_tasks)):
            if name not in known:
                yield f"benchmark {benchmark.name}: no YAML defines its task {name}{did_you_mean(name, known)}"


def _served(tasks: Mapping[str, Any], limit: int | None) -> tuple[Answers, Examples]:
    """The answer to every prompt, and the documents with their answers, by behaviour."""
    answers: Answers = {behaviour: {} for behaviour in BEHAVIOURS}
    examples: Examples = {}
    for name, task in tasks.items():
        task.build_all_requests(
            limit=limit,
            apply_chat_template=True,
            fewshot_as_multiturn=True,
            chat_template=lambda messages, add_generation_prompt=True: json.dumps(messages),
        )
        for behaviour, instance in itertools.product(BEHAVIOURS, task.instances):
            key = prompt_key(json.loads(instance.args[0]))
            served = reply_of(task.benchmark, behaviour, instance.doc, seed=key)
            answers[behaviour][key] = served.text
            examples.setdefault((name, behaviour), []).append((instance.doc, served))
    return answers, examples


def _results(
    answers: Answers, names: list[str], manager: Any, limit: int | None, folder: Path, tell: Callable[[str], object]
) -> dict[str, Any]:
    """What the harness makes of each behaviour."""
    from medtasks_utils.harness.lm_eval_names import EvaluationTracker, simple_evaluate

    found = {}
    with serving(answers) as address:
        for number, (behaviour, meaning) in enumerate(BEHAVIOURS.items(), 1):
            tell(f"{number} of {len(BEHAVIOURS)}: answering {len(answers[behaviour])} prompts with {meaning} …")
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
            found[behaviour] = results["results"]
    return found


def _unweighted(tasks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The means of a group's tasks, of each metric over those that have it."""
    names = dict.fromkeys(itertools.chain.from_iterable(tasks))
    return {name: statistics.mean(own[name] for own in tasks if name in own) for name in names}
