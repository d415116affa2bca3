"""Judge explanations with an LLM, through any OpenAI-compatible endpoint.

=============  =================================================================  =================
``g-eval``     one request per case: seven steps and a score, in one JSON object  Liu et al. 2023
``factscore``  1 + n requests: one extracts n claims, n verify one claim each     Min et al. 2023
``rubric``     one request per case and model: four yes-or-no questions           Medmarks 2026
=============  =================================================================  =================

>>> settings = JudgeSettings.from_environment(model="judge", base_url="http://localhost:8000/v1")  # doctest: +SKIP
>>> check_endpoint(settings)                                                                       # doctest: +SKIP
>>> judgements = judge_all(make_judge("g-eval"), settings, cases)                                  # doctest: +SKIP

A judge takes a :class:`Case` and returns a :class:`Judgement`: a score from 0 to 100, or the kind of failure. Readable
replies are cached on disk, so a rerun repeats only failed requests. Only the settings contain the API key; it never
appears in logs, caches, errors or a ``repr``.
"""

from typing import TYPE_CHECKING, Any

from .judge import JUDGES, Case, Judge, Judgement, judge_name, make_judge
from .judge_settings import DEFAULT_MODEL, JudgeError, JudgeSettings, model_names

if TYPE_CHECKING:
    from .judge_cases import by_model, check_endpoint, judge_all

__all__ = [
    "DEFAULT_MODEL",
    "JUDGES",
    "Case",
    "Judge",
    "JudgeError",
    "JudgeSettings",
    "Judgement",
    "by_model",
    "check_endpoint",
    "judge_all",
    "judge_name",
    "make_judge",
    "model_names",
]


def __getattr__(name: str) -> Any:
    """Import the functions that send requests when they are first used, since help texts do not need them."""
    if name not in __all__:
        raise AttributeError(name)
    from . import judge_cases

    return getattr(judge_cases, name)
