"""Find reasons to distrust the numbers, most serious first, each with a link to the evidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from .board import FEW, Score
from .drawing import joined, one, span

_FAR = 30.0  # points below a run's other parts


class Caution(NamedTuple):
    """A chip on the page: the problem in bold, details, and a link. ``is_mild`` is True if it only informs."""

    what: str
    more: str
    href: str
    is_mild: bool = False

    @property
    def text(self) -> str:
        """The headline and details as one sentence."""
        return self.what + self.more


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a benchmark's examples.

    Attributes:
        n: the number of examples.
        scores: the score of each ranked run on the part.
        elsewhere: the mean score of each ranked run on the other parts.
        chance: the accuracy of guessing, in per cent; None if unknown.
        href: a link to the samples.
    """

    benchmark: str
    name: str
    n: int
    scores: Sequence[Score]
    elsewhere: Sequence[float]
    chance: float | None
    href: str


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Counts of questionable replies and labels of a run on a benchmark.

    Attributes:
        asked: the number of evaluated questions.
        available: the number of questions in the benchmark; 0 if unknown.
        counts: by kind (:data:`_KINDS`), the number of questions; kinds whose number is unknown are left out.
        hrefs: links to the samples, by kind.
        disputed: the estimated percentage of responses on which the auditor and the filter disagree.
    """

    run: str
    benchmark: str
    asked: int
    available: int = 0
    counts: Mapping[str, float] = field(default_factory=dict)
    hrefs: Mapping[str, str] = field(default_factory=dict)
    disputed: float = 0.0

    def percent(self, kind: str) -> float:
        """Return the percentage of questions of a kind; 0 if unknown."""
        return self.disputed if kind == "audit" else 100 * self.counts.get(kind, 0.0) / (self.asked or 1)


_KINDS = {
    "doubted": ("Labels in doubt", 5.0),
    "contradicted": ("Labels that most runs contradict", 5.0),
    "cut": ("Cut off", 2.0),
    "none": ("No answer", 3.0),
    "empty": ("Empty replies", 0.001),
    "alike": ("Nearly always the same answer", 95.0),
    "form": ("Wrong form", 2.0),
    "audit": ("An audit reads otherwise", 2.0),
}
"""The name of each kind of caution, and the minimum percentage of questions to show it."""
_OF_LABELS = ("doubted", "contradicted")
"""The kinds that concern the data."""


def suspect_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of at least 30 examples whose labels may be wrong.

    On such a part, every run is at chance, or far below its score on the other parts.
    """
    return [part for part in parts if part.n >= FEW and part.scores and (_at_chance(part) or _is_far_off(part))]


def _at_chance(part: Part) -> bool:
    """Return whether every run's interval contains chance, although every run is far better elsewhere."""
    if part.chance is None or min(part.elsewhere) <= part.chance + _FAR / 2:
        return False
    intervals = [(score.low, score.high) for score in part.scores]
    return all(low is not None and high is not None and low <= part.chance <= high for low, high in intervals)


def _is_far_off(part: Part) -> bool:
    """Return whether even the best run on the part is far below its score elsewhere."""
    best, elsewhere = max(zip((score.value for score in part.scores), part.elsewhere, strict=True))
    return best < elsewhere - _FAR


def cautions(
    shares: Sequence[Shares],
    parts: Sequence[Part],
    unranked: dict[str, str],
    notes: Sequence[Caution] = (),
    floors: Sequence[str] = (),
) -> list[Caution]:
    """Return all cautions, most serious first.

    Args:
        shares: the counts of each run on each benchmark.
        parts: the suspect parts (:func:`suspect_parts`), of which the first two cause a caution.
        unranked: by run, the reason why it is not ranked.
        notes: additional cautions, such as about imported runs, which come last.
        floors: sentences about benchmarks on which no run is above the score without the question.
    """
    is_alone = len({share.run for share in shares}) == 1
    of_kind = {kind: list(_of_kind(shares, kind, is_alone)) for kind in _KINDS}
    return [
        *map(_suspect, parts[:2]),
        *chain(*(of_kind[kind] for kind in ("doubted", "contradicted", "cut", "none", "empty", "alike"))),
        *on_unranked(unranked),
        *_partial([share for share in shares if share.run not in unranked]),
        *of_kind["form"],
        *(Caution("Floor", f": {sentence}", "#methods") for sentence in floors),
        *of_kind["audit"],
        *notes,
    ]


def _suspect(part: Part) -> Caution:
    """Return a caution about a suspect part; with a single run, the run itself may be at fault."""
    values = [score.value for score in part.scores]
    if len(values) == 1:
        far = f"{one(values[0])} %, elsewhere {one(part.elsewhere[0])}"
        return Caution("Far off", f": {part.benchmark}’s {part.name} {far}", part.href)
    far = f"(every run {span(values)} %)"
    return Caution("Labels in doubt", f": all of {part.benchmark}’s {part.name} {far}", part.href)


def _of_kind(shares: Sequence[Shares], kind: str, is_alone: bool) -> Iterator[Caution]:
    """Yield a caution about the run with the highest share of a kind, and the number of other runs above the limit.

    For labels, the caution covers all benchmarks above the limit. Nothing is yielded if no share reaches the limit.
    """
    what, least = _KINDS[kind]
    many = [share for share in shares if share.percent(kind) >= least]
    if not many:
        return
    worst = max(many, key=lambda share: share.percent(kind))
    of_run = [share for share in many if share.run == worst.run]
    if kind in _OF_LABELS:
        of_run = [*{share.benchmark: share for share in reversed(many)}.values()][::-1]
    if kind in worst.counts and (is_alone or kind in _OF_LABELS):
        more = joined([f"{share.counts[kind]:,.0f} of {share.asked:,} in {share.benchmark}" for share in of_run])
    else:
        values = joined([f"{_rounded(share.percent(kind))} %" for share in of_run])
        who = "" if is_alone else f" of {worst.run}"
        more = f"{values}{who} in {joined([share.benchmark for share in of_run])}"
        if others := len({share.run for share in many}) - 1:
            more += f", and in {others} more run{'s' * (others > 1)}"
    yield Caution(what, f": {more}", worst.hrefs[kind])


def _rounded(percent: float) -> str:
    return f"{percent:.0f}" if percent >= 1 else f"{percent:.1g}"


def on_unranked(reasons: dict[str, str]) -> Iterator[Caution]:
    """Yield a caution about runs that are not ranked, with the first two reasons; nothing if all runs are ranked."""
    if reasons:
        distinct = list(dict.fromkeys(reasons.values()))
        count = f"{len(reasons)} run{'s' * (len(reasons) > 1)} not ranked"
        why = joined(distinct[:2])
        of_benchmarks = f" on {why}".replace("; ", ", on ")
        yield Caution(count, of_benchmarks if ": " in why else f": {why}", "#not-ranked")


def _partial(shares: Sequence[Shares]) -> Iterator[Caution]:
    """Yield a caution about benchmarks that the ranked runs cover only in part; nothing if they cover all fully."""
    partial = sorted((share for share in shares if 0 < share.asked < share.available), key=lambda share: -share.asked)
    fewest = {share.benchmark: f"{share.asked:,} of {share.available:,} in {share.benchmark}" for share in partial}
    if fewest:
        yield Caution("Not all questions", f": {joined([*fewest.values()])}", "#methods")
