"""LLM judges of explanations, over any OpenAI-compatible endpoint.

=============  ==============================================================  ========================
``g-eval``     seven steps and a score in one JSON object, one call            Liu et al. 2023
``factscore``  atomic claims, each verified by a call of its own               Min et al. 2023
=============  ==============================================================  ========================

>>> settings = JudgeSettings.from_environment(model="judge", base_url="http://localhost:8000/v1")  # doctest: +SKIP
>>> check(settings)                                                                                # doctest: +SKIP
>>> judgements = judge_all(make_judge("g-eval"), settings, cases)                                  # doctest: +SKIP

A :class:`Case` is what a judge sees; a :class:`Judgement` is its score (0–100) or the kind of its failure. Answered
calls are kept in a cache on disk, so that no run repeats one. The key is in the settings alone: it reaches no log,
cache, error or ``repr``.
"""

from .judge import JUDGES, Case, Judge, Judgement, Tokens, judge_name, make_judge
from .run import check, judge_all, summary
from .settings import DEFAULT_MODEL, JudgeError, JudgeSettings

__all__ = [
    "DEFAULT_MODEL",
    "JUDGES",
    "Case",
    "Judge",
    "JudgeError",
    "JudgeSettings",
    "Judgement",
    "Tokens",
    "check",
    "judge_all",
    "judge_name",
    "make_judge",
    "summary",
]
