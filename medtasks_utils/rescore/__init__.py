"""Judging the explanations in saved samples, without the model that wrote them: ``medtasks rescore``.

Sample logs (:mod:`samples`) → responses → judges (:mod:`medtasks_utils.judging`) → a CSV file a judge (:mod:`run`).
"""

from medtasks_utils.rescore.run import STATUSES, Rescoring, rescore
from medtasks_utils.rescore.samples import Response, Responses, find_responses

__all__ = ["STATUSES", "Rescoring", "Response", "Responses", "find_responses", "rescore"]
