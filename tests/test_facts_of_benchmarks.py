"""No package but the benchmarks' knows a benchmark by its name, or by what its rows, metrics and groups are called."""

import ast
from pathlib import Path

from given import BENCHMARKS, GENERATION_TASKS, table
from running import documents_of

import medtasks_utils
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.registered import OWN
from medtasks_utils.statistics.metrics import ACC, ANSWERED, REPEAT_METRICS, TOOL_METRICS

PACKAGE = Path(medtasks_utils.__file__).parent
NAMES = {name.removesuffix("_bench") for name in OWN}


def facts():
    """The fields of the benchmarks' examples and their own metrics."""
    found = {field for task in GENERATION_TASKS for example in documents_of(task) for field in example}
    for name in BENCHMARKS:
        benchmark = benchmarks()[name]
        found.update(metric.name for metric in benchmark.metrics)
    return found - {metric.name for metric in (ACC, ANSWERED, *REPEAT_METRICS, *TOOL_METRICS)}


def texts_and_names(tree):
    """The texts of a module but its documentation, and the names that its code uses."""
    nodes = [*ast.walk(tree)]
    documentation = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = {str(node.value) for node in nodes if isinstance(node, ast.Constant) and node not in documentation}
    names = {str(getattr(node, name, "")) for node in nodes for name in ("id", "attr", "arg", "name", "module")}
    return texts, names


def test_no_other_room_knows_a_benchmark_by_its_name_or_by_its_facts():
    """But for the words of the table, by file, each with the reason."""
    expected = {place: words for place, words, _ in table("words_of_benchmarks")}
    known = facts() - {*expected.pop("everywhere")}
    assert {"answer_letter", "unsure_rate", "judgement", "acc_unanswerable"} <= known
    found = {}
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("benchmarks/"):
            texts, names = texts_and_names(ast.parse(path.read_text()))
            named = {benchmark for benchmark in NAMES for word in texts | names if benchmark in word.lower()}
            if words := sorted(named | (texts & known)):
                found[place] = words
    assert found == expected
