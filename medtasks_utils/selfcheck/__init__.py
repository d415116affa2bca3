"""``medtasks selfcheck``: the real harness against a local server whose answers, and so whose scores, are known.

:mod:`.answers` says what is served and expected, :mod:`.server` serves, :mod:`.check` runs and compares, :mod:`.output`
tells.
"""

from medtasks_utils.selfcheck.check import Checked, Score, run
from medtasks_utils.selfcheck.server import prompt_key, serving

__all__ = ["Checked", "Score", "prompt_key", "run", "serving"]
