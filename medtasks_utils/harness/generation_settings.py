"""``--gen_kwargs``: settings that are known are checked, and one that is nearly a known one is taken for a slip."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medtasks_utils.errors import UsageError, logger

_Whole = Annotated[float, Field(multiple_of=1)]  # lm_eval reads -1 on its command line as -1.0


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
    typical_p: float = Field(1, gt=0, le=1)
    seed: _Whole = 0
    presence_penalty: float = Field(0, ge=-2, le=2)
    frequency_penalty: float = Field(0, ge=-2, le=2)
    repetition_penalty: float = Field(1, gt=0)
    n: Literal[1] = 1
    stream: Literal[False] = False


NAMES = frozenset(GenerationSettings.model_fields)

_OF_MAX_GEN_TOKS = ("max_tokens", "max_new_tokens", "max_completion_tokens", "num_predict", "n_predict")
"""Its names elsewhere: beside the tasks' own max_gen_toks, some models take one of the two and others are sent both."""
_NO_SLIPS = (
    *("min_tokens", "min_new_tokens", "top_a", "top_h", "min_a", "typical", "typ_p", "repeat_penalty"),
    "temperature_last",
)
"""Servers' own settings that are near to one above."""
_WHY = {
    "n": "an answer is asked for once; several for each example are the benchmark's option repeats "
    "(--set BENCHMARK.repeats=K)",
    "stream": "lm_eval reads whole replies only",
}


def check_generation_settings(settings: Mapping[str, Any]) -> None:
    """Refuse values that no server takes as they are meant, and names that are slips; the others pass, with a line.

    Raises:
        UsageError: for the first that is wrong.
    """
    for name, value in settings.items():
        if name in _OF_MAX_GEN_TOKS:
            raise UsageError(f"--gen_kwargs: {name} is max_gen_toks here: max_gen_toks={value}")
    unknown = [name for name in settings if name not in NAMES]
    for name in unknown:
        folded = name.lower().replace("-", "_")
        near = difflib.get_close_matches(folded, [*NAMES, *_OF_MAX_GEN_TOKS], n=1, cutoff=0.8)
        if near and name not in _NO_SLIPS:
            meant = "max_gen_toks" if near[0] in _OF_MAX_GEN_TOKS else near[0]
            raise UsageError(f"--gen_kwargs: there is no setting {name} (did you mean {meant}?)")
    for name in ("until", "stop"):
        if re.fullmatch(r"\[.*,.*\]", str(settings.get(name))) and isinstance(settings[name], str):
            raise UsageError(
                f"--gen_kwargs: {name}={settings[name]} is one text, the shell having taken the quotes: put it "
                f'in single quotes, as in \'{name}=["END", "STOP"]\''
            )
    try:
        GenerationSettings(**settings)
    except ValidationError as error:
        problem = error.errors()[0]
        name, value = str(problem["loc"][0]), settings[str(problem["loc"][0])]
        why = _WHY.get(name) or problem["msg"].removeprefix("Input ")
        raise UsageError(f"--gen_kwargs: {name}={value}: {why}") from None
    if unknown:
        logger.info("--gen_kwargs: %s: not known here, and passed on as given", ", ".join(unknown))
