"""Judging many cases at once, and the check before a run; usable from code that knows nothing of event loops."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

from medtasks_utils.judging.case import Case, Judgement, Tokens
from medtasks_utils.judging.judge import CallError, Judge
from medtasks_utils.judging.settings import JudgeError, JudgeSettings

if TYPE_CHECKING:
    from medtasks_utils.judging.client import JudgeClient

T = TypeVar("T")

_OPEN_CASES_PER_SLOT = 4  # enough that no slot waits while others back off; few enough that results come early
_CHECK_RETRIES = 2
_TRANSPORT_LOGGERS = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


def _client_class() -> type[JudgeClient]:
    """The client, whose library takes long to import and comes with an extra of its own."""
    try:
        from medtasks_utils.judging.client import JudgeClient
    except ModuleNotFoundError as error:
        raise JudgeError(
            f"a judge is asked through {error.name}, which is not installed: pip install 'medtasks[judge]'"
        ) from None
    return JudgeClient


def check(settings: JudgeSettings) -> None:
    """Ask the endpoint for one small reply, to know before a long run that it will judge.

    Raises:
        JudgeError: for a cache that cannot be written, an endpoint that cannot be reached, a key, a model or
            parameters that it refuses.
    """
    client_class = _client_class()
    from medtasks_utils.judging.retries import unusable

    async def ask() -> None:
        async with client_class(replace(settings, max_retries=_CHECK_RETRIES)) as client:
            await client.check()

    try:
        _run(ask())
    except CallError as error:
        raise unusable(error, settings) from None


def judge_all(
    judge: Judge,
    settings: JudgeSettings,
    cases: Sequence[Case],
    on_result: Callable[[int, Judgement], object] | None = None,
    check_first: bool = False,
) -> list[Judgement]:
    """Judge cases concurrently; the same case twice is judged once.

    Args:
        judge: how.
        settings: by which model, and the limits.
        cases: n cases.
        on_result: called with a case's index and its judgement as soon as there is one, in any order.
        check_first: whether to check the endpoint before the first call that the cache does not answer.

    Returns:
        n judgements. What cannot be judged has a failure instead of a score; nothing is raised for it.

    Raises:
        JudgeError: if the cache cannot be written, or the endpoint fails the check.
    """
    return _run(_judge_all(judge, settings, cases, on_result, check_first))


async def _judge_all(
    judge: Judge,
    settings: JudgeSettings,
    cases: Sequence[Case],
    on_result: Callable[[int, Judgement], object] | None,
    check_first: bool,
) -> list[Judgement]:
    client_class = _client_class()
    indexes: dict[Case, list[int]] = {}
    for index, case in enumerate(cases):
        indexes.setdefault(case, []).append(index)
    judgements: dict[int, Judgement] = {}
    window = asyncio.Semaphore(_OPEN_CASES_PER_SLOT * settings.concurrency)
    with tqdm(total=len(cases), delay=1, desc=f"Judging ({judge.name})", unit="example") as bar:
        async with client_class(settings, check_first) as client:

            async def judge_one(case: Case) -> None:
                async with window:
                    judgement = await _judgement(judge, client, case)
                for index in indexes[case]:
                    judgements[index] = judgement
                    if on_result:
                        on_result(index, judgement)
                bar.set_postfix_str(_shown(client.spent), refresh=False)
                bar.update(len(indexes[case]))

            tasks = [asyncio.ensure_future(judge_one(case)) for case in indexes]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    return [judgements[index] for index in range(len(cases))]


async def _judgement(judge: Judge, client: JudgeClient, case: Case) -> Judgement:
    from medtasks_utils.judging.client import Tally

    tally = Tally()

    async def ask(messages: list[dict[str, str]], read: Callable[[str], T], schema: dict[str, Any] | None = None) -> T:
        return await client.complete(messages, read, schema, tally)

    try:
        verdict = await judge.judge(case, ask)
    except CallError as error:
        return Judgement(None, error.kind, str(error), error.output, tally.tokens, tally.calls)
    return Judgement(verdict.score, None, None, verdict.output, tally.tokens, tally.calls)


def failures_by_kind(judgements: Iterable[Judgement]) -> dict[str, int]:
    """How many judgements failed, by kind, the most frequent first."""
    return dict(Counter(judgement.failure for judgement in judgements if judgement.failure).most_common())


def summary(judgements: Sequence[Judgement]) -> str:
    """All judgements in one line: judged, failed by kind, tokens, calls."""
    failures = failures_by_kind(judgements)
    tokens = Tokens()
    for judgement in judgements:
        tokens = tokens.plus(judgement.tokens)
    failed = ", ".join(f"{count} {kind}" for kind, count in failures.items())
    return (
        f"{len(judgements) - sum(failures.values())} of {len(judgements)} judged"
        + (f", failed: {failed}" if failed else "")
        + f"; {sum(judgement.calls for judgement in judgements)} calls, {_shown(tokens)}"
    )


def _shown(tokens: Tokens) -> str:
    return f"{tokens.prompt:,} + {tokens.completion:,} tokens"


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, also where an event loop is running already, as in notebooks."""
    with _quiet_transport():
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        return _run_in_thread(work)


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def cancellable() -> T:
        task = asyncio.ensure_future(work)
        started.append((asyncio.get_running_loop(), task))
        return await task

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(lambda: asyncio.run(cancellable()))
        try:
            return future.result()
        except BaseException:  # Ctrl-C above all, which only the main thread hears of
            for loop, task in started:
                if not future.done():
                    loop.call_soon_threadsafe(task.cancel)
            raise


@contextmanager
def _quiet_transport() -> Iterator[None]:
    """Keep requests and headers, which hold texts and the key, out of every log, however verbose."""
    loggers = [logging.getLogger(name) for name in _TRANSPORT_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
