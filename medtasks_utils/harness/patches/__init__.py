"""List everything that is replaced in lm_eval, and what would fail without it.

Importing this package replaces nothing. :func:`apply` replaces :data:`IN_EVERY_RUN` when the first task is created, and
:data:`IN_THE_COMMAND` while ``medtasks eval`` runs. :mod:`medtasks_utils.harness.lm_eval_names` lists everything else
that this package uses of lm_eval.

:mod:`.tasks`
    Replacements that tasks need: standard errors, samples, prompts, included files.
:mod:`.evaluator`
    Replacements that the evaluator and ``medtasks eval`` need.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from medtasks_utils.harness.lm_eval_names import owner_of


class Patch(NamedTuple):
    """A function, class or method of lm_eval that is replaced.

    Attributes:
        name: its name in :data:`.lm_eval_names.NAMES`.
        parameters: its parameters in 0.4.13; a test compares them with the installed release.
        replace: the function that creates the replacement from the original, as ``module:function`` in this package;
            None for a method that is replaced only on the model of a run (:mod:`.models`, :class:`.AnswerStore`).
        without: what fails without the replacement.
        upstream: the issue or pull request in which lm_eval was asked for it.
    """

    name: str
    parameters: str
    replace: str | None
    without: str
    upstream: str = "not asked for"


IN_EVERY_RUN = (
    Patch(
        "stderr_for_metric", "metric bootstrap_iters", "tasks:standard_errors_of_aggregations",
        "the standard errors of all our metrics are N/A: lm_eval knows only those of its own functions",
    ),
    Patch(
        "apply_template", "template doc", "tasks:templates_compiled_once",
        "prompts take several times as long, since each template is compiled for every example",
    ),
    Patch(
        "load_yaml", "path resolve_func recursive _seen", "tasks:files_included_twice",
        "a variant that includes two of our tasks is skipped as an include cycle, since both include the filters",
    ),
    Patch(
        "evaluate",
        "lm task_dict limit samples cache_requests rewrite_requests_cache bootstrap_iters write_out log_samples "
        "system_instruction apply_chat_template fewshot_as_multiturn verbosity confirm_run_unsafe_code",
        "evaluator:evaluate_with_known_model",
        "a task does not know its model: no further turns with tools, no seeds for repeats, no stored answers",
        "issue 2179 (tasks of several turns: declined)",
    ),
    Patch(
        "TemplateAPI.generate_until", "self requests disable_tqdm", None,
        "every conversation waits for the slowest one, and one prompt that is too long ends the run",
    ),
    Patch(
        "TemplateLM.loglikelihood", "self requests disable_tqdm", None,
        "of a prompt that does not fit into the context, the beginning is left out",
    ),
    Patch(
        "LM.set_cache_hook", "self cache_hook", None, "a run that crashes has stored no answer",
    ),
    Patch(
        "HFLM.rank", "self", None,
        "on several machines with fewer than two GPUs each, every machine scores the same documents",
    ),
)  # fmt: skip
"""Replacements that stay for the rest of the process."""

IN_THE_COMMAND = (
    Patch(
        "TaskManager", "verbosity include_path include_defaults metadata", "evaluator:manager_of_the_checks",
        "a start takes 12 to 18 s, since lm_eval reads its own 16,000 task files",
        "PR 4015 (tasks by entry points)",
    ),
    Patch(
        "is_torch_available", "", "evaluator:torch_if_imported",
        "torch, if installed, is imported for servers too, which takes seconds before the first request (to seed it) "
        "and after the last reply (to report its version)",
    ),
    Patch(
        "EvaluationTracker",
        "output_path hub_results_org hub_repo_name details_repo_name results_repo_name push_results_to_hub "
        "push_samples_to_hub public_repo token leaderboard_url point_of_contact gated",
        "evaluator:tracker_that_reports",
        "the results contain API keys, and the short table has nothing to show",
    ),
)  # fmt: skip
"""Replacements that are undone when ``medtasks eval`` ends."""


def original(patch: Patch) -> Any:
    """Return the object that lm_eval currently has under the patch's name: the original, or its replacement."""
    return getattr(owner_of(patch.name), patch.name.rpartition(".")[2])


def apply(patches: Iterable[Patch]) -> Callable[[], None]:
    """Make the replacements, and return a function that undoes them."""
    originals: list[tuple[Any, str, Any]] = []
    for patch in patches:
        if patch.replace is None:
            continue
        module, _, function = patch.replace.partition(":")
        make_replacement = getattr(import_module(f"{__name__}.{module}"), function)
        owner, replaced = owner_of(patch.name), original(patch)
        setattr(owner, patch.name, make_replacement(replaced))
        originals.append((owner, patch.name, replaced))

    def undo() -> None:
        for owner, name, replaced in reversed(originals):
            setattr(owner, name, replaced)

    return undo
