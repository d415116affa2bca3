"""The judges by name."""

from __future__ import annotations

from inspect import signature

from medtasks_utils.judging.judge import Judge
from medtasks_utils.judging.settings import JudgeError
from medtasks_utils.registry import Registry

JUDGES = Registry(
    "medtasks.judges",
    {
        "g-eval": "medtasks_utils.judging.geval:GEval",
        "factscore": "medtasks_utils.judging.factscore:FActScore",
    },
)
"""By name: classes of :class:`.Judge`."""


def judge_name(text: str) -> str:
    """The name of the judge that is meant: ``geval`` and ``G-Eval`` are ``g-eval``.

    Raises:
        JudgeError: for a judge that there is not.
    """
    plain = {_plain(name): name for name in JUDGES}
    if _plain(text) not in plain:
        raise JudgeError(f"there is no judge {text!r}; there are {', '.join(JUDGES)}")
    return plain[_plain(text)]


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def make_judge(name: str, *, use_coverage: bool = False) -> Judge:
    """The judge of this name, as :func:`judge_name` takes it; with ``use_coverage`` it verifies, if it can,
    the references' claims too.

    Raises:
        JudgeError: for a judge that there is not.
    """
    kind = JUDGES[judge_name(name)]
    settings = {"use_coverage": use_coverage} if "use_coverage" in signature(kind).parameters else {}
    judge: Judge = kind(**settings)
    return judge
