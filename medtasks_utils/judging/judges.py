"""The judges by name."""

from __future__ import annotations

from medtasks_utils.judging.factscore import FActScore
from medtasks_utils.judging.geval import GEval
from medtasks_utils.judging.judge import Judge
from medtasks_utils.judging.settings import JudgeError

JUDGES = ("g-eval", "factscore")


def make_judge(name: str, *, use_coverage: bool = False) -> Judge:
    """The judge of this name; ``geval`` is understood too.

    Args:
        name: one of :data:`JUDGES`.
        use_coverage: for FActScore: verify the references' claims against the explanation as well.

    Raises:
        JudgeError: for another name.
    """
    if name in ("g-eval", "geval"):
        return GEval()
    if name == "factscore":
        return FActScore(use_coverage=use_coverage)
    raise JudgeError(f"there is no judge {name!r}; there are {', '.join(JUDGES)}")
