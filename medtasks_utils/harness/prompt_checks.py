"""Check ``--samples``, that no prompt is empty, and that replies leave room for prompts, before the model runs."""

from typing import Any

from medtasks_utils.errors import DataError, UsageError, logger

from .models import may_reason, runs_in_process
from .reasoning import opened_by
from .settings import check_reply_room, warn_of_cut_reasoning


def check_samples(task: Any, samples: Any) -> None:
    """Check the indices of the examples to evaluate; lm_eval would evaluate all examples for an empty list.

    Raises:
        UsageError: for anything other than a list of distinct indices of examples.
    """
    known = range(len(task.eval_docs))
    is_list = isinstance(samples, list | tuple) and samples and all(type(number) is int for number in samples)
    if not is_list or not set(samples) <= set(known) or len(set(samples)) < len(samples):
        name, last = task.task_name, known[-1]
        raise UsageError(f"--samples: {name} takes a list of distinct indices from 0 to {last}, not {samples!r}")


def check_prompts(task: Any) -> None:
    """Check that no prompt is empty and that replies leave room for prompts.

    Room for prompts is checked only for models in this process, which also cause warnings about an unused chat template
    and about reasoning that may be cut. If the prompt of a log-likelihood task opens reasoning, a remark says so.

    Raises:
        DataError: for an empty prompt.
        UsageError: for a maximum length of replies that leaves no room for a prompt.
    """
    name = task.task_name
    for instance in task.instances:
        text = str(getattr(instance.args[0], "prompt", instance.args[0]))
        if not text.strip() or text.endswith('"content": ""}]'):
            raise DataError(f"{name}: the prompt of example {instance.doc_id} is empty; check doc_to_text")
    if not task.generates and opened_by(text):
        task.remark("the chat template opens the reasoning, so the letters are scored inside the reasoning")
    model = task.model
    if model is None or not runs_in_process(model) or not task.generates:
        return
    template = str(getattr(model.tokenizer, "chat_template", None) or "")
    if template and not task.has_chat_template:
        logger.warning("%s: the model's chat template is not used; add --apply_chat_template to use it", name)
    length = task.config.generation_kwargs.get("max_gen_toks")
    if isinstance(length, int):
        check_reply_room([(name, length)], model.max_length)
        if task.has_chat_template and may_reason(model, template):
            warn_of_cut_reasoning([(name, length)])
