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
        doubted: the number of labels with known issues.
        contradicted: the number of labels that most runs contradict.
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
    contradicted: int = 0
    disputed: float = 0.0


def suspect_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in which every run is near chance or far below its other parts: their labels may be wrong."""
    return [part for part in parts if part.n >= FEW and part.scores and (_at_chance(part) or _is_far_off(part))]


def _at_chance(part: Part) -> bool:
    """Return True if every run's interval contains chance there, and every run is far better elsewhere."""
    if part.chance is None or min(part.elsewhere) <= part.chance + _FAR / 2:
        return False
    intervals = [(score.low, score.high) for score in part.scores]
    return all(low is not None and high is not None and low <= part.chance <= high for low, high in intervals)


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
    has_one_run = len({share.run for share in shares}) == 1
    return [
        *_suspect(parts[:2], has_one_run),
        *_labels(shares, "doubted", ""),
        *_labels(shares, "contradicted", "most runs contradict "),
        *_losses(shares, "cut", "Cut off", 2.0, has_one_run),
        *_losses(shares, "none", "No answer", 3.0, has_one_run),
        *_empty(shares, has_one_run),
        *_alike(shares, has_one_run),
        *_unranked(unranked),
        *_partial([share for share in shares if share.run not in unranked]),
        *_losses(shares, "form", "Wrong form", 2.0, has_one_run),
        *(Caution("Floor", f": {sentence}", "#methods") for sentence in floors),
        *_disputed(shares, has_one_run),
        *notes,
    ]


def _of(share: Shares, has_one_run: bool) -> str:
    """Name the benchmark that shares refer to, and the run if there are several."""
    return share.benchmark if has_one_run else f"{share.run}, {share.benchmark}"


def _suspect(parts: Sequence[Part], has_one_run: bool) -> Iterator[Caution]:
    """Yield a caution about each suspect part."""
    for part in parts:
        values = [score.value for score in part.scores]
        if has_one_run:
            far = f": {part.name} {one(values[0])} %, elsewhere {one(fmean(part.elsewhere))}"
            yield Caution("Far off", far, part.href)
        else:
            of_runs = f"every run {min(values):.0f} to {max(values):.0f} %"
            yield Caution("Labels in doubt", f": all of {part.benchmark}’s {part.name} ({of_runs})", part.href)


def _labels(shares: Sequence[Shares], kind: str, why: str) -> Iterator[Caution]:
    """Yield a caution about each benchmark of which 5 % of the labels or more are in doubt."""
    most = {share.benchmark: share for share in sorted(shares, key=lambda share: int(getattr(share, kind)))}
    for share in most.values():
        count = getattr(share, kind)
        if count and 20 * count >= share.asked:
            more = f": {why}{count:,} of {share.asked:,} in {share.benchmark}"
            yield Caution("Labels in doubt", more, share.hrefs[kind])


def _losses(shares: Sequence[Shares], kind: str, what: str, least: float, has_one_run: bool) -> Iterator[Caution]:
    """Yield a caution if a run loses so many per cent of its replies in one way."""
    lost = [share for share in shares if share.lost.get(kind, 0.0) >= least]
    if not lost:
        return
    worst = max(lost, key=lambda share: share.lost[kind])
    if has_one_run:
        more = joined([f"{share.counts[kind]:,} of {share.asked:,} in {share.benchmark}" for share in lost])
    else:
        of_run = [share for share in lost if share.run == worst.run]
        values = joined([f"{share.lost[kind]:.0f} %" for share in of_run])
        more = f"{values} of {worst.run} in {joined([share.benchmark for share in of_run])}"
        if others := len({share.run for share in lost}) - 1:
            more += f", and in {others} more run{'s' * (others > 1)}"
    yield Caution(what, f": {more}", worst.hrefs[kind])


def _empty(shares: Sequence[Shares], has_one_run: bool) -> Iterator[Caution]:
    """Yield a caution about empty replies."""
    empty = [share for share in shares if share.empty]
    if empty:
        worst = max(empty, key=lambda share: share.empty)
        more = f" in {_of(worst, has_one_run)}" + (f", and in {len(empty) - 1} more" if len(empty) > 1 else "")
        replies = "1 reply is" if worst.empty == 1 else f"{worst.empty:,} replies are"
        yield Caution(f"{replies} empty", more, worst.hrefs["empty"])


def _alike(shares: Sequence[Shares], has_one_run: bool) -> Iterator[Caution]:
    """Yield a caution about runs that nearly always give the same answer."""
    alike = [share for share in shares if share.alike >= 95]
    if alike:
        names = {share.run for share in alike}
        who = "it" if has_one_run else alike[0].run if len(names) == 1 else f"{len(names)} runs"
        where = joined(list(dict.fromkeys(share.benchmark for share in alike)))
        yield Caution("Nearly always the same answer", f": {who} on {where}", "#methods")


def _unranked(reasons: dict[str, str]) -> Iterator[Caution]:
    """Yield a caution about runs that are not ranked, with the first two reasons."""
    if reasons:
        distinct = list(dict.fromkeys(reason.partition(": ")[2] or reason for reason in reasons.values()))
        count = f"{len(reasons)} run{'s' * (len(reasons) > 1)} not ranked"
        yield Caution(count, f": {joined(distinct[:2])}", "#not-ranked")


def _partial(shares: Sequence[Shares]) -> Iterator[Caution]:
    """Yield a caution about benchmarks of which the ranked runs have only a part."""
    partial = sorted((share for share in shares if 0 < share.asked < share.available), key=lambda share: -share.asked)
    fewest = {share.benchmark: f"{share.asked:,} of {share.available:,} in {share.benchmark}" for share in partial}
    if fewest:
        yield Caution("Not all questions", f": {joined([*fewest.values()])}", "#methods")


def _disputed(shares: Sequence[Shares], has_one_run: bool) -> Iterator[Caution]:
    """Yield a caution about the run in which an audit differs most from what the rules read."""
    worst = max(shares, key=lambda share: share.disputed, default=None)
    if worst and worst.disputed > 2:
        more = f": {one(worst.disputed)} % of {_of(worst, has_one_run)}"
        yield Caution("An audit reads otherwise", more, worst.hrefs["audit"])
