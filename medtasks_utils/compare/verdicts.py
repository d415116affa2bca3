"""Compare our verdicts on an imported run with those of its own harness: ``medtasks compare RUN``."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Run
from medtasks_utils.writing import JsonObject, shortened, table

_WIDTH = 36  # maximum characters of a row's examples
_KINDS = {
    (True, True): "both right",
    (True, False): "only ours right",
    (False, True): "only theirs right",
    (False, False): "both wrong",
}

Verdict = JsonObject
"""Two harnesses' verdicts on one example: ``task``, ``filter``, ``score`` (the name of the other harness's score),
``verdict`` (one of :data:`_KINDS`), ``doc_id``, ``found_by``, ``answers`` and ``target``."""


def compare_verdicts(run: Run, filter_name: str | None, names: Sequence[str]) -> list[Verdict]:
    """Return our verdict and the other harness's, for each example and each score of that harness.

    A verdict is right if the mean over generations is above 0.5. Our verdicts are on the answers of the named filter;
    None for the default of each task (:attr:`.TaskRun.default_filter`). Without ``names``, all scores of the other
    harness are compared.

    Raises:
        MedtasksError: if no example has such a score.
    """
    verdicts = []
    for task in run.tasks.values():
        by = filter_name or task.default_filter
        for sample in task.samples:
            ours = sample.metrics.get(by, {}).get("acc")
            theirs = sample.details.get(by, {}).get("other_scores", {})
            for name in names or theirs:
                if ours is not None and name in theirs:
                    verdicts.append(
                        {
                            "task": task.task,
                            "filter": by,
                            "score": name,
                            "verdict": _KINDS[ours > 0.5, theirs[name] > 0.5],
                            "doc_id": sample.doc_id,
                            "found_by": sample.way_found(by) or "unknown",
                            "answers": sample.answers[by],
                            "target": sample.target,
                        }
                    )
    if not verdicts:
        asked = ", ".join(names) or "scores of another harness"
        raise MedtasksError(f"{run.path} has no {asked}; name a second run to compare it with")
    return verdicts


def verdict_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the rate of agreement for each score, and a table of the verdicts with their first examples."""
    score_of, row_of = itemgetter("task", "score"), itemgetter("verdict", "found_by")
    for (task, score), group in groupby(sorted(verdicts, key=score_of), score_of):
        of_score = sorted(group, key=row_of)
        share = sum(verdict["verdict"].startswith("both") for verdict in of_score) / len(of_score)
        yield f"{task}  ({of_score[0]['filter']} and {score}): {100 * share:.1f} % of {len(of_score)} verdicts agree"
        rows = []
        for cells, of_row in groupby(of_score, row_of):
            texts = [f"{row['doc_id']}: {'/'.join(row['answers'])} (target {row['target']})" for row in of_row]
            rows.append((*cells, len(texts), shortened("; ".join(texts), _WIDTH)))
        yield table([("", "found by", "n", "examples"), *rows], left=(0, 1, 3))
