"""Samples whose example has two labels: the benchmark's own, and one that physicians corrected.

A run logs with each sample how its answer does by the label that the run is not scored on (``other_label``), where that
was at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from medtasks_utils.benchmarks import cards
from medtasks_utils.benchmarks.medcalc_bench.benchmark import PHYSICIANS
from medtasks_utils.harness.signature import digest
from medtasks_utils.results.samples import Sample

LabelSet = Literal["original", "corrected"]


def own_labels(sample: Sample) -> LabelSet:
    """The labels that the run was scored on."""
    return "corrected" if sample.doc.get("labels") == PHYSICIANS else "original"


def other_labels(sample: Sample, filter_name: str) -> list[dict[str, Any]]:
    """What was logged of the other label, for each generation; nothing where the example has one label."""
    logged = sample.details.get(filter_name, {}).get("other_label")
    return [each for each in (logged if isinstance(logged, list) else [logged]) if isinstance(each, dict)]


def labels_differ(sample: Sample, filter_name: str) -> bool:
    """Whether the two labels of a sample differ in substance."""
    return any(other.get("differs") for other in other_labels(sample, filter_name))


def scored_by(samples: Iterable[Sample], labels: LabelSet, benchmark: str) -> list[Sample]:
    """The samples that have two labels, with ``acc`` by the labels wanted, whichever the run was scored on.

    Other metrics are left out. The same example has the same hash under both labels.
    """
    fields = cards()[benchmark].example_fields
    found = []
    for sample in samples:
        others = {name: each for name in sample.metrics if (each := other_labels(sample, name))}
        if not others:
            continue
        is_own = own_labels(sample) == labels
        doc = {name: sample.doc.get(name) for name in fields}
        metrics = {
            name: {
                "acc": sample.metrics[name].get("acc") if is_own else sum(bool(o["right"]) for o in each) / len(each)
            }
            for name, each in others.items()
        }
        target = sample.target if is_own else str(next(iter(others.values()))[0]["label"])
        found.append(replace(sample, doc=doc, doc_hash=digest(doc, length=64), target=target, metrics=metrics))
    return found


@dataclass(frozen=True)
class Losses:
    """Where a run loses on examples with two labels.

    Attributes:
        n: examples with two labels.
        differing: of them, those whose labels differ in substance.
        lost: those that are wrong by the run's own labels.
        lost_on_differing: of those lost, those whose labels differ.
        right_by_other: of these, those that are right by the other label.
    """

    n: int
    differing: int
    lost: int
    lost_on_differing: int
    right_by_other: int


def losses(samples: Iterable[Sample], filter_name: str) -> Losses:
    """Count them, right meaning right in most generations."""
    both = [sample for sample in samples if other_labels(sample, filter_name)]
    lost = [sample for sample in both if (sample.metrics[filter_name].get("acc") or 0) <= 0.5]
    doubtful = [sample for sample in lost if labels_differ(sample, filter_name)]
    return Losses(
        n=len(both),
        differing=sum(labels_differ(sample, filter_name) for sample in both),
        lost=len(lost),
        lost_on_differing=len(doubtful),
        right_by_other=sum(_is_right_by_other(sample, filter_name) for sample in doubtful),
    )


def _is_right_by_other(sample: Sample, filter_name: str) -> bool:
    others = other_labels(sample, filter_name)
    return sum(bool(other["right"]) for other in others) > len(others) / 2
