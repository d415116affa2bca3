"""Judging the explanations in saved samples, without the model that wrote them: ``medtasks rescore``.

Data flows one way: sample logs (:mod:`samples`) → responses → judges (:mod:`medtasks_utils.judging`) → rows of a CSV
file (:mod:`rows`, :mod:`table`) → means (:mod:`summary`) and agreement (:mod:`comparisons`, :mod:`agreement`).
"""

from medtasks_utils.rescore.agreement import Agreement, agree
from medtasks_utils.rescore.run import Rescoring, rescore
from medtasks_utils.rescore.samples import Response, Responses, find_responses

__all__ = ["Agreement", "Rescoring", "Response", "Responses", "agree", "find_responses", "rescore"]
