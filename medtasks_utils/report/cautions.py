"""Find what to distrust before one relies on the numbers: the worst first, each with a link to what shows it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from .board import Score
from .drawing import joined, one

FEW = 30
"""The fewest examples of a part that is judged."""
_FAR = 30.0  # points below a run's other parts


class Caution(NamedTuple):
    """A chip: what is wrong, in bold, and more about it, with a link; ``is_mild`` if it only informs."""

    what: str
    more: str
    href: str
    is_mild: bool = False

    @property
    def text(self) -> str:
        """The whole as a sentence."""
        return self.what + self.more


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a benchmark's examples, with each ranked run's score there and its mean elsewhere."""

    benchmark: str
    name: str
    n: int
    scores: Sequence[Score]
    elsewhere: Sequence[float]
    chance: float | None
    href: str


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What is known of a run on a benchmark: percentages, and the numbers of examples behind them.

    Attributes:
        lost: by kind (``cut``, ``none``, ``form``), the percentage; without kinds that are not known.
        counts: the same as numbers of examples.
        empty: the number of empty replies.
        alike: the percentage of replies with the most frequent answer.
        asked: the number of questions.
        available: the number of all questions; 0 if it is not known.
        hrefs: links to the samples, by kind.
        doubted: the number of labels in doubt.
        disputed: the percentage of audited replies in which an LLM reads something else.
    """

    run: str
    benchmark: str
    lost: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    empty: int = 0
    alike: float = 0.0
    asked: int = 0
    available: int = 0
    hrefs: dict[str, str] = field(default_factory=dict)
    doubted: int = 0
    disputed: float = 0.0


def suspect_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in which every run is near chance or far below its other parts: their labels may be wrong."""
    return [part for part in parts if part.n >= FEW and part.scores and (_at_chance(part) or _is_far_off(part))]


def _at_chance(part: Part) -> bool:
    """Return True if every run's interval contains chance there, and every run is far better elsewhere."""
    if part.chance is None or any(score.low is None or score.high is None for score in part.scores):
        return False
    contained = all((score.low or 0.0) <= part.chance <= (score.high or 0.0) for score in part.scores)
    return contained and min(part.elsewhere) > part.chance + _FAR / 2


def _is_far_off(part: Part) -> bool:
    """Return True if the best run is far below what it has elsewhere."""
    best, elsewhere = max(zip((score.value for score in part.scores), part.elsewhere, strict=True))
    return best < elsewhere - _FAR


def cautions(
    shares: Sequence[Shares],
    parts: Sequence[Part],
    unranked: dict[str, str],
    notes: Sequence[Caution] = (),
    floors: Sequence[str] = (),
) -> list[Caution]:
    """Return all cautions, the worst first.

    Args:
        shares: of each run on each benchmark.
        parts: the suspect parts (:func:`suspect_parts`).
        unranked: by run, the reason why it is not ranked.
        notes: further cautions, such as of imported runs, which come last.
        floors: sentences about benchmarks on which no run is above the score without the question.
    """
    runs = len({share.run for share in shares})
    found = [
        *_labels(parts, shares, runs),
        *_losses(shares, "cut", "Cut off", 2.0, runs),
        *_losses(shares, "none", "No answer", 3.0, runs),
        *_empty(shares, runs),
        *_alike(shares, runs),
    ]
    if unranked:
        reasons = joined(list(dict.fromkeys(reason.partition(": ")[2] or reason for reason in unranked.values()))[:2])
        count = f"{len(unranked)} run{'s' * (len(unranked) > 1)} not ranked"
        found.append(Caution(count, f": {reasons}", "#not-ranked"))
    found += [*_partial(shares, unranked), *_losses(shares, "form", "Wrong form", 2.0, runs)]
    found += [Caution("Floor", f": {sentence}", "#methods") for sentence in floors]
    disputed = [share for share in shares if share.disputed > 2]
    found += [
        Caution(
            "An audit reads otherwise",
            f": {one(share.disputed)} % of {_of(share, runs)}",
            share.hrefs["audit"],
        )
        for share in disputed[:1]
    ]
    return [*found, *notes]


