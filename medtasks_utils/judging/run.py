"""Judging many cases at once, and the check before a run; usable from code that knows nothing of event loops."""

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
from .settings import JudgeError, JudgeSettings

if TYPE_CHECKING:
    from .client import JudgeClient


@cache
def check(settings: JudgeSettings) -> None:
    """Ask the endpoint for one small reply, to know before a long run that it will judge; once in a process.

    Raises:
        JudgeError: for a cache that cannot be written, an endpoint that cannot be reached, a key, a model or
            parameters that it refuses.
    """
    _with_client(replace(settings, max_retries=2), False, lambda client: client.check())


def judge_all(
    judge: Judge,
    settings: JudgeSettings,
    cases: Sequence[Any],
    on_result: Callable[[int, Judgement], object] = lambda index, judgement: None,
    check_first: bool = False,
) -> list[Judgement]:
    """Judge cases concurrently.

    Args:
        judge: how.
        settings: by which model, and the limits.
        cases: n cases of the judge's.
        on_result: called with a case's index and its judgement as soon as there is one, in any order and in a thread of
            its own.
        check_first: whether to check the endpoint before the first call that the cache does not answer.

    Returns:
        n judgements. What cannot be judged has a failure instead of a score; nothing is raised for it.

    Raises:
        JudgeError: if the cache cannot be written, or the endpoint fails the check.
    """

    async def work(client: "JudgeClient") -> list[Judgement]:
        async def judge_one(index: int, case: Any) -> Judgement:
            tally = Counter[str]()
            try:
                score, output = await judge.judge(case, partial(client.complete, tally=tally))
                judgement = Judgement(score, output=output)
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
    """All judgements in one line: judged, failed by kind, tokens, calls."""
    kinds = Counter(judgement.failure or "judged" for judgement in judgements)
    prompt, completion = (sum(each.tokens[i] for each in judgements) for i in (0, 1))
    return (
        f"{', '.join(f'{count} {kind}' for kind, count in kinds.items())}; "
        f"{sum(judgement.calls for judgement in judgements)} calls, {prompt:,} + {completion:,} tokens"
    )


def _with_client(
    settings: JudgeSettings, check_first: bool, work: "Callable[[JudgeClient], Awaitable[Value]]"
) -> Value:
    """Run in an event loop in a thread of its own: notebooks have one running; Ctrl-C cancels what is under way."""
    try:  # here, since the library takes long to import and comes with an extra of its own
        from anyio.from_thread import start_blocking_portal

        from .client import JudgeClient
    except ModuleNotFoundError as error:
        raise JudgeError(
            f"a judge is asked through {error.name}, which is not installed: pip install 'medtasks[judge]'"
        ) from None

    async def run() -> Value:
        async with aclosing(JudgeClient(settings, check_first)) as client:
            return await work(client)

    try:
        with start_blocking_portal() as portal:
            return portal.call(run)
    except KeyboardInterrupt:
        print("what judges answered is in the cache, and the same command goes on from there", file=sys.stderr)
        raise
