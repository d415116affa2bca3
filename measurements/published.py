"""Compare published verdicts on published responses with this package's, and tell why they differ.

Usage: python measurements/published.py FOLDER --data DATA

FOLDER holds responses as ``medtasks selfcheck --published`` takes them, and ``published.json``, a list of the published
numbers: ``source``, ``run``, ``metric`` (``acc``, or ``acc:`` and the first letters of a category), ``published`` in
percent, and ``digits``. DATA is a data directory, as for ``--data``. The output is the page ``published.md``.

Each verdict that differs gets exactly one cause. A cause is a simple rule on what the response states, independent of
the filters. Exit code 1 if a verdict differs without a cause.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from medtasks_utils.extraction.letters import LETTERS
from medtasks_utils.filters import FLEXIBLE, STRICT
from medtasks_utils.selfcheck.published import PublishedRun, Verdict, score_published

SAME_PROTOCOL = {"medcalc"}
"""Sources that follow the protocol of the benchmark's authors; their verdicts are compared with ``strict-match``."""


def compared(source: str) -> str:
    """Return the filter whose verdicts are compared with those of a source."""
    return STRICT if source in SAME_PROTOCOL else FLEXIBLE


# ---- what a plain look finds

_KEY = re.compile(r'"answer(?:_choice)?"\s*:\s*"([^"]*)')
_ANSWER = re.compile(r"\banswer\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<![\w'’])(?<!N/)[A-E](?![\w'’])(?!\s+(?!and\b|or\b|is\b|are\b)[a-z])")
_VERDICTS = {
    "0": re.compile(r"\b0\b|\bnot (?:a )?hallucinat|\bis factual|^\W*factual", re.IGNORECASE),
    "1": re.compile(r"\b1\b|(?<!not )(?<!not a )\bhallucinat|\bnot factual", re.IGNORECASE),
    "2": re.compile(r"\b2\b|\bnot sure|\bunsure|\buncertain", re.IGNORECASE),
}
_SPELT_ALIKE = 90  # minimum similarity, 0 to 100, of an option and a statement


def statement(response: str) -> str:
    """Return what a response states as its answer: the value of a key, the text after the last "answer", or the end.

    >>> statement('{"thinking": "It is B.", "answer_choice": "A/B"}'), statement("Well. The answer is C.\\n\\nBye")
    ('A/B', 'is C.')
    """
    keys = _KEY.findall(response)
    if keys:
        return str(keys[-1])
    *_, last = _ANSWER.split(response.strip())
    lines = [line for line in last.splitlines() if line.strip(" *:.\n`")]
    with_letter = [line for line in lines if _LETTER.search(line)]
    return (with_letter or lines or response.splitlines() or [""])[0]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


# ---- causes


@dataclass
class Look:
    """A response on which the verdicts differ, and the answers that simple rules find in it.

    Attributes:
        response: the response.
        ours: our answer; None if we read none.
        source: the answer that the source read; None if that is unpublished or not an answer.
        options: the texts of the options; None for a verdict on a statement (0, 1 or 2).
    """

    response: str
    ours: str | None
    source: str | None = None
    options: Sequence[str] | None = None

    @cached_property
    def names(self) -> set[str]:
        """The answers that the statement names: options by letter or else by text, or verdicts."""
        text = statement(self.response)
        if self.options is None:
            return {answer for answer, pattern in _VERDICTS.items() if pattern.search(text)}
        letters = set(_LETTER.findall(text))
        return letters.intersection(LETTERS[: len(self.options)]) if letters else self.by_text

    @cached_property
    def by_text(self) -> set[str]:
        """The options whose text is in the statement, or nearly equals it."""
        said = _words(statement(self.response)).removeprefix("is ")
        return {
            letter
            for letter, option in zip(LETTERS, map(_words, self.options or ()), strict=False)
            if f" {option} " in f" {said} " or fuzz.ratio(option, said) >= _SPELT_ALIKE
        }


class Cause(NamedTuple):
    """A reason why verdicts differ: its name, whose reading causes it, and the rule, in words and as code."""

    name: str
    whose: str
    rule: str
    applies: Callable[[Look], bool]


CAUSES = (
    Cause("no reply", "source", "the response is empty", lambda look: not look.response.strip()),
    Cause(
        "cut in its reasoning",
        "source",
        "`<think>` is never closed, and the source takes an answer from inside",
        lambda look: look.ours is None and "<think>" in look.response and "</think>" not in look.response,
    ),
    Cause(
        "no answer counts as one",
        "source",
        "the response names no option (unable to answer, none of the above, E), and the source counts one, as a rule A",
        lambda look: look.ours is None and not look.names,
    ),
    Cause(
        "several answers count as one",
        "source",
        "the response names several answers, and the source takes one of them, as a rule the first",
        lambda look: look.ours is None and len(look.names) > 1 and look.source in {None, *look.names},
    ),
    Cause(
        "answer not found",
        "source",
        "the response names one answer, which the source does not find",
        lambda look: look.names == {look.ours} and look.source != look.ours,
    ),
    Cause(
        "letter and text disagree",
        "open",
        "the letter is one option's and the text another's: the source takes the letter, medtasks the text",
        lambda look: look.ours in look.by_text and look.ours not in look.names,
    ),
    Cause(
        "one of several answers",
        "medtasks",
        "the response names several answers, and medtasks takes one of them",
        lambda look: len(look.names) > 1 and look.ours in look.names,
    ),
    Cause(
        "answer missed",
        "medtasks",
        "the response names one answer, which medtasks does not read",
        lambda look: len(look.names) == 1 and look.ours is None and look.source in {None, *look.names},
    ),
    Cause(
        "answer not stated",
        "medtasks",
        "medtasks reads an answer that the statement does not name",
        lambda look: look.ours is not None and look.ours not in look.names,
    ),
)