def _of(share: Shares, runs: int) -> str:
    """Name the benchmark that shares refer to, and the run if there are several."""
    return f"{share.run}, {share.benchmark}" if runs > 1 else share.benchmark


def _labels(parts: Sequence[Part], shares: Sequence[Shares], runs: int) -> Iterator[Caution]:
    """Yield a caution about suspect parts, and one about labels with known issues."""
    for part in parts[:2]:
        values = [score.value for score in part.scores]
        if runs == 1:
            yield Caution(
                "Far off", f": {part.name} {one(values[0])} %, elsewhere {one(fmean(part.elsewhere))}", part.href
            )
        else:
            more = f": all of {part.benchmark}’s {part.name} (every run {min(values):.0f} to {max(values):.0f} %)"
            yield Caution("Labels in doubt", more, part.href)
    by_benchmark = {share.benchmark: share for share in shares if share.asked and 20 * share.doubted >= share.asked}
    for share in by_benchmark.values():
        more = f": {share.doubted:,} of {share.asked:,} in {share.benchmark}"
        yield Caution("Labels in doubt", more, share.hrefs["doubted"])


def _losses(shares: Sequence[Shares], kind: str, what: str, least: float, runs: int) -> Iterator[Caution]:
    """Yield a caution if a run loses much in one way, or two points more than another run."""
    known = [share for share in shares if kind in share.lost]
    lost = [share for share in known if share.lost[kind] >= least]
    if not lost:
        return
    worst = max(lost, key=lambda share: share.lost[kind])
    if runs == 1:
        more = joined([f"{share.counts[kind]:,} of {share.asked:,} in {share.benchmark}" for share in lost])
    else:
        of_run = [share for share in lost if share.run == worst.run]
        values = joined([f"{share.lost[kind]:.0f} %" for share in of_run])
        others = len({share.run for share in lost}) - 1
        of = joined([share.benchmark for share in of_run])
        more = f"{values} of {worst.run} in {of}" + (
            f", and in {others} more run{'s' * (others > 1)}" if others else ""
        )
    yield Caution(what, f": {more}", worst.hrefs[kind])


def _empty(shares: Sequence[Shares], runs: int) -> Iterator[Caution]:
    """Yield a caution about empty replies."""
    empty = [share for share in shares if share.empty]
    if empty:
        worst = max(empty, key=lambda share: share.empty)
        more = f" in {_of(worst, runs)}" + (f", and in {len(empty) - 1} more" if len(empty) > 1 else "")
        replies = "1 reply is" if worst.empty == 1 else f"{worst.empty:,} replies are"
        yield Caution(f"{replies} empty", more, worst.hrefs["empty"])


def _alike(shares: Sequence[Shares], runs: int) -> Iterator[Caution]:
    """Yield a caution about runs that nearly always give the same answer."""
    alike = [share for share in shares if share.alike >= 95]
    if alike:
        names = list(dict.fromkeys(share.run for share in alike))
        who = names[0] if len(names) == 1 else f"{len(names)} runs"
        where = joined(list(dict.fromkeys(share.benchmark for share in alike)))
        yield Caution("Nearly always the same answer", f": {who if runs > 1 else 'it'} on {where}", "#methods")


def _partial(shares: Sequence[Shares], unranked: dict[str, str]) -> Iterator[Caution]:
    """Yield a caution about benchmarks of which the ranked runs have only a part."""
    ranked = [share for share in shares if share.run not in unranked and 0 < share.asked < share.available]
    by_benchmark = {share.benchmark: share for share in sorted(ranked, key=lambda share: -share.asked)}
    if by_benchmark:
        of = joined([f"{share.asked:,} of {share.available:,} in {name}" for name, share in by_benchmark.items()])
        yield Caution("Not all questions", f": {of}", "#methods")
