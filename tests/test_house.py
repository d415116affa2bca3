"""What importing the package does: nothing; and scoring from Python imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.strip()


def test_benchmarks_and_scores_import_nothing_heavy() -> None:
    heavy = "('lm_eval', 'datasets', 'torch', 'pandas', 'scipy', 'transformers', 'numpy')"
    code = f"""
import sys
from medtasks_utils import Scorer, reward, score
from medtasks_utils.benchmarks import benchmarks
print(*benchmarks(), [name for name in {heavy} if name in sys.modules])
"""
    assert python(code) == "medcalc_bench medexqa medhallu medmcqa []"


def test_importing_changes_nothing() -> None:
    code = """
import importlib, pkgutil, sys
from lm_eval import evaluator_utils
before = sys.excepthook, evaluator_utils.stderr_for_metric
import medtasks_utils
for module in pkgutil.walk_packages(medtasks_utils.__path__, "medtasks_utils."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print((sys.excepthook, evaluator_utils.stderr_for_metric) == before)
"""
    assert python(code) == "True"
