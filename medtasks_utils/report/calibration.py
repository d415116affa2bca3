"""Show models' confidence against their accuracy: reliability diagrams and risk–coverage curves.

``docs/calibration.md`` explains both to readers.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from medtasks_utils.errors import MedtasksError
from medtasks_utils.results import Run, TaskRun
from medtasks_utils.results.samples import mapping
from medtasks_utils.statistics.calibration import Confidences, binned, risks
from medtasks_utils.statistics.intervals import confidence_interval, estimate_from_results
from medtasks_utils.statistics.metrics import ACC
from medtasks_utils.statistics.score_arrays import MetricScores
from medtasks_utils.writing import filled

Point = tuple[float, float]
"""The share of answers given (coverage), and the share of wrong ones among them (risk)."""

_POINTS = 100  # maximum number of points of a drawn curve


class ReliabilityBin(NamedTuple):
    """The n answers of a bin: their mean confidence, and their share of right answers with its 95 % interval."""

    confidence: float
    right: float
    low: float
    high: float
    n: int


class Calibration(NamedTuple):
    """The agreement of a run's confidences with the correctness of its answers to a task, by the default filter.

    Attributes:
        origin: one or more of ``logits``, ``stated`` and ``agreement``; empty if there is only the point.
        bins: the reliability diagram.
        curve: the risk–coverage curve; it ends at the share of answers with a confidence.
        point: coverage and risk without the abstaining answers; None if no answer abstains, or all do.
    """

    run: str
    task: str
    origin: str
    bins: list[ReliabilityBin]
    curve: list[Point]
    point: Point | None


def reliability(scores: MetricScores) -> list[ReliabilityBin]:
    """Return the bins of answers with a confidence, by ascending confidence."""
    confidences = Confidences.of(scores)
    _, sizes, rights, errors = binned(confidences, confidences.right)
    bins = zip(binned(confidences, confidences.confidence).mean, rights, errors, sizes.tolist(), strict=True)
    return [
        ReliabilityBin(confidence, right, *(confidence_interval(ACC, right, error, n, n) or (0.0, 1.0)), n)
        for confidence, right, error, n in bins
    ]


def risk_coverage(scores: MetricScores) -> list[Point]:
    """Return the points of the risk–coverage curve, from the most confident answer on; empty without answers."""
    risk = risks(Confidences.of(scores))
    return [((place + 1) / scores.counted.size, value) for place, value in enumerate(risk.tolist())]


def of_abstaining(task: TaskRun) -> Point | None:
    """Return coverage and risk without the abstaining answers; None if no answer abstains, or all do."""
    abstention, name = task.facts.abstention, task.default_filter
    answered = [
        (abstention is None or answer != abstention.answer, score == 1)
        for sample in task.samples
        for answer, score in zip(sample.answers.get(name, ()), sample.scores_of(name, "acc"), strict=False)
    ]
    right = [is_right for decides, is_right in answered if decides]
    if len(right) in (0, len(answered)):
        return None
    return len(right) / len(answered), 1 - float(np.mean(right))


def calibrations(runs: Sequence[Run]) -> list[Calibration]:
    """Return the calibration of each run on each task where some answers have confidences or abstain, by task."""
    shown = []
    for run in runs:
        for task in run.tasks.values():
            name = task.default_filter if task.default_filter in task.filters else next(iter(task.filters), "")
            scores, point = task.metric_scores(name, "ece"), of_abstaining(task)
            curve = risk_coverage(scores) if scores.counted.any() else []
            drawn = curve[:: -(-len(curve) // _POINTS)] + curve[-1:] if curve else []
            bins = reliability(scores) if curve else []
            if curve or point:
                shown.append(Calibration(run.name, task.task, origins(task, name), bins, drawn, point))
    return sorted(shown, key=lambda of_task: of_task.task)


def origins(task: TaskRun, filter_name: str) -> str:
    """Return the distinct origins of a task's confidences, joined by *and*; empty if none is logged."""
    details = (sample.details.get(filter_name, {}) for sample in task.samples)
    confidences = (mapping(of_sample.get("confidence")) for of_sample in details)
    return " and ".join(filter(None, dict.fromkeys(str(logged.get("origin", "")) for logged in confidences)))


def to_draw(runs: Sequence[Run]) -> list[Calibration]:
    """Return :func:`calibrations`; if there are none, raise a MedtasksError that explains how to get confidences."""
    drawn = calibrations(runs)
    if not drawn:
        raise MedtasksError(
            "no answer has a confidence: run with --set BENCHMARK.ask_confidence=true or repeats above 1, or a task "
            "whose name ends in _logits, and with --log_samples"
        )
    return drawn


def confidence_lines(run: Run) -> Iterator[str]:
    """Yield a line for each task that reports an ECE, with AUROC and ``acc@80``, under the first filter with an ECE."""
    for task in run.tasks.values():
        name = next((name for metric, name in task.metrics if metric == "ece"), "")
        shown = []
        for metric, words in (("ece", "ECE"), ("auroc", "AUROC"), ("acc@80", "acc of the surest 80 %")):
            if value := task.metrics.get((metric, name)):
                result = estimate_from_results(task.metric(metric), value.value, value.stderr, task.asked)
                ends = result.ends(ACC)
                shown.append(f"{words} {ACC.shown(value.value)}" + f" ({ends})" * bool(ends))
        if shown:
            yield filled(f"{task.task}, how sure: {', '.join(shown)}", "  ")
