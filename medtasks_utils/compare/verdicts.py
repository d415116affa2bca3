"""Compare our verdicts on an imported run with those of the harness it comes from: ``medtasks compare RUN``."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from medtasks_utils.errors import MedtasksError
from medtasks_utils.filters import DEFAULT_FILTER
from medtasks_utils.results import Run
from medtasks_utils.writing import plain, shortened, table

_SHOWN = 3  # default number of examples per row
_KINDS = {
    (True, True): "both right",
    (True, False): "only ours right",
    (False, True): "only theirs right",
    (False, False): "both wrong",
}

Verdict = dict[str, Any]
"""Two harnesses' verdicts on one example: ``task``, ``filter``, ``score`` (the name of the other harness's score),
``verdict`` (one of :data:`_KINDS`), ``doc_id``, ``found_by``, ``answers`` and ``target``."""


def compare_verdicts(run: Run, filters: Sequence[str], names: Sequence[str]) -> list[Verdict]:
    """Return our verdict and the other harness's, for each example and each of its scores.

    A verdict is right if the mean over generations is above 0.5.

    Args:
        run: an imported run.
        filters: the filters whose answers are our verdicts; empty for ``strict-match``.
        names: the other harness's scores to compare; empty for all scores.

    Raises:
        MedtasksError: if the run has no such scores.
    """
    verdicts = []
    for task in run.tasks.values():
        for filter_name in filters or (DEFAULT_FILTER,):
            for sample in task.samples:
                ours = sample.metrics.get(filter_name, {}).get("acc")
                theirs = sample.details.get(filter_name, {}).get("other_scores", {})
                for name in names or theirs:
                    if ours is not None and name in theirs:
                        verdict = {
                            "task": task.task,
                            "filter": filter_name,
                            "score": name,
                            "verdict": _KINDS[ours > 0.5, theirs[name] > 0.5],
                            "doc_id": sample.doc_id,
                            "found_by": sample.way_found(filter_name) or "unknown",
                            "answers": sample.answers[filter_name],
                            "target": sample.target,
                        }
                        verdicts.append(verdict)
    if not verdicts:
        asked = ", ".join(names) or "scores of another harness"
        raise MedtasksError(f"{run.path} has no {asked}; name a second run with which to compare it")
    return verdicts


def as_text(verdicts: Sequence[Verdict], show: int) -> str:
    """Format verdicts as text: how often each score agrees with ours, and examples of each kind of disagreement.

    Args:
        verdicts: the result of :func:`compare_verdicts`.
        show: the number of examples to show in each row of the table; 0 for the default of three.
    """
    by_score: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_score[verdict["task"], verdict["filter"], verdict["score"]].append(verdict)
    lines = []
    for (task, filter_name, score), of_score in by_score.items():
        count: Counter[str] = Counter()
        differ: dict[tuple[str, str], list[str]] = defaultdict(list)
        for verdict in of_score:
            kind = verdict["verdict"]
            count[kind] += 1
            if kind.startswith("only"):
                text = f"{verdict['doc_id']}: {'/'.join(verdict['answers'])} (target {verdict['target']})"
                differ[kind, verdict["found_by"]].append(plain(text))
        share = 100 * (count["both right"] + count["both wrong"]) / len(of_score)
        lines.append(f"{task}  ({filter_name} and {score}): {share:.1f} % of {len(of_score)} verdicts agree")
        lines.append(", ".join(f"{kind} {count[kind]}" for kind in _KINDS.values()))
        rows = []
        for (kind, way), examples in sorted(differ.items()):
            rows.append((kind, way, len(examples), shortened("; ".join(examples[: show or _SHOWN]), 100)))
        lines += [table(rows, ("", "found by", "n", "examples"), left=2), ""] if rows else [""]
    return "\n".join(lines).rstrip()
