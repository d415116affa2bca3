"""Judge many cases concurrently, and check the endpoint before a run. The functions are synchronous."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from .judge import CallError, Judge, Judgement, Value
from .judge_settings import JudgeError, JudgeSettings

if TYPE_CHECKING:
    from .client import JudgeClient


@cache
def check(settings: JudgeSettings) -> None:
    """Send a small request to the endpoint before a long run; once per process, if it succeeds.

    Raises:
        JudgeError: if a library is not installed, if the cache cannot be written, or if the endpoint cannot be reached
            or rejects the key, the model or the parameters.
    """
    _with_client(settings, False, lambda client: client.check())


def judge_all(
    judge: Judge, settings: JudgeSettings, cases: Sequence[Any], check_first: bool = False
) -> list[Judgement]:
    """Judge cases concurrently, and print the numbers of judged and failed cases, and the cost, on standard error.

    Args:
        judge: the judge.
        settings: the model, the endpoint and the limits.
        cases: n cases in the form that the judge needs.
        check_first: True to check the endpoint before the first request whose reply is not in the cache.

    Returns:
        n judgements, in order. A case that cannot be judged does not raise; its judgement has a failure and no score.

    Raises:
        JudgeError: if a library is not installed, the cache cannot be written, or the endpoint fails the check.
    """

    async def work(client: "JudgeClient") -> list[Judgement]:
        """Judge all cases with one client."""

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


def _with_client(
    settings: JudgeSettings, check_first: bool, work: "Callable[[JudgeClient], Awaitable[Value]]"
) -> Value:
    """Run ``work`` with a client in an event loop in another thread, since a notebook already runs one in its own."""
    try:  # imported here, since the library is slow to import and belongs to an extra
        from anyio.from_thread import start_blocking_portal

        from .client import JudgeClient
    except ModuleNotFoundError as error:
        raise JudgeError(f"judges need {error.name}, which is not installed: pip install 'medtasks[judge]'") from None

    async def run() -> Value:
        async with aclosing(JudgeClient(settings, check_first)) as client:
            return await work(client)

    with start_blocking_portal() as portal:
        return portal.call(run)
