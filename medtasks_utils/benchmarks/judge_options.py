"""Options of a benchmark whose explanations a judge can score."""

from __future__ import annotations

import os
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, model_validator

from medtasks_utils.benchmarks.options import Options, Requirement
from medtasks_utils.judging import JUDGES, judge_name
from medtasks_utils.judging.settings import DEFAULT_MODEL, JudgeError, JudgeSettings, endpoint, find_key


def _judge(name: str | None) -> str | None:
    try:
        return None if name is None else judge_name(name)
    except JudgeError as error:
        raise ValueError(str(error)) from None


class JudgeOptions(Options):
    """``use_judge``, which judge, and how it is called. A benchmark's options derive from it."""

    not_signed = Options.not_signed | {
        *("use_judge", "judge_mode", "judge_model", "use_coverage"),  # the judge's own signature tells
        *("judge_base_url", "judge_api_key_env", "judge_concurrency", "judge_cache", "judge_max_tokens"),
    }

    refused: ClassVar = {
        "judge_api_key": "options are written to results, where everybody could read the key. Put it into an "
        "environment variable, and name that in judge_api_key_env"
    }

    needs: ClassVar = {
        **dict.fromkeys(
            (
                *("judge_mode", "judge_model", "judge_base_url", "judge_api_key_env", "judge_concurrency"),
                *("judge_cache", "judge_max_tokens"),
            ),
            Requirement("use_judge=true", lambda options: options.use_judge),
        ),
        "use_coverage": Requirement(
            "use_judge=true and judge_mode=factscore",
            lambda options: options.use_judge and options.judge_mode == "factscore",
        ),
    }

    use_judge: bool = Field(False, description="let a judge score the explanations")
    judge_mode: Annotated[str | None, AfterValidator(_judge)] = Field(
        None, description=f"the judge, required with use_judge: {' or '.join(JUDGES)}"
    )
    judge_model: str = Field(DEFAULT_MODEL, description="the judging model's name at the endpoint")
    judge_base_url: str | None = Field(None, repr=False, description="an OpenAI-compatible endpoint")
    judge_api_key_env: str | None = Field(None, repr=False, description="name of the variable that holds the key")
    judge_concurrency: int = Field(16, ge=1, description="calls in flight at once, over all processes")
    judge_cache: str | None = Field(None, description="file of answered calls")
    judge_max_tokens: int = Field(4096, ge=1, description="of a judge's reply, its reasoning included")
    use_coverage: bool = Field(False, description="factscore: verify the references' claims against the explanation")

    @model_validator(mode="after")
    def _judge_can_be_asked(self) -> JudgeOptions:
        # Here and not at the fields, whose errors repeat the value: it may be a key in the wrong place. Also without
        # use_judge, since the options are written to results.
        try:
            if self.judge_api_key_env is not None:
                find_key(self.judge_api_key_env, os.environ)
            if self.judge_base_url is not None:
                endpoint(self.judge_base_url)
        except JudgeError as error:
            raise ValueError(f"judge_api_key_env, judge_base_url: {error}") from None
        if self.judges and self.judge_mode is None:
            raise ValueError(f"use_judge needs judge_mode: {' or '.join(JUDGES)}")
        return self

    @property
    def judges(self) -> bool:
        """Whether a judge scores the explanations."""
        return self.use_judge

    def judge_settings(self, processes: int = 1) -> JudgeSettings:
        """How the judge is called by one of several processes, which share the limit on calls in flight.

        Raises:
            JudgeError: if the endpoint needs a key and there is none.
        """
        return JudgeSettings.from_environment(
            model=self.judge_model,
            base_url=self.judge_base_url,
            key_variable=self.judge_api_key_env,
            cache=self.judge_cache,
            concurrency=max(1, self.judge_concurrency // processes),
            max_tokens=self.judge_max_tokens,
        )
