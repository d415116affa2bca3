"""List everything that is replaced in lm_eval, and what would fail without it.

Importing this module replaces nothing. The replacements in :data:`IN_EVERY_RUN` are made when the first task is
created, those in :data:`IN_THE_COMMAND` while ``medtasks eval`` runs. ``lm_eval_names.csv`` lists everything else that
is used from lm_eval, and the parameters of the replaced functions.

:mod:`.tasks`
    Replacements that tasks need: standard errors, samples, prompts.
:mod:`.evaluator`
    Replacements that the evaluator and ``medtasks eval`` need.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pkgutil import resolve_name

from medtasks_utils.harness.lm_eval_names import owner_of

IN_EVERY_RUN = {
    # The standard errors of all our metrics are N/A: lm_eval knows only those of its own functions.
    "stderr_for_metric": "tasks:standard_errors_of_aggregations",
    # Prompts take several times as long, since each template is compiled for every example.
    "apply_template": "tasks:templates_compiled_once",
    # A task does not know its model: no further turns with tools (which lm_eval declined in issue 2179), no seeds for
    # repeats, no stored replies.
    "evaluate": "evaluator:evaluate_with_known_model",
}
"""Replacements that stay for the rest of the process: names of lm_eval, each with the module and function here
that create the replacement from the original. The comments say what would fail without it."""

# The following are replaced too, but only on the model of a run (:mod:`.models`, :class:`.ReplyStore`).
# TemplateAPI.generate_until: every conversation waits for the slowest one; one prompt that is too long ends the run.
# TemplateLM.loglikelihood: a prompt that exceeds the context is cut at the beginning.
# CacheHook.add_partial: a run that crashes has stored no replies.
# HFLM.rank: on several machines with fewer than two GPUs each, every machine scores the same documents.

IN_THE_COMMAND = {
    # A start takes 12 to 18 s, since lm_eval reads its own 16,000 task files (its PR 4015: tasks by entry points).
    "TaskManager": "evaluator:manager_of_the_checks",
    # Torch, if installed, is imported for servers too, which takes seconds before the first request (to seed it) and
    # after the last reply (to report its version).
    "is_torch_available": "evaluator:torch_if_imported",
    # The results contain API keys, and the short table has nothing to show.
    "EvaluationTracker": "evaluator:tracker_that_reports",
}
"""Replacements that are undone when ``medtasks eval`` ends."""


def apply(replacements: Mapping[str, str]) -> Callable[[], None]:
    """Make the replacements, and return a function that undoes them."""
    undo = ExitStack()
    for name, replacement in replacements.items():
        owner = owner_of(name)
        original = getattr(owner, name)
        setattr(owner, name, resolve_name(f"{__name__}.{replacement}")(original))
        undo.callback(setattr, owner, name, original)
    return undo.close
