"""Make the generations of an example independent, and combine their scores and details."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain
from statistics import fmean

from medtasks_utils.benchmarks.answers import Answer
from medtasks_utils.errors import UsageError, logger
from medtasks_utils.inference.replies import IF_ANY, OF_EACH_REPLY
from medtasks_utils.statistics.metrics import fewer_generations
from medtasks_utils.writing import JsonObject

from .lm_eval_names import LM, Instance
from .models import seed_of
from .server_model import can_be_asked_singly, request_body

# ---- requests


def make_independent(task: str, instances: Sequence[Instance], model: LM, have_prompts: bool) -> None:
    """Give each generation of an example its own seed if the model takes one; warn if generations would be equal.

    Generation j, counted from 0, gets the seed that the model would send, plus j. Then ``do_sample=True`` is removed
    from the settings, since it would disable lm_eval's cache.

    Args:
        task: the task's name, for messages.
        instances: the requests of all examples; ``idx`` is the number of the generation, from 0.
        model: the model of the run; None if it is not known.
        have_prompts: True if the generations of an example have different prompts.
    """
    seed, is_greedy = _seed_and_greediness(instances[0], model)
    if is_greedy and not have_prompts:
        logger.warning(
            "%s: repeats is above 1, but decoding is greedy, so all generations of an example will be the same; "
            "add --gen_kwargs do_sample=true,temperature=0.7 to sample",
            task,
        )
    for instance in instances if seed is not None else ():
        prompt, settings = instance.args
        # These models do not send do_sample, and lm_eval does not use its cache if it is true.
        cacheable = {name: value for name, value in settings.items() if (name, value) != ("do_sample", True)}
        instance.arguments = (prompt, {**cacheable, "seed": seed + instance.idx})


def request_together(task: str, instances: Sequence[Instance], model: LM, have_prompts: bool) -> None:
    """Set ``n`` so that one request returns all generations of an example; see :func:`make_independent` for arguments.

    Raises:
        UsageError: if generations cannot be requested together, or could not differ.
    """
    problem = ""
    if not can_be_asked_singly(model):
        problem = "only API models support it"
    elif have_prompts:
        problem = "each generation has its own prompt or conversation"
    elif _seed_and_greediness(instances[0], model)[1]:
        problem = (
            "decoding is greedy, so all replies would be the same; add --gen_kwargs do_sample=true,temperature=0.7"
        )
    if problem:
        raise UsageError(
            f"{task}: repeats_in_one_request: {problem}; without this option, each generation is a separate request"
        )
    number = max(instance.idx for instance in instances) + 1
    for instance in instances:
        prompt, settings = instance.args
        # lm_eval's cache, which would give all generations one reply, is not used with do_sample.
        instance.arguments = (prompt, {**settings, "do_sample": True, "n": number})


def _seed_and_greediness(instance: Instance, model: LM) -> tuple[int | None, bool]:
    """Return the seed that the model would use for a request, None if it uses none, and whether decoding is greedy."""
    prompt, settings = instance.args
    body = request_body(model, prompt, settings)
    if body is None:  # a model in this process samples unless do_sample is false
        return seed_of(model, settings), settings.get("do_sample") is False or not settings.get("temperature")
    # An API model sends the temperature, and no do_sample; without a temperature, its server may sample.
    seed = body.get("seed")
    return seed if isinstance(seed, int) else None, body.get("temperature") == 0


# ---- scores


def scores_together(answers: Sequence[Hashable | None], right: Sequence[bool]) -> dict[str, float]:
    """Return the metrics of an example over its k generations, each from 0 to 1.

    - ``maj@k``: 1 if the most frequent answer is right (Wang et al., arXiv:2203.11171); in a tie, the fraction of the
      tied answers that are right. A generation without an answer has no vote; if none has an answer, 0.
    - ``pass@k``, ``pass^k``: 1 if at least one generation, or all, are right.
    - ``pass@j``, ``pass^j`` for some j below k: the expected value for j of the k generations, without replacement: the
      unbiased estimates of Chen et al. (arXiv:2107.03374) and Yao et al. (arXiv:2406.12045).
    - ``agreement``: the fraction of pairs of generations with the same answer. A generation without an answer agrees
      with no other. For a single generation, it is 1.

    Args:
        answers: the answer of each generation, None for no answer, shape ``(k,)``. Equal answers are equally right.
        right: True for each generation that is right, shape ``(k,)``.
    """
    votes = Counter(answer for answer in answers if answer is not None)
    most_frequent = [answer for answer, count in votes.items() if count == max(votes.values())]
    is_right = dict(zip(answers, right, strict=True))
    pairs, fewer = math.comb(len(answers), 2), fewer_generations(len(right))
    return {
        "maj@k": fmean(is_right[answer] for answer in most_frequent) if most_frequent else 0.0,
        "pass@k": float(any(right)),
        "pass^k": float(all(right)),
        "agreement": sum(count * (count - 1) / 2 for count in votes.values()) / pairs if pairs else 1.0,
        **{f"pass@{j}": 1 - math.comb(right.count(False), j) / math.comb(len(right), j) for j in fewer},
        **{f"pass^{j}": math.comb(right.count(True), j) / math.comb(len(right), j) for j in fewer},
    }


def details_of(answers: Sequence[Answer]) -> JsonObject:
    """Return the logged details of an example's answers.

    With more than one answer, each detail is a list. Details of replies are always lists; those in ``IF_ANY`` are left
    out if no reply has them.
    """
    details: JsonObject = {}
    for name in dict.fromkeys(chain.from_iterable(answer.details for answer in answers)):
        values = [answer.details.get(name) for answer in answers]
        if name not in IF_ANY or any(values):
            is_list = len(values) > 1 or name in (*OF_EACH_REPLY, *IF_ANY)
            details[name] = values if is_list else values[0]
    return details
