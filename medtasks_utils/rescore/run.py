"""Judging what is not judged yet, row by row, and summing up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, Tokens, check, judge_all
from medtasks_utils.judging import summary as spent
from medtasks_utils.rescore import comparisons
from medtasks_utils.rescore.comparisons import Comparison, compare
from medtasks_utils.rescore.rows import (
    COLUMNS,
    FAILED,
    Key,
    Rater,
    judgement_key,
    response_key,
    row_of,
    row_without_call,
)
from medtasks_utils.rescore.samples import Response
from medtasks_utils.rescore.summary import Line, summarise
from medtasks_utils.rescore.table import Row, Table, write_atomically

Log = Callable[[str], object]


@dataclass(frozen=True)
class Rescoring:
    """What came of it.

    Attributes:
        lines: means per judge, run and specialty.
        comparisons: agreement of judges with themselves and each other.
        asked: how many distinct explanations were judged now, each round counting.
        judged: how many of them succeeded.
        paths: the files written.
    """

    lines: list[Line]
    comparisons: list[Comparison]
    asked: int
    judged: int
    paths: list[Path]


@dataclass(frozen=True)
class _Round:
    """One judge's judgements of all responses; with repeats there are several rounds."""

    table: Table
    rater: Rater
    settings: JudgeSettings

    def key(self, response: Response) -> Key:
        return (*response_key(response), self.rater.signature, str(self.settings.repeat))

    def missing(self, responses: Sequence[Response]) -> list[Response]:
        """Those to judge: not judged yet, or with a failure."""
        done = {judgement_key(row) for row in self.table.rows if row["status"] != FAILED}
        return [response for response in responses if response.needs_judge and self.key(response) not in done]


def rescore(
    responses: Sequence[Response],
    judges: Sequence[Judge],
    models: Sequence[JudgeSettings],
    prefix: str,
    repeats: int = 1,
    log: Log = lambda line: None,
    verbose: bool = False,
) -> Rescoring:
    """Judge every response with every judge by every model, ``repeats`` times, into one CSV file a judge.

    What the files have already is not judged again, but for failures; rows of other judges, prompts and runs are left
    as they are. A row is in its file as soon as it is known.

    Args:
        responses: with answers right and wrong.
        judges: one or more.
        models: settings for one or more judging models.
        prefix: of the files' paths, as in ``results/judged_``.
        repeats: how often each response is judged; each time is a call of its own.
        log: where one line about each failure goes, and one about each round.
        verbose: whether each judgement gets a line too.

    Raises:
        JudgeError: before anything is judged, if a model cannot be asked.
        TableError: if a file cannot be read or written.
    """
    with ExitStack() as stack:
        tables = [stack.enter_context(Table(_path(prefix, judge), COLUMNS)) for judge in judges]
        rounds = [
            _Round(table, Rater(judge, settings.model), replace(settings, repeat=repeat))
            for table, judge in zip(tables, judges, strict=True)
            for settings in models
            for repeat in range(repeats)
        ]
        for settings in models:
            if any(each.missing(responses) for each in rounds if each.rater.model == settings.model):
                check(settings)
        judgements = []
        for each in rounds:
            if each.settings.repeat == 0:
                _write_without_calls(each, responses)
            missing = each.missing(responses)
            if missing:
                judgements += _judge(each, missing, log, verbose)
        rows = _about(responses, tables)
        raters = {each.rater.signature for each in rounds}
        lines = summarise(row for row in rows if row["judge"] in raters and int(row["repeat"]) < repeats)
        compared = compare(rows)
        paths = [table.path for table in tables]
        if compared:
            paths.append(Path(f"{prefix}agreement.csv"))
            write_atomically(paths[-1], comparisons.COLUMNS, [comparison.as_row() for comparison in compared])
    judged = sum(judgement.score is not None for judgement in judgements)
    return Rescoring(lines, compared, len(judgements), judged, paths)


def _path(prefix: str, judge: Judge) -> Path:
    return Path(f"{prefix}{judge.name.replace('-', '')}.csv")


def _write_without_calls(each: _Round, responses: Sequence[Response]) -> None:
    written = {judgement_key(row) for row in each.table.rows}
    for response in responses:
        if not response.needs_judge and each.key(response) not in written:
            each.table.append(row_without_call(response, each.rater))


def _judge(each: _Round, missing: Sequence[Response], log: Log, verbose: bool) -> list[Judgement]:
    retried = set(map(each.key, missing))
    each.table.keep(lambda row: judgement_key(row) not in retried)
    by_case: dict[Case, list[Response]] = defaultdict(list)  # the same response may come from several tasks
    for response in missing:
        by_case[response.case].append(response)
    same = list(by_case.values())

    def write(index: int, judgement: Judgement) -> None:
        first, *others = same[index]
        each.table.append(row_of(first, each.rater, each.settings.repeat, judgement))
        without_cost = replace(judgement, calls=0, tokens=Tokens())  # what it cost is counted once
        for response in others:
            each.table.append(row_of(response, each.rater, each.settings.repeat, without_cost))
        name = f"{first.run}, {first.task}, {first.example}"
        if judgement.score is None:
            log(f"failed: {name}: {judgement.failure}: {judgement.error}")
        elif verbose:
            log(f"judged: {name}: {judgement.score:.1f}")

    judgements = judge_all(each.rater.judge, each.settings, list(by_case), write)
    log(f"{each.rater.signature}, round {each.settings.repeat + 1}: {spent(judgements)}")
    return judgements


def _about(responses: Sequence[Response], tables: Sequence[Table]) -> list[Row]:
    """The rows about these responses."""
    wanted = set(map(response_key, responses))
    return [row for table in tables for row in table.rows if response_key(row) in wanted]
