"""The package as it is imported: nothing heavy is loaded, nothing is changed, and the examples in docstrings hold."""

import doctest
import importlib
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from given import ROOT

import medtasks_utils
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import tasks_path

PACKAGE = Path(medtasks_utils.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if "    >>> " in path.read_text()
]
PROGRAM = """
import sys
from importlib.metadata import entry_points
import medtasks_utils
from medtasks_utils import Scorer, reward, score
from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.yaml_tasks import tasks_path
heavy = {"lm_eval", "datasets", "torch", "pandas", "scipy", "transformers", "numpy"}
import medtasks_utils.__main__
print(*benchmarks(), *heavy & {*sys.modules})
for words in (["--help"], ["eval", "--help"], ["requests", "--help"]):
    try:
        medtasks_utils.__main__.main(words)
    except SystemExit:
        pass
    print(*{*heavy, "lm_eval.api", "lm_eval.utils"} - {"lm_eval"} & {*sys.modules}, file=sys.stderr)
from medtasks_utils.benchmarks.medexqa.metrics import make_metric
metric = make_metric("bleu")
metric.prepare()
metric.score(["a b"], [["a b"]])
print(*{"torch", "transformers", "nltk", "rouge_score", "bert_score"} & {*sys.modules})
from medtasks_utils.harness.deferred_imports import DEFERRED
from medtasks_utils.harness.lm_eval_names import ConfigurableTask
print(*{*DEFERRED} & {*sys.modules})
from lm_eval.api import task
print(task.datasets.Dataset.__module__)
import importlib, pkgutil
from lm_eval import evaluator_utils
before = sys.excepthook, evaluator_utils.stderr_for_metric
for module in pkgutil.walk_packages(medtasks_utils.__path__, "medtasks_utils."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print((sys.excepthook, evaluator_utils.stderr_for_metric) == before)
"""


def test_importing_loads_nothing_heavy_and_changes_nothing():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0 and not done.stderr.strip(), "help loads nothing heavy"
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [lines[0], *lines[-4:]] == [[*benchmarks()], [], [], ["datasets.arrow_dataset"], ["True"]]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_in_docstrings_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed


def test_the_harness_can_find_the_tasks_as_a_package():
    """Its coming discovery takes the folder of what an entry point names; a checkout must have it as a wheel does."""
    (entry,) = entry_points(group="lm_eval.tasks", name="medtasks")
    folders = {Path(place).resolve() for place in entry.load().__path__}
    assert folders == {tasks_path()}
