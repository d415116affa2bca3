"""Judge many cases concurrently, and check the endpoint before a run. The functions are synchronous."""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from .judge import CallError, Judge, Judgement, Tokens, Value
from .judge_settings import JudgeError, JudgeSettings

if TYPE_CHECKING:
    from .client import JudgeClient


@cache
def check(settings: JudgeSettings) -> None:
    """Send a small request to the endpoint before a long run; only once per process.

    Raises:
        JudgeError: if the cache cannot be written, or if the endpoint cannot be reached or rejects the key, the model
            or the parameters.
    """
    _with_client(settings, False, lambda client: client.check())


def judge_all(
    judge: Judge,
    settings: JudgeSettings,
    cases: Sequence[Any],
    on_result: Callable[[int, Judgement], object] = lambda index, judgement: None,
    check_first: bool = False,
) -> list[Judgement]:
    """Judge cases concurrently.

    Args:
        judge: the judge.
        settings: the model, the endpoint and the limits.
        cases: n cases in the form that the judge needs.
        on_result: a function that gets each case's index and judgement as soon as the judgement is ready. It is called
            in another thread, and cases may come in any order.
        check_first: True to check the endpoint before the first call that is not in the cache.

    Returns:
        n judgements, in order. A case that cannot be judged does not raise; its judgement has a failure and no score.

    Raises:
        JudgeError: if the cache cannot be written, or the endpoint fails the check.
    """

    async def work(client: "JudgeClient") -> list[Judgement]:
        """Judge all cases with one client."""

        async def judge_one(index: int, case: Any) -> Judgement:
            """Judge one case, and add its cost to the judgement."""
            tally = Counter[str]()
            try:
                judgement = await judge.judge(case, partial(client.complete, tally=tally))
            except CallError as error:
                judgement = Judgement(None, error.kind, str(error), error.output)
            judgement = replace(judgement, tokens=Tokens(tally["prompt"], tally["completion"]), calls=tally["calls"])
            on_result(index, judgement)
            bar.update()
            return judgement

        with tqdm(total=len(cases), delay=1, desc=f"Judging ({judge.name})", unit="example") as bar:
            return await asyncio.gather(*(judge_one(index, case) for index, case in enumerate(cases)))

    return _with_client(settings, check_first, work)


def summary(judgements: Sequence[Judgement]) -> str:
    """Summarise judgements in one line: numbers of judged and failed cases, calls and tokens."""
    kinds = Counter(judgement.failure or "judged" for judgement in judgements)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    calls = sum(judgement.calls for judgement in judgements)
    prompt = sum(judgement.tokens.prompt for judgement in judgements)
    completion = sum(judgement.tokens.completion for judgement in judgements)
    return f"{counts}; calls: {calls}; tokens: {prompt:,} in prompts, {completion:,} in completions"


def _with_client(
    settings: JudgeSettings, check_first: bool, work: "Callable[[JudgeClient], Awaitable[Value]]"
) -> Value:
    """Run ``work`` with a client in an event loop in another thread, since notebooks already run one.

    Ctrl-C cancels it.
    """
    try:  # imported here, since the library is slow to import and belongs to an extra
        from anyio.from_thread import start_blocking_portal

        from .client import JudgeClient
    except ModuleNotFoundError as error:
        raise JudgeError(f"judges need {error.name}, which is not installed: pip install 'medtasks[judge]'") from None

    async def run() -> Value:
        async with aclosing(JudgeClient(settings, check_first)) as client:
            return await work(client)

    try:
        with start_blocking_portal() as portal:
            return portal.call(run)
    except KeyboardInterrupt:
        print("the judge's replies are cached: run the same command again to continue from here", file=sys.stderr)
        raise
