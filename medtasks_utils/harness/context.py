"""The model's context: whether it has room for the prompts beside the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from medtasks_utils.errors import OptionError
from medtasks_utils.harness.patches.models import is_longer, room_for_prompts


def truncation(model: Any, config: Any, prompts: Sequence[Any]) -> str | None:
    """How many prompts lose their head, in words; None if none does, or the model, if there is one, does not tell.

    Raises:
        OptionError: where there is no room for any prompt.
    """
    longest = (config.generation_kwargs or {}).get("max_gen_toks")
    if config.output_type != "generate_until" or longest is None:
        return None
    room = room_for_prompts(model, longest)
    if room is None:
        return None
    name = "max_model_len" if type(model).__name__ == "VLLM" else "max_length"
    left = f"the model's context ({name}) less max_gen_toks={longest} leaves"
    if room <= 0:
        raise OptionError(
            f"{config.task}: {left} no room for a prompt: give a smaller max_gen_toks in --gen_kwargs, or, if the "
            f"model takes more than lm_eval thinks, its {name} in --model_args"
        )
    cut = sum(is_longer(model, prompt, room) for prompt in prompts)
    return f"{cut} of {len(prompts)} prompts are cut to their last {room} tokens: {left} no more" if cut else None
