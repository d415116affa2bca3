"""Judging the explanations in saved samples, without the model that wrote them: ``medtasks rescore``.

Sample logs (:mod:`samples`) → responses → judges (:mod:`medtasks_utils.judging`) → a CSV file a judge (:mod:`run`).
"""

from .run import rescore
from .samples import find_responses

__all__ = ["find_responses", "rescore"]
