"""``medtasks compare RUN``: our verdicts on an imported run beside those of the harness that it comes from."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run
from medtasks_utils.writing import plain, shortened, table

_SHOWN = 3  # examples in a row, unless more are asked for
_KINDS = {
    (True, True): "both right",
    (True, False): "only ours right",
    (False, True): "only theirs right",
    (False, False): "both wrong",
}


@dataclass
class Verdicts:
    """How two scores of the same responses agree; an example is right if most of its generations are.

    Attributes:
        task: the task.
        filter: the filter of our score.
        score: the name of the other harness's score.
        counts: the numbers of examples that both, one or none of the scores count as right.
        differ: the examples on which they differ, as number, answer and target; by which is right, and by how the
            answer was found.
    """

    task: str
    filter: str
    score: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS.values(), 0))
    differ: dict[str, dict[str, list[tuple[int, str, str]]]] = field(default_factory=dict)

    def to_text(self, show: int) -> Iterator[str]:
        """Yield the agreement, and a row for each way in which answers were found where the verdicts differ."""
        n = sum(self.counts.values())
        agreement = (self.counts["both right"] + self.counts["both wrong"]) / n
        yield f"\n{self.task}  ({self.filter} and {self.score}): {100 * agreement:.1f} % of {n} verdicts agree"
        yield ", ".join(f"{kind} {count}" for kind, count in self.counts.items())
        rows = []
        for kind, by_way in self.differ.items():
            for way, examples in sorted(by_way.items()):
                texts = [
                    f"{number}: {answer} (target {target})" for number, answer, target in examples[: show or _SHOWN]
                ]
                rows.append((kind, way, len(examples), shortened("; ".join(texts), 100)))
        if rows:
            yield table(rows, ("", "found by", "n", "examples"), left=2)


@dataclass(frozen=True)
class VerdictsTable:
    """The result of ``medtasks compare RUN``; ``show`` is the number of examples in a row, 0 for three."""

    verdicts: Sequence[Verdicts]
    show: int
    failed: ClassVar[bool] = False

    def to_text(self) -> str:
        """Return the verdicts of each task, filter and score."""
        lines: list[str] = []
        for verdicts in self.verdicts:
            lines += verdicts.to_text(self.show)
        return "\n".join(lines).strip()

    def to_data(self) -> list[dict[str, Any]]:
        """Return the verdicts as JSON holds them."""
        return list(map(asdict, self.verdicts))


def compare_verdicts(run: Run, filters: Sequence[str], names: Sequence[str]) -> list[Verdicts]:
    """Return how the verdicts of each task agree with each of the other harness's scores.

    Args:
        run: an imported run.
        filters: the filters; ``strict-match`` if there are none.
        names: the other harness's scores to compare; all if there are none.

    Raises:
        MedtasksError: if the run has no such scores.
    """
    by_score: dict[tuple[str, str, str], Verdicts] = {}
    for task in run.tasks.values():
        for filter_name in filters or (DEFAULT_FILTER,):
            for sample in task.samples:
                ours = sample.metrics.get(filter_name, {}).get("acc")
                for name, theirs in sample.details.get(filter_name, {}).get("other_scores", {}).items():
                    if ours is None or (names and name not in names):
                        continue
                    key = (task.task, filter_name, name)
                    verdicts = by_score.setdefault(key, Verdicts(*key))
                    kind = _KINDS[ours > 0.5, theirs > 0.5]
                    verdicts.counts[kind] += 1
                    if (ours > 0.5) != (theirs > 0.5):
                        way = sample.way_found(filter_name) or "unknown"
                        answer = plain("/".join(sample.answers[filter_name]))
                        by_way = verdicts.differ.setdefault(kind, {})
                        by_way.setdefault(way, []).append((sample.doc_id, answer, plain(sample.target)))
    if not by_score:
        asked = ", ".join(names) or "scores of another harness"
        raise MedtasksError(f"{run.path} has no {asked}: name a second run to compare it with")
    return list(by_score.values())
