"""``medtasks compare RUN``: compare our verdicts on an imported run with those of the harness that it comes from."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

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

Verdict = dict[str, Any]
"""Two harnesses' verdicts on one example: ``task``, ``filter``, ``score`` (the name of the other harness's score),
``verdict`` (one of :data:`_KINDS`), ``doc_id``, ``found_by``, ``answers`` and ``target``."""


def compare_verdicts(run: Run, filters: Sequence[str], names: Sequence[str]) -> list[Verdict]:
    """Return, for each example and each of the other harness's scores, our verdict and theirs.

    A verdict is right if the mean over generations is above 0.5.

    Args:
        run: an imported run.
        filters: the filters whose answers count for us; empty for ``strict-match``.
        names: the other harness's scores to compare; empty for all.

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
                        verdicts.append(
                            {
                                "task": task.task,
                                "filter": filter_name,
                                "score": name,
                                "verdict": _KINDS[ours > 0.5, theirs[name] > 0.5],
                                "doc_id": sample.doc_id,
                                "found_by": sample.way_found(filter_name) or "unknown",
                                "answers": sample.answers[filter_name],
                                "target": sample.target,
                            }
                        )
    if not verdicts:
        asked = ", ".join(names) or "scores of another harness"
        raise MedtasksError(f"{run.path} has no {asked}: name a second run to compare it with")
    return verdicts


def as_text(verdicts: Sequence[Verdict], show: int) -> str:
    """Return a text: how often each score agrees with ours, and examples where they differ, by how answers were found.

    Args:
        verdicts: the result of :func:`compare_verdicts`.
        show: how many examples a row lists; 0 for three.
    """
    counts: dict[tuple[str, ...], Counter[str]] = {}
    differ: dict[tuple[str, ...], list[str]] = {}
    for verdict in verdicts:
        key = (verdict["task"], verdict["filter"], verdict["score"])
        counts.setdefault(key, Counter())[verdict["verdict"]] += 1
        if verdict["verdict"].startswith("only"):
            text = f"{verdict['doc_id']}: {'/'.join(verdict['answers'])} (target {verdict['target']})"
            differ.setdefault((*key, verdict["verdict"], verdict["found_by"]), []).append(plain(text))
    lines = []
    for (task, filter_name, score), count in counts.items():
        same = count["both right"] + count["both wrong"]
        n = count.total()
        lines.append(f"{task}  ({filter_name} and {score}): {100 * same / n:.1f} % of {n} verdicts agree")
        lines.append(", ".join(f"{kind} {count[kind]}" for kind in _KINDS.values()))
        rows = []
        for (*of, kind, way), examples in sorted(differ.items()):
            if of == [task, filter_name, score]:
                rows.append((kind, way, len(examples), shortened("; ".join(examples[: show or _SHOWN]), 100)))
        lines += [table(rows, ("", "found by", "n", "examples"), left=2), ""] if rows else [""]
    return "\n".join(lines).rstrip()
