"""Several generations of an example: samples of their own where the model lets them be, and what they tell together."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from medtasks_utils.errors import logger

from .lm_eval_names import Instance
from .models import request_body

# ---- what they are


def make_independent(task: str, instances: Sequence[Instance], model: Any, have_prompts: bool) -> None:
    """Make the generations of an example independent, as far as the model lets them be; say so where they are equal.

    Generation j is given the seed that the model would send, plus j, where it takes one: requests that differ are
    answered and kept one by one. ``idx`` is the number of the generation; ``have_prompts`` where each has a prompt of
    its own.
    """
    prompt, settings = instances[0].args
    body = request_body(model, prompt, settings)
    if body is not None:  # an API is sent the temperature alone
        base, is_greedy = body.get("seed"), not body.get("temperature", settings.get("temperature"))
    else:  # a model in this process samples only if do_sample does not forbid it
        is_vllm = any(kind.__name__ == "VLLM" for kind in type(model).__mro__)  # whose sampling parameters have a seed
        base = settings.get("seed", model.model_args.get("seed")) if is_vllm else None
        is_greedy = settings.get("do_sample") is False or not settings.get("temperature")
    if is_greedy and not have_prompts:
        logger.warning(
            "%s: repeats is above 1, but decoding is greedy: the generations of an example are the same, and nothing "
            "is gained. Sample with --gen_kwargs do_sample=true,temperature=0.7",
            task,
        )
    for instance in instances if isinstance(base, int) else ():
        prompt, settings = instance.args
        # Without do_sample, which no such model sends: the harness reads no cache where it is true.
        kept = {name: value for name, value in settings.items() if (name, value) != ("do_sample", True)}
        instance.arguments = (prompt, {**kept, "seed": base + instance.idx})


# ---- what they tell


def scores_together(answers: Sequence[Hashable | None], right: Sequence[bool]) -> dict[str, float]:
    """The metrics of an example over its generations, each 0 to 1.

    - ``maj@k``: whether the answer given most often is right (Wang et al., arXiv:2203.11171); of several given equally
      often, the share that is. A generation without an answer has no vote.
    - ``all@k``, ``any@k``: whether all generations are right, or any.
    - ``agreement``: the share of pairs of generations that give the same answer. One without an answer agrees with
      none, not even with another without one.

    Args:
        answers: by generation; None for no answer. Equal answers are right or wrong together.
        right: by generation.
    """
    votes = Counter(answer for answer in answers if answer is not None)
    first = [answer for answer, count in votes.items() if count == max(votes.values())]
    is_right = dict(zip(answers, right, strict=True))
    pairs = len(answers) * (len(answers) - 1) / 2
    return {
        "maj@k": sum(is_right[answer] for answer in first) / len(first) if first else 0.0,
        "all@k": float(all(right)),
        "any@k": float(any(right)),
        "agreement": sum(count * (count - 1) / 2 for count in votes.values()) / pairs if pairs else 1.0,
    }
