"""Every reach into lm_eval's insides, each with what fails without it; all were seen in 0.4.13.

Nothing happens when this module is imported: :func:`prepare_harness` is called when the first task is made. All else in
the pack uses what lm_eval documents for task authors.

:mod:`.tasks`
    What tasks need of lm_eval's insides: standard errors, samples, prompts, the index of tasks.
:mod:`.models`
    What reaches the model behind a task: which it is, its cache, and single requests to API models.
:mod:`.commands`
    What ``medtasks eval`` needs of the command line's and the evaluator's insides.
"""

from medtasks_utils.harness.patches.commands import (
    add_flags_of_run,
    git_not_asked_in_vain,
    level_of,
    results_in_hand,
    started_quickly,
)
from medtasks_utils.harness.patches.models import (
    Ask,
    asking,
    cache_key,
    cache_of,
    can_be_asked_singly,
    connections,
    is_longer,
    model_of,
    probe_of,
    remember_the_model,
    request_body,
    response_cache,
    room_for_prompts,
    take_next_batch,
    without_tokenizer,
)
from medtasks_utils.harness.patches.tasks import (
    IndexEntry,
    ScoresAndDetails,
    StderrFunction,
    index_of,
    let_aggregations_bring_their_standard_error,
    no_progress_of_prompts,
    prepare_harness,
    render,
    untested_release,
)

__all__ = [
    "Ask",
    "IndexEntry",
    "ScoresAndDetails",
    "StderrFunction",
    "add_flags_of_run",
    "asking",
    "cache_key",
    "cache_of",
    "can_be_asked_singly",
    "connections",
    "git_not_asked_in_vain",
    "index_of",
    "is_longer",
    "let_aggregations_bring_their_standard_error",
    "level_of",
    "model_of",
    "no_progress_of_prompts",
    "prepare_harness",
    "probe_of",
    "remember_the_model",
    "render",
    "request_body",
    "response_cache",
    "results_in_hand",
    "room_for_prompts",
    "started_quickly",
    "take_next_batch",
    "untested_release",
    "without_tokenizer",
]
