"""Make the generations of an example independent, score them together, and score how their replies ended."""

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import Any

from medtasks_utils.errors import UsageError, logger
from medtasks_utils.statistics.scores import Score

from . import model_server
from .lm_eval_names import Instance
from .models import can_be_asked_singly, probe_of, request_body, seed_of

_MANY_ANSWERS = "Write a random number of thirty digits."

# ---- requests


def make_independent(
    task: str, instances: Sequence[Instance], model: Any, have_prompts: bool, in_one_request: bool = False
) -> None:
    """Make the generations of an example independent if the model allows it; warn if they would be equal.

    If the model takes a seed, generation j gets the seed that the model would send, plus j. Requests that differ are
    answered and stored one by one. In one request, all generations of an example instead have the setting ``n``, which
    is their number.

    Args:
        task: the task's name, for the warning.
        instances: the requests of all examples; ``idx`` is the number of the generation.
        model: the model of the run; None if it is not known.
        have_prompts: whether each generation of an example has a prompt of its own.
        in_one_request: whether the server is asked once for all generations of an example.

    Raises:
        UsageError: if generations cannot be requested at once.
    """
    number = max(instance.idx for instance in instances) + 1
    prompt, settings = instances[0].args
    body = request_body(model, prompt, settings)
    base = seed_of(model, settings) if body is None else body.get("seed")
    if body is not None:  # an API model sends the temperature, and no do_sample
        is_greedy = not body.get("temperature", settings.get("temperature"))
    else:  # a model in this process samples only if do_sample does not forbid it
        is_greedy = settings.get("do_sample") is False or not settings.get("temperature")
    if in_one_request:
        _check_choices(task, model, have_prompts, is_greedy, {**settings, "n": number})
    elif is_greedy and not have_prompts:
        logger.warning(
            "%s: repeats is above 1, but decoding is greedy, so that all generations of an example are the same; "
            "sample with --gen_kwargs do_sample=true,temperature=0.7",
            task,
        )
    for instance in instances:
        prompt, settings = instance.args
        # These models do not send do_sample, and lm_eval ignores its cache where it is true.
        cacheable = {name: value for name, value in settings.items() if (name, value) != ("do_sample", True)}
        if in_one_request:
            instance.arguments = (prompt, {**cacheable, "n": number})
        elif isinstance(base, int):
            instance.arguments = (prompt, {**cacheable, "seed": base + instance.idx})


def _check_choices(task: str, model: Any, have_prompts: bool, is_greedy: bool, settings: dict[str, Any]) -> None:
    """Check that a server gives as many different choices as are requested, by a question with many answers.

    Raises:
        UsageError: if it does not, or none could differ.
    """
    problem = ""
    if not can_be_asked_singly(model):
        problem = "only API models that are sent one prompt in a request take it"
    elif have_prompts:
        problem = "each generation has a prompt or a conversation of its own"
    elif is_greedy:
        problem = (
            "decoding is greedy, so that all choices are the same: add --gen_kwargs do_sample=true,temperature=0.7"
        )
    else:
        completion = model_server.probe(probe_of(model, settings, 32, _MANY_ANSWERS), model.model, model.max_retries)
        replies = completion.replies if completion else []
        if completion and len(replies) < settings["n"]:
            problem = f"{model.base_url} sent {len(replies)} of n={settings['n']} choices"
        elif replies and len({(reply, reply.reasoning) for reply in replies}) == 1:
            problem = f"{model.base_url} sent n={settings['n']} equal choices"
    if problem:
        raise UsageError(
            f"{task}: repeats_in_one_request: {problem}; without this option, each generation is a request of its own"
        )


# ---- scores


def scores_together(answers: Sequence[Hashable | None], right: Sequence[bool]) -> dict[str, float]:
    """Return the metrics of an example over its k generations, each from 0 to 1.

    - ``maj@k``: 1 if the most frequent answer is right (Wang et al., arXiv:2203.11171); in a tie, the fraction of the
      tied answers that are right. A generation without an answer has no vote.
    - ``all@k``, ``any@k``: 1 if all generations are right, or any of them.
    - ``agreement``: the fraction of pairs of generations with the same answer. A generation without an answer agrees
      with no other.

    Args:
        answers: the answer of each generation, None for no answer, shape ``(k,)``. Equal answers are equally right.
        right: whether each generation is right, shape ``(k,)``.
    """
    votes = Counter(answer for answer in answers if answer is not None)
    most_frequent = [answer for answer, count in votes.items() if count == max(votes.values())]
    is_right = dict(zip(answers, right, strict=True))
    pairs = len(answers) * (len(answers) - 1) / 2
    return {
        "maj@k": fmean(is_right[answer] for answer in most_frequent) if most_frequent else 0.0,
        "all@k": float(all(right)),
        "any@k": float(any(right)),
        "agreement": sum(count * (count - 1) / 2 for count in votes.values()) / pairs if pairs else 1.0,
    }


def scores_of_end(ended: str, acc: Score, any_is_known: bool) -> dict[str, Score]:
    """Return the metrics of a generation that say how its reply ended, which :data:`REPLY_METRICS` lists.

    Args:
        ended: ``stop``, ``length``, ``filter`` or ``unknown``.
        acc: the generation's accuracy; None if the benchmark has none.
        any_is_known: whether any reply of the task says how it ended. If so, an unknown end counts as not cut, since a
            server that reports ends reports every cut.
    """
    return {
        "cut": float(ended == "length") if any_is_known else None,
        "acc_finished": acc if ended == "stop" else None,
    }
