"""Judge the explanations in saved samples, without running the evaluated model: ``medtasks rescore``.

Sample logs (:mod:`judged_responses`) → responses → judges (:mod:`medtasks_utils.judging`) → one CSV file per judge
(:mod:`judge_files`).
"""

from .judge_files import rescore
from .judged_responses import find_responses

__all__ = ["find_responses", "rescore"]
