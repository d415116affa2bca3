"""Measure bias and coverage of the metrics of confidences, by simulating models of known calibration.

Usage: python measurements/calibration.py [--draws 500] [--seed 1]

A model's confidence is drawn from Beta(4, 2), or from six values; its answer is right with a probability that follows
from the confidence. The true value of a metric is that over half a million answers; a calibrated model's ECE is 0.
Prints the tables of measurements/calibration.md.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np

from medtasks_utils.statistics.calibration import Confidences, binned
from medtasks_utils.statistics.intervals import estimate
from medtasks_utils.statistics.metrics import CONFIDENCE_METRICS
from medtasks_utils.statistics.score_arrays import MetricScores

METRICS = [metric for metric in CONFIDENCE_METRICS if metric.aggregation.logged_as]
MODELS = {
    "calibrated": (False, lambda confidence: confidence),
    "slightly too sure": (False, lambda confidence: np.clip(confidence - 0.03, 0, 1)),
    "too sure": (False, lambda confidence: confidence**1.6),
    "six values, too sure": (True, lambda confidence: 0.85 * confidence),
}
VALUES, SHARES = [0.5, 0.7, 0.8, 0.9, 0.95, 1.0], [0.05, 0.1, 0.2, 0.3, 0.25, 0.1]


def drawn(rng: np.random.Generator, model: str, n: int, in_pairs: bool = False) -> MetricScores:
    """Draw n answers; in pairs, two answers have the same confidence, and half of the pairs the same outcome."""
    has_values, right_with = MODELS[model]
    draws = n // 2 if in_pairs else n
    confidence = rng.choice(VALUES, draws, p=SHARES) if has_values else rng.beta(4, 2, draws)
    chance, cluster = rng.random(draws), np.arange(draws)
    if in_pairs:
        other = np.where(rng.random(draws) < 0.5, chance, rng.random(draws))
        chance, confidence, cluster = np.concatenate([chance, other]), np.tile(confidence, 2), np.tile(cluster, 2)
    right = (chance < right_with(confidence)).astype(float)
    terms = np.stack([right, confidence], axis=1)[:, None]
    all_apply = np.ones(len(right), dtype=bool)
    zeros = np.zeros(len(right), dtype=np.intp)
    return MetricScores(terms, np.ones_like(terms), np.zeros((len(right), 1)), cluster, zeros, all_apply, all_apply)


def plain_ece(scores: MetricScores) -> float:
    """Return the expected calibration error over the same bins, without the correction."""
    given = Confidences.of(scores)
    bins = binned(given, given.right - given.confidence)
    return float((np.abs(bins.mean) * bins.size).sum() / bins.size.sum())


@cache
def truth_of(model: str) -> dict[str, float]:
    """Return the true value of each metric."""
    large = drawn(np.random.default_rng(0), model, 500_000)
    truth = {metric.name: metric.aggregation.value(large) or 0.0 for metric in METRICS}
    return truth | ({"ece": 0.0, "brier_reliability": 0.0} if model == "calibrated" else {})


def cell(model: str, n: int, in_pairs: bool, draws: int, seed: int) -> dict[str, Any]:
    """Return the true ECE, the means of both estimates of it, and the coverage of intervals by metric."""
    truth = truth_of(model)
    rng = np.random.default_rng([seed, n, len(model), in_pairs])
    held, ece, plain = dict.fromkeys(truth, 0), 0.0, 0.0
    for _ in range(draws):
        scores = drawn(rng, model, n, in_pairs)
        plain += plain_ece(scores) / draws
        for metric in METRICS:
            found = estimate(scores, metric)
            ece += (found.value or 0.0) / draws if metric.name == "ece" else 0
            if found.interval:
                held[metric.name] += found.interval.low - 1e-9 <= truth[metric.name] <= found.interval.high
    return {"truth": truth["ece"], "plain": plain, "debiased": ece, **{name: held[name] / draws for name in held}}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    cells = [(model, n, in_pairs) for model in MODELS for n in (300, 1000) for in_pairs in (False, True)]
    found = {one: cell(*one, given.draws, given.seed) for one in cells}
    print("| model | n | in pairs | true ECE | plain, mean | debiased, mean |\n|---|---|---|---|---|---|")
    for (model, n, in_pairs), of in found.items():
        numbers = " | ".join(f"{100 * of[name]:.1f}" for name in ("truth", "plain", "debiased"))
        print(f"| {model} | {n} | {'yes' if in_pairs else 'no'} | {numbers} |")
    names = [metric.name for metric in METRICS]
    print(f"\n| model | n | in pairs | {' | '.join(names)} |\n|---|---|---|{'---|' * len(names)}")
    for (model, n, in_pairs), of in found.items():
        print(f"| {model} | {n} | {'yes' if in_pairs else 'no'} | {' | '.join(f'{100 * of[x]:.1f}' for x in names)} |")
    print("\nLowest mean coverage of a metric:", *min((np.mean([of[x] for of in found.values()]), x) for x in names))


if __name__ == "__main__":
    main()
