"""What the tables say in short: means per run and specialty and failures; and all results for the terminal."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tabulate import tabulate

from medtasks_utils.rescore.comparisons import Comparison
from medtasks_utils.rescore.rows import FAILED, JUDGED, SKIPPED, WRONG
from medtasks_utils.rescore.table import JudgedRow
from medtasks_utils.statistics import ExampleValue, MacroMean

MACRO = "macro average"
_LOOK: dict[str, Any] = {"tablefmt": "plain", "disable_numparse": True}


@dataclass(frozen=True)
class Line:
    """A judge's result on one run and specialty, or the macro average over a run's specialties.

    Attributes:
        examples: how many there are.
        counts: judgements by status; with several generations or repeats an example has several.
        failures: failed judgements by kind.
        score: mean over examples, 0–100, a wrong answer counting 0; skipped ones are left out, and failed ones count as
            the judged right answers do (:mod:`medtasks_utils.statistics`).
        stderr: its standard error.
        of_right: mean over the examples that the judge scored, so right ones alone.
    """

    judge: str
    run: str
    specialty: str
    examples: int
    counts: Counter[str]
    failures: Counter[str]
    score: float | None
    stderr: float | None
    of_right: float | None


def summarise(rows: Iterable[JudgedRow]) -> list[Line]:
    """Results per judge, run and specialty; after each run's specialties their unweighted mean.

    An example's score is the mean over its generations, and a generation's the mean over its repeats.
    """
    runs: dict[tuple[str, str], list[JudgedRow]] = defaultdict(list)
    for row in rows:
        runs[row["judge"], row["run"]].append(row)
    lines = []
    for (judge, run), own in runs.items():
        by_specialty: dict[str, list[JudgedRow]] = defaultdict(list)
        for row in own:
            by_specialty[row["specialty"]].append(row)
        for specialty in sorted(by_specialty):
            lines.append(_line(judge, run, specialty, by_specialty[specialty]))
        lines.append(_line(judge, run, f"{MACRO} of {len(by_specialty)}", own))
    return lines


def _line(judge: str, run: str, name: str, rows: Sequence[JudgedRow]) -> Line:
    scores, of_right = _examples(rows, (JUDGED, WRONG, FAILED)), _examples(rows, (JUDGED,))
    mean = MacroMean()  # of one specialty it is the mean
    return Line(
        judge,
        run,
        name,
        len({(row["specialty"], row["example"]) for row in rows}),
        Counter(row["status"] for row in rows),
        Counter(row["failure"] for row in rows if row["status"] == FAILED),
        _value(mean(scores)),
        _value(mean.stderr(scores)),
        _value(mean(of_right)),
    )


def _examples(rows: Iterable[JudgedRow], statuses: Sequence[str]) -> list[ExampleValue]:
    """One value an example: the mean over generations of the mean over repeats; a generation may lack its score."""
    generations: dict[tuple[str, str], dict[tuple[str, str], list[JudgedRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["status"] in statuses:
            generations[row["specialty"], row["example"]][row["task"], row["generation"]].append(row)
    values = []
    for (specialty, _), example in generations.items():
        repeats = [[float(row["score"]) for row in own if row["status"] != FAILED] for own in example.values()]
        scores = [fmean(own) for own in repeats if own]
        right = sum(own[0]["status"] != WRONG for own in example.values())
        value = fmean(scores) if scores else math.nan
        shares = [number / len(repeats) for number in (len(scores), right, len(repeats) - len(scores))]
        values.append(ExampleValue(value, None, specialty, (), *shares))
    return values


def _value(value: float | str) -> float | None:
    return value if isinstance(value, float) else None


# ---- for the terminal


def as_text(lines: Sequence[Line], comparisons: Sequence[Comparison]) -> str:
    """Both as tables of fixed width, one block a judge and run."""
    blocks = []
    for (judge, run), own in itertools.groupby(lines, key=lambda line: (line.judge, line.run)):
        head = ("", "score", "stderr", "of right", "examples", JUDGED, WRONG, SKIPPED, FAILED)
        table = [
            (
                line.specialty,
                _shown(line.score),
                _shown(line.stderr),
                _shown(line.of_right),
                line.examples,
                *(line.counts[status] for status in (JUDGED, WRONG, SKIPPED)),
                _failed(line.failures),
            )
            for line in own
        ]
        blocks.append(f"{judge}\n{run}\n{tabulate(table, head, **_LOOK)}")
    if comparisons:
        titles = ("Krippendorff's alpha between", "run", "alpha", "95 % interval", "examples", "means", "")
        names = _short_names({name for each in comparisons for name in (each.judge, each.other) if name})
        blocks.append(tabulate([_comparison(each, names) for each in comparisons], titles, **_LOOK))
    return "\n\n".join(blocks)


def as_data(lines: Sequence[Line], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Both as JSON can hold them."""
    return {
        "scores": [{**vars(line), "counts": dict(line.counts), "failures": dict(line.failures)} for line in lines],
        "agreement": [{**vars(each), "agreement": vars(each.agreement)} for each in comparisons],
    }


def _short_names(signatures: set[str]) -> dict[str, str]:
    """Each judge by its kind and model, where that sets it apart."""
    short = {signature: f"{signature.split('|')[0]} by {signature.split('|model:')[-1]}" for signature in signatures}
    taken = Counter(short.values())
    return {signature: name if taken[name] == 1 else signature for signature, name in short.items()}


def _comparison(comparison: Comparison, names: dict[str, str]) -> tuple[object, ...]:
    agreement = comparison.agreement
    return (
        f"{names[comparison.judge]}, {names.get(comparison.other, 'with itself')}",
        comparison.run,
        "-" if agreement.alpha is None else f"{agreement.alpha:.3f}",
        "" if agreement.low is None else f"{agreement.low:.3f} to {agreement.high:.3f}",
        agreement.examples,
        "" if comparison.mean is None else f"{comparison.mean:.1f} and {comparison.mean_other:.1f}",
        agreement.note,
    )


def _failed(failures: Counter[str]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in failures.most_common())
    return f"{failures.total()}" + (f" ({kinds})" if kinds else "")


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
