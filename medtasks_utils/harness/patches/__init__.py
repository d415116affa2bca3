"""Every reach into lm_eval's insides: what is replaced stands in one table, what is only read beside its reader.

Nothing happens when this is imported. :func:`apply` replaces what every run needs when the first task is made, and what
``medtasks eval`` needs besides when that begins. All else in the pack uses what lm_eval documents for task authors.

:mod:`.tasks`
    What tasks need of lm_eval's insides: standard errors, samples, prompts.
:mod:`.run`
    What the evaluator and ``medtasks eval`` need of them.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple


class Patch(NamedTuple):
    """Something of lm_eval's that is replaced.

    Attributes:
        place: the module, and after a colon the class where it is a method.
        name: of what is replaced.
        parameters: as they were seen in 0.4.13; a test compares them with the installed release.
        replace: makes the replacement of the original, as ``module:function`` in this package. None where a method is
            replaced on the model of a run alone (:mod:`medtasks_utils.harness.models`, :class:`.KeptAnswers`).
        without: what fails without it.
        upstream: where lm_eval is asked for it.
    """

    place: str
    name: str
    parameters: str
    replace: str | None
    without: str
    upstream: str = "not asked for"


TABLE = (
    Patch(
        "lm_eval.evaluator_utils", "stderr_for_metric", "metric bootstrap_iters", "tasks:own_standard_errors",
        "standard errors of all our metrics are N/A: only the harness's own functions have one",
    ),
    Patch(
        "lm_eval.utils", "apply_template", "template doc", "tasks:templates_compiled_once",
        "prompts take several times as long, since each template is compiled for every example",
    ),
    Patch(
        "lm_eval.evaluator", "evaluate",
        "lm task_dict limit samples cache_requests rewrite_requests_cache bootstrap_iters write_out log_samples "
        "system_instruction apply_chat_template fewshot_as_multiturn verbosity confirm_run_unsafe_code",
        "run:evaluate_with_the_model_known",
        "a task does not know its model: no further turns with tools, no seeds for repeats, no answers kept",
        "issue 2179 (tasks of several turns: declined)",
    ),
    Patch(
        "lm_eval.models.api_models:TemplateAPI", "generate_until", "self requests disable_tqdm", None,
        "a conversation waits for the slowest of all, and one prompt that does not fit ends the run",
    ),
    Patch(
        "lm_eval.api.model:LM", "set_cache_hook", "self cache_hook", None, "a run that dies has kept no answer",
    ),
    Patch(
        "lm_eval.models.huggingface:HFLM", "rank", "self", None,
        "on several machines with fewer than two GPUs each, every machine scores the same documents",
    ),
)  # fmt: skip
"""What every run needs."""

OF_THE_COMMAND = (
    Patch(
        "lm_eval.tasks", "TaskManager", "verbosity include_path include_defaults metadata", "run:manager_at_hand",
        "a start takes 12 to 18 s, since the harness's 16,000 task files are read",
        "PR 4015 (tasks by entry points)",
    ),
    Patch(
        "lm_eval.utils", "is_torch_available", "", "run:torch_if_used",
        "torch, where it is installed, is imported for servers too: seconds before the first request, to seed it, and "
        "after the last reply, to describe it; with this, a run that uses none says that none is installed",
    ),
    Patch(
        "lm_eval.loggers", "EvaluationTracker",
        "output_path hub_results_org hub_repo_name details_repo_name results_repo_name push_results_to_hub "
        "push_samples_to_hub public_repo token leaderboard_url point_of_contact gated",
        "run:results_in_hand",
        "keys stand in the results, and the short table has nothing to show",
    ),
)  # fmt: skip
"""What ``medtasks eval`` needs besides."""


def original(patch: Patch) -> Any:
    """What is replaced, or would be."""
    module, _, kind = patch.place.partition(":")
    found = import_module(module)
    return getattr(getattr(found, kind) if kind else found, patch.name)


def apply(patches: Iterable[Patch]) -> Callable[[], None]:
    """Replace what the patches name; returns what puts it back."""
    before = []
    for patch in patches:
        if patch.replace is None:
            continue
        module, _, function = patch.replace.partition(":")
        make = getattr(import_module(f"{__name__}.{module}"), function)
        place, theirs = import_module(patch.place), original(patch)
        setattr(place, patch.name, make(theirs))
        before.append((place, patch.name, theirs))

    def put_back() -> None:
        for place, name, theirs in reversed(before):
            setattr(place, name, theirs)

    return put_back
