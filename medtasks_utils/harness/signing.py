"""Sign the results of a task: collect everything that they depend on (:mod:`.signature`) before the model runs."""

from collections.abc import Iterator, Sequence
from typing import Any

from medtasks_utils.benchmarks.facts import KNOWN_ISSUES, Example
from medtasks_utils.benchmarks.shortcuts import content_hash
from medtasks_utils.writing import Settings, digest

from .fields import filters_as_signed
from .signature import NO_VALUE, digest_of_lines, generation_as_signed, options_as_signed, signature
from .sources import HUB


def sign(task: Any, settings: Settings) -> None:
    """Add a signature for each filter to a task's metadata; signatures are equal in every process.

    Signatures of scorers of explanations are also added, if there are any, and a hash of the content fields, if the
    benchmark names any.

    Args:
        task: a :class:`.task.MedTask`.
        settings: the arguments of its ``build_all_requests``.
    """
    documents = [doc for _, doc in task.doc_iterator(samples=settings.get("samples"))]
    left_out = {KNOWN_ISSUES, *task.benchmark.data.unsigned}
    rows = []
    for doc in documents:
        rows.append({name: value for name, value in doc.items() if name not in left_out})
    if task.benchmark.data.content:
        task.config.metadata["content"] = content_hash(rows, task.benchmark.data.content)
    scorers = task.scorer.signatures if task.scorer is not None else {}
    fields = {
        "data": {HUB: f"hub@{task.files.commit[:8]}", "sample": "sample"}.get(task.files.name, "files"),
        "rows": digest_of_lines(rows),
        "n": len(rows),
        **options_as_signed(task.options),
        "prompts": digest_of_lines(unformatted_prompts(task, documents, settings)),
        "chat": "yes" if settings.get("apply_chat_template") else "no",
        **({"rendered": "+".join(changes)} if (changes := task.template and task.template.changes) else {}),
        "shots": task.config.num_fewshot or 0,
        "gen": generation_as_signed(task.config.generation_kwargs or {}),
        "repeats": f"{task.options.repeats}{'+in_one_request' * task.options.repeats_in_one_request}",
        "scorers": f"{'+'.join(scorers)}#{digest(scorers)}" if scorers else NO_VALUE,
    }
    task.config.metadata["signature"] = {
        name: signature(task.task_name, {**fields, "filter": signed, "v": task.VERSION}, task.benchmark.packages)
        for name, signed in filters_as_signed(task.config, task.filter_names).items()
    }
    if scorers:
        task.config.metadata["scorers"] = scorers


def unformatted_prompts(task: Any, documents: Sequence[Example], settings: Settings) -> Iterator[Any]:
    """Yield the values whose hash is signed as ``prompts``: the schemas of tools, then the input for each example.

    The input is the prompt or, with a chat template, its messages before rendering; in tasks that compare
    log-likelihoods, it is followed by the choices.

    Few-shot examples are drawn as in a single-process run; afterwards the sampler's state is restored.
    """

    def unrendered(messages: Any, **settings: Any) -> Any:
        """Return messages unchanged, but let the first ones decide the run's changes for the chat template."""
        if task.template:
            task.template.decide(messages, **settings)
        return messages

    if task.turns:
        yield task.turns.schemas
    state = task.sampler.rnd.getstate() if task.config.num_fewshot else None
    for doc in documents:
        yield task.fewshot_context(
            doc,
            num_fewshot=task.config.num_fewshot or 0,
            system_instruction=settings.get("system_instruction"),
            apply_chat_template=task.has_chat_template,
            fewshot_as_multiturn=settings.get("fewshot_as_multiturn", False),
            chat_template=unrendered,
            gen_prefix=task.doc_to_prefix(doc),
        )
        if not task.generates:
            yield [task.config.target_delimiter, *task.doc_to_choice(doc)]
    if state is not None:
        task.sampler.rnd.setstate(state)
