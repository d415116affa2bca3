"""Find the runs of one model that show the same questions with their choices in different orders."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from medtasks_utils.benchmarks.choices import ChoiceBenchmark
from medtasks_utils.compare.families import shared_filter
from medtasks_utils.compare.option_orders import order_data, order_effect
from medtasks_utils.compare.pairing import common_examples, comparability
from medtasks_utils.compare.task_pair import TaskPair
from medtasks_utils.results import Run
from medtasks_utils.writing import JsonObject


def orders_of(runs: Sequence[Run]) -> Iterator[JsonObject]:
    """Yield the effect of the order of choices, for each pair of a model's tasks that differ in nothing else.

    Each effect has the keys of :func:`.compare.option_orders.order_data`, and ``a`` and ``b``: the run and the task.
    """
    tasks = [(run, task) for run in runs for task in run.tasks.values() if isinstance(task.benchmark, ChoiceBenchmark)]
    for (run_a, a), (run_b, b) in combinations(tasks, 2):
        name = shared_filter(a, b, None)
        is_alike = run_a.model == run_b.model and a.benchmark_name == b.benchmark_name
        if not is_alike or name is None or not len(common_examples(a, b)[0]) or comparability(a, b, name).incompatible:
            continue
        if effect := order_effect(TaskPair(a, b, name)):
            yield {"a": [run_a.name, a.task], "b": [run_b.name, b.task], **order_data(effect)}
