"""Judging responses, writing a row for each judgement, and summing up.

What is judged already is in the judge's cache: the same command again asks only what was not answered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from medtasks_utils.judging import Case, Judge, Judgement, JudgeSettings, Tokens, judge_all
from medtasks_utils.judging import summary as spent
from medtasks_utils.rescore import comparisons
from medtasks_utils.rescore.comparisons import Comparison, compare
from medtasks_utils.rescore.rows import COLUMNS, Rater, row_of, row_without_call
from medtasks_utils.rescore.samples import Response
from medtasks_utils.rescore.summary import Line, summarise
from medtasks_utils.rescore.table import JudgedRow, check_place, writable, write_table

Log = Callable[[str], object]


@dataclass(frozen=True)
class Rescoring:
    """What came of it.

    Attributes:
        lines: means per judge, run and specialty.
        comparisons: agreement of judges with themselves and each other.
        asked: how many distinct explanations were judged, each round counting.
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

    rater: Rater
    settings: JudgeSettings

    def judge(self, responses: Sequence[Response], log: Log, verbose: bool) -> tuple[list[JudgedRow], list[Judgement]]:
        """A row for each response, those that no judge sees in the first round only; and the distinct judgements."""
        rows: dict[int, JudgedRow] = {}
        places: dict[Case, list[int]] = defaultdict(list)  # the same response may come from several tasks
        for place, response in enumerate(responses):
            if response.needs_judge:
                places[response.case].append(place)
            elif self.settings.repeat == 0:
                rows[place] = row_without_call(response, self.rater)
        same = list(places.values())

        def add(index: int, judgement: Judgement) -> None:
            first, *others = same[index]
            rows[first] = row_of(responses[first], self.rater, self.settings.repeat, judgement)
            without_cost = replace(judgement, calls=0, tokens=Tokens())  # what it cost is counted once
            for place in others:
                rows[place] = row_of(responses[place], self.rater, self.settings.repeat, without_cost)
            name = f"{responses[first].run}, {responses[first].task}, {responses[first].example}"
            if judgement.score is None:
                log(f"failed: {name}: {judgement.failure}: {judgement.error}")
            elif verbose:
                log(f"judged: {name}: {judgement.score:.1f}")

        judgements = judge_all(self.rater.judge, self.settings, list(places), add, check_first=True)
        if judgements:
            log(f"{self.rater.signature}, round {self.settings.repeat + 1}: {spent(judgements)}")
        return [rows[place] for place in sorted(rows)], judgements


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

    A file is written when its judge is done, in place of an earlier one.

    Args:
        responses: with answers right and wrong.
        models: settings for one or more judging models.
        prefix: of the files' paths, as in ``results/judged_``.
        repeats: how often each response is judged; each time is a call of its own.
        log: where one line about each failure goes, and one about each round.
        verbose: whether each judgement gets a line too.

    Raises:
        JudgeError: before anything is judged, if a model cannot be asked.
        TableError: if a file cannot be written.
    """
    paths = [Path(f"{prefix}{judge.name.replace('-', '')}.csv") for judge in judges]
    for path in paths:
        check_place(path, COLUMNS)
    judgements: list[Judgement] = []
    rows: list[JudgedRow] = []
    for judge, path in zip(judges, paths, strict=True):
        own: list[JudgedRow] = []
        for settings in models:
            for repeat in range(repeats):
                this = _Round(Rater(judge, settings.model), replace(settings, repeat=repeat))
                found, given = this.judge(responses, log, verbose)
                own += found
                judgements += given
        write_table(path, COLUMNS, own)
        rows += [{name: writable(cell) for name, cell in row.items()} for row in own]
    compared = compare(rows)
    if compared:
        paths.append(Path(f"{prefix}agreement.csv"))
        write_table(paths[-1], comparisons.COLUMNS, [comparison.as_row() for comparison in compared])
    judged = sum(judgement.score is not None for judgement in judgements)
    return Rescoring(list(summarise(rows)), compared, len(judgements), judged, paths)
