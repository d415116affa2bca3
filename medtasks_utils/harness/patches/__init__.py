"""Replace what ``replaced.csv`` lists in lm_eval; it also says what would fail without each replacement.

Importing this module replaces nothing. ``lm_eval_names.csv`` lists everything else that is used from lm_eval, and the
parameters of replaced functions.
"""

import csv
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, NamedTuple

from medtasks_utils.harness.lm_eval_names import owner_of


class Replacement(NamedTuple):
    """Something that is replaced in lm_eval.

    Attributes:
        name: the name in ``lm_eval_names.csv``; an attribute is replaced on objects, not on the class.
        scope: ``import`` (when lm_eval is imported), ``process`` (from the first task on), ``command`` (while
            ``medtasks eval`` runs) or ``run`` (on the model, while it gets requests).
        replaced_by: the module in ``harness`` and the function that replaces it or, for a name of a module in the
            scopes ``process`` and ``command``, that makes the replacement from the original.
        without_it: what would fail.
    """

    name: str
    scope: str
    replaced_by: str
    without_it: str


REPLACED = (
    Replacement(
        "datasets",
        "import",
        "deferred_imports:import_lm_eval",
        "a start takes twice as long, since datasets and pandas are imported for runs that do not need them",
    ),
    Replacement(
        "stderr_for_metric",
        "process",
        "patches.tasks:standard_errors_of_aggregations",
        "the standard errors of all our metrics are N/A: lm_eval knows only those of its own functions",
    ),
    Replacement(
        "evaluate",
        "process",
        "patches.evaluator:evaluate_with_known_model",
        "no stage of a request but the model's own, and a task does not know its model: no further turns with tools "
        "(which lm_eval declined in issue 2179), no seeds for repeats, no stored replies",
    ),
    Replacement(
        "MergeDictAction",
        "command",
        "command_line:add_flags_of_run",
        "flags that take settings have no JSON in their values; it is the class of the parser's actions that changes",
    ),
    Replacement(
        "TaskManager",
        "command",
        "patches.evaluator:manager_of_the_checks",
        "a start takes 12 to 18 s, since lm_eval reads its own 14,000 task files (its PR 4015: tasks by entry points)",
    ),
    Replacement("TaskManager.load", "command", "catalog:make_tasks", "rows are loaded and checked twice"),
    Replacement(
        "is_torch_available",
        "command",
        "patches.evaluator:torch_if_imported",
        "torch, if installed, is imported for servers too, which takes seconds before the first request (to seed it) "
        "and after the last reply (to report its version)",
    ),
    Replacement(
        "get_git_commit_hash",
        "command",
        "patches.evaluator:commit_in_repository",
        "git prints an error after every run outside a repository",
    ),
    Replacement(
        "EvaluationTracker",
        "command",
        "patches.evaluator:tracker_that_reports",
        "the short table has nothing to show, and a run that is ended while it saves leaves incomplete files",
    ),
    Replacement(
        "simple_evaluate",
        "command",
        "patches.evaluator:results_without_secrets",
        "results, samples, --show_config and --wandb_args show API keys",
    ),
    Replacement(
        "CachingLM.lm",
        "run",
        "patches.evaluator:evaluate_with_known_model",
        "with --use_cache, requests reach the model without the other stages",
    ),
    Replacement("LM.cache_hook", "run", "run_model:RunModel.receiving", "a run that crashes has stored no replies"),
    Replacement("HFLM.tok_decode", "run", "in_process:Ends.keeping_marks", "marks of reasoning are lost"),
    Replacement("HFLM._model_generate", "run", "in_process:Ends", "it is not known which replies were cut"),
    Replacement("VLLM._model_generate", "run", "in_process:Ends", "it is not known which replies were cut"),
    Replacement(
        "TemplateAPI.max_length",
        "run",
        "server_model:learn_context",
        "a prompt that is sent as tokens is cut to 2,047 tokens, whatever the context of the server",
    ),
    *(
        Replacement(
            name,
            "run",
            "models:number_processes",
            "on several machines with fewer than two GPUs each, every machine scores the same documents",
        )
        for name in ("LM._rank", "LM._world_size")
    ),
)
"""Everything that is replaced, in the order in which it happens."""


def apply(scope: Literal["process", "command"]) -> Callable[[], None]:
    """Replace names in modules of lm_eval that belong to a scope; return a function that undoes it."""
    undo = ExitStack()
    for name, replaced_by in made_from_original(scope).items():
        owner = owner_of(name)
        original = getattr(owner, name)
        setattr(owner, name, resolve_name(f"medtasks_utils.harness.{replaced_by}")(original))
        undo.callback(setattr, owner, name, original)
    return undo.close


def made_from_original(scope: str) -> dict[str, str]:
    """Return, by name, the functions that make the replacements of a scope from the originals."""
    return {
        each.name: each.replaced_by
        for each in REPLACED
        if each.scope == scope and each.replaced_by.startswith("patches.")
    }
