"""Four medical benchmarks for EleutherAI's lm-evaluation-harness.

>>> from medtasks_utils import load_runs, score                                              # doctest: +SKIP
>>> score("medcalc_bench", row, response)["strict-match"].answer                             # doctest: +SKIP
>>> runs, samples = load_runs("results").to_pandas()                                         # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medtasks_utils.results.frames import load_runs
    from medtasks_utils.scoring import Scorer, reward, score

__all__ = ["Scorer", "load_runs", "reward", "score"]

_PLACES = {
    "load_runs": "medtasks_utils.results.frames",
    **dict.fromkeys(("Scorer", "reward", "score"), "medtasks_utils.scoring"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package stays fast."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)