def look_at(verdict: Verdict, filter_name: str) -> Look:
    """Return the look at a verdict's response; an answer of the source counts only if it is a letter or digit."""
    answer, read = verdict.answers[filter_name].value, verdict.record.get("source_read")
    return Look(
        response=verdict.record["response"],
        ours=None if answer is None else str(answer),
        source=read if read in (*LETTERS, *_VERDICTS) else None,
        options=verdict.example.get("options"),
    )


def cause_of(look: Look) -> str:
    """Return the name of the first cause whose rule applies; an empty string if none does."""
    return next((cause.name for cause in CAUSES if cause.applies(look)), "")


# ---- the page


class Cell(NamedTuple):
    """A published number, and the same number by the source's verdicts and by ours; all in percent."""

    metric: str
    published: str
    counted: str
    ours: str


def cells_of(run: PublishedRun, published: Sequence[dict[str, Any]]) -> Iterator[Cell]:
    """Yield the published numbers of a run; a metric names a category by its first letters."""
    for cell in published:
        if (cell["source"], cell["run"], cell["benchmark"]) != (run.source, run.name, run.benchmark):
            continue
        _, _, part = cell["metric"].partition(":")
        own = [one for one in run.verdicts if part in ("", "overall") or one.example["category"].startswith(part)]
        if not own:
            raise SystemExit(f"{run.source} {run.name}: no response belongs to {cell['metric']}")
        digits = cell["digits"]
        counted = 100 * fmean(one.record["source_verdict"] for one in own)
        ours = 100 * fmean(one.scores[compared(run.source)] for one in own)
        yield Cell(cell["metric"], f"{cell['published']:.{digits}f}", f"{counted:.{digits}f}", f"{ours:.{digits}f}")


def print_page(runs: Sequence[PublishedRun], published: Sequence[dict[str, Any]]) -> Counter[str]:
    """Print the tables, and return the number of differences by cause; an empty name counts those without a cause."""
    causes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    examples: dict[str, str] = {}
    lines: list[tuple[Any, ...]] = []
    reproduced: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for run in runs:
        filter_name, own = compared(run.source), Counter[str]()
        for one in run.verdicts:
            if not one.is_equal(filter_name):
                cause = cause_of(look_at(one, filter_name))
                own[cause] += 1
                examples.setdefault(cause, f"{run.source}, {run.name}, {one.record['id']}")
        group = run.source, run.benchmark
        causes[group] += own
        cells = list(cells_of(run, published))
        reproduced[group].update(_outcome(cell) for cell in cells)
        whole = next((cell.published for cell in cells if cell.metric in ("acc", "acc:overall")), "")
        data = run.to_data()
        scores = [f"{data[key]:.2f}" for key in ("source %", STRICT, FLEXIBLE)]
        same = f"{sum(cell.ours == cell.published for cell in cells)} of {len(cells)}" if cells else ""
        why = ", ".join(f"{name} {count}" for name, count in own.most_common())
        lines.append((run.source, run.benchmark, run.name, len(run.verdicts), whole, *scores, own.total(), why, same))
    print("## By source\n")
    _print_table(
        ("source", "benchmark", "runs", "verdicts", "equal", "different", *OUTCOMES),
        [
            (
                *group,
                sum((run.source, run.benchmark) == group for run in runs),
                sum(len(run.verdicts) for run in runs if (run.source, run.benchmark) == group),
                sum(
                    one.is_equal(compared(run.source))
                    for run in runs
                    if (run.source, run.benchmark) == group
                    for one in run.verdicts
                ),
                own.total(),
                *(reproduced[group][outcome] for outcome in OUTCOMES),
            )
            for group, own in causes.items()
        ],
    )
    print("\n## By cause\n")
    total = sum(causes.values(), Counter())
    _print_table(
        ("cause", "whose", "rule", *(source for source, _ in causes), "for example"),
        [
            (cause.name, cause.whose, cause.rule, *(own[cause.name] for own in causes.values()), examples[cause.name])
            for cause in CAUSES
            if total[cause.name]
        ],
    )
    print("\n## By run\n")
    head = ("source", "benchmark", "run", "n", "published", "counted again", STRICT, FLEXIBLE, "different", "causes")
    _print_table((*head, "cells equal"), lines)
    return total


OUTCOMES = ("cells equal", "cells that differ by the causes", "cells not of these verdicts")


def _outcome(cell: Cell) -> str:
    """Return the outcome for a published number: reproduced by our verdicts, by the source's only, or by neither."""
    if cell.ours == cell.published:
        return OUTCOMES[0]
    return OUTCOMES[1] if cell.counted == cell.published else OUTCOMES[2]


def _print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'|'.join('--:' if _is_number(cell) else '---' for cell in rows[0])}|")
    for row in rows:
        print(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |")


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int) or re.fullmatch(r"[\d.]+", str(cell)) is not None


def main() -> int:
    """Print the page."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", required=True)
    arguments = parser.parse_args()
    published = json.loads((arguments.folder / "published.json").read_bytes())
    causes = print_page(list(score_published(arguments.folder, arguments.data)), published)
    unexplained = causes[""]
    if unexplained:
        print(f"{unexplained} verdicts differ without a cause", file=sys.stderr)
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
