"""``--gen_kwargs``: settings that are known are checked, and one that is nearly a known one is taken for a slip."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medtasks_utils.errors import UsageError

_Whole = Annotated[float, Field(multiple_of=1)]  # lm_eval reads -1 on its command line as -1.0
_LENGTHS = ("max_tokens", "max_new_tokens", "max_completion_tokens", "num_predict", "n_predict")
"""Names of max_gen_toks elsewhere: beside the tasks' own, some models take one of the two and others are sent both."""
_NO_SLIPS = ("min_tokens", "min_new_tokens", "top_a", "min_a", "typ_p", "repeat_penalty")
"""Servers' own settings that are near to one below."""


class GenerationSettings(BaseModel):
    """Settings that lm_eval's models and most servers have in common, with the values that they take."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)

    max_gen_toks: int = Field(1, ge=1)
    until: str | list[str] = ""
    stop: str | list[str] = ""
    do_sample: bool = False
    temperature: float = Field(0, ge=0)
    top_p: float = Field(1, gt=0, le=1)
    top_k: _Whole = Field(-1, ge=-1)
    min_p: float = Field(0, ge=0, le=1)
    seed: _Whole = 0
    presence_penalty: float = Field(0, ge=-2, le=2)
    frequency_penalty: float = Field(0, ge=-2, le=2)
    repetition_penalty: float = Field(1, gt=0)
    n: Literal[1] = Field(1, description="several answers an example are its benchmark's option repeats")
    stream: Literal[False] = Field(False, description="lm_eval reads whole replies only")


NAMES = frozenset(GenerationSettings.model_fields)


def check_generation_settings(settings: Mapping[str, Any]) -> None:
    """Refuse values that no server takes as they are meant, and names that are slips; the others pass.

    Raises:
        UsageError: for the first that is wrong.
    """
    for name, value in settings.items():
        folded = name.lower().replace("-", "_")
        near = difflib.get_close_matches(folded, [*NAMES, *_LENGTHS], n=1, cutoff=0.8)
        if near and name not in NAMES and name not in _NO_SLIPS:
            known = "max_gen_toks" if near[0] in _LENGTHS else near[0]
            raise UsageError(f"--gen_kwargs: there is no setting {name} (did you mean {known}={value}?)")
    try:
        GenerationSettings(**settings)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        why = GenerationSettings.model_fields[name].description or problem["msg"].removeprefix("Input ")
        raise UsageError(f"--gen_kwargs: {name}={settings[name]}: {why}") from None
