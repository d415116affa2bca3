"""Judge many cases concurrently, and check the endpoint before a run. The functions are synchronous."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

from tqdm import tqdm

from medtasks_utils.inference.client import run_with
from medtasks_utils.writing import JsonObject

from .cache import Cache
from .judge import CallError, Judge, Judgement, Value, joint
from .judge_client import JudgeClient, endpoint_of
from .judge_settings import JudgeSettings


@cache
def check_endpoint(settings: JudgeSettings) -> None:
    """Send a small request to the endpoint before a long run, only once per process and settings if it succeeds.

    Raises:
        JudgeError: if the cache cannot be written, or if the endpoint cannot be reached or rejects the key, the model
            or the parameters.
    """
    _with_client(settings, False, lambda client: client.check_endpoint())


def by_model(judge: Judge, settings: JudgeSettings) -> list[JudgeSettings]:
    """Return the settings of each model that ``settings`` names, with the judge's sampling parameters, if any."""
    sampling: Callable[[str], JsonObject] = getattr(judge, "sampling", lambda model: {})
    models = settings.model.split(",")
    return [replace(settings, model=model, sampling=tuple(sampling(model).items())) for model in models]


def judge_all(
    judge: Judge, settings: JudgeSettings, cases: Sequence[Any], check_first: bool = False
) -> list[Judgement]:
    """Judge cases with each model in the settings; :func:`.judge.joint` combines the judgements of several models.

    With ``check_first``, the endpoint is checked before the first request whose reply is not in the cache.

    Returns:
        A judgement for each case, in order, joint if there are several models. A case that cannot be judged does not
        raise; its judgement has a failure and no score.

    Raises:
        JudgeError: if the cache cannot be written, or the endpoint fails the check.
    """
    by_name = {
        of_model.model: _judged_by_one(judge, of_model, cases, check_first) for of_model in by_model(judge, settings)
    }
    if len(by_name) == 1:
        return next(iter(by_name.values()))
    judgements = zip(*by_name.values(), strict=True)
    return [joint(dict(zip(by_name, of_case, strict=True)), judge.rates) for of_case in judgements]


def _judged_by_one(judge: Judge, settings: JudgeSettings, cases: Sequence[Any], check_first: bool) -> list[Judgement]:
    """Judge cases concurrently by one model; print counts of judged and failed cases, requests and tokens."""

    async def work(client: JudgeClient) -> list[Judgement]:
        async def judge_one(case: Any) -> Judgement:
            try:
                return await judge.judge(case, client.complete)
            except CallError as error:
                return Judgement(None, error.kind, str(error))
            finally:
                bar.update()

        with tqdm(total=len(cases), delay=1, desc=f"Judging ({judge.name})", unit="example") as bar:
            judgements = await asyncio.gather(*map(judge_one, cases))
        kinds = Counter(judgement.failure or "judged" for judgement in judgements)
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        spent = client.spent
        tqdm.write(
            f"{judge.signature}|model:{settings.model}: {counts}; requests: {spent['calls']}; "
            f"tokens: {spent['prompt']:,} in prompts, {spent['completion']:,} in completions",
            file=sys.stderr,
        )
        return judgements

    return _with_client(settings, check_first, work)


def _with_client(settings: JudgeSettings, check_first: bool, work: Callable[[JudgeClient], Awaitable[Value]]) -> Value:
    with closing(Cache(settings.cache)) as cache:
        return run_with(endpoint_of(settings), lambda client: work(JudgeClient(settings, client, cache, check_first)))
