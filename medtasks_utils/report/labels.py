"""What is lost on labels that physicians dispute."""

from __future__ import annotations

from medtasks_utils.benchmarks.base import DOUBTFUL
from medtasks_utils.report.tables import Block, Cell, Table, head_reasons, marked_cells, run_heads, samples_link
from medtasks_utils.report.units import Unit
from medtasks_utils.results.breakdowns import estimate
from medtasks_utils.results.labels import LabelSet, losses, other_labels, own_labels, scored_by

_LABELS: dict[LabelSet, str] = {"original": "the benchmark's labels", "corrected": "the physicians' labels"}
_LEAD = (
    "Some examples have two labels, the benchmark's own and the physicians'. They differ in substance where the "
    "physicians' is wrong by the benchmark's. Each answer was judged by both, on the same examples."
)


def labels_block(unit: Unit, filter_name: str) -> list[Block]:
    """Accuracy by both labels, and how many losses are on labels that differ; nothing where all have one label."""
    by_run = {
        run: samples
        for run, samples in unit.samples().items()
        if any(other_labels(sample, filter_name) for sample in samples)
    }
    if not by_run or unit.benchmark is None:
        return []
    runs = list(by_run)
    odd = unit.odd_ones(filter_name, "acc")
    table = Table(f"{unit.title}: both labels, {filter_name}", ["", *run_heads(runs, odd)])
    for labels, words in _LABELS.items():
        estimates = [
            estimate(scored_by(by_run[run], labels, unit.benchmark), filter_name, "acc", unit.benchmark) for run in runs
        ]
        best = marked_cells(estimates, unit.facts("acc"), head_reasons(runs, odd), with_n=True)
        table.rows.append([Cell(f"acc by {words}"), *best])
    own = dict.fromkeys(_LABELS[own_labels(samples[0])] for samples in by_run.values())
    titles = ("labels differ", f"wrong by {' or '.join(own)}", "of these, labels differ")
    rows = [[Cell(title)] for title in (*titles, "of these, right by the other label")]
    for run, samples in by_run.items():
        each = losses(samples, filter_name)
        doubtful = samples_link(task=unit.only_task, run=run, result="wrong", badge=DOUBTFUL)
        rows[0].append(Cell(f"{each.differing:,}", _share(each.differing, each.n)))
        rows[1].append(Cell(f"{each.lost:,}", _share(each.lost, each.n)))
        rows[2].append(Cell(f"{each.lost_on_differing:,}", _share(each.lost_on_differing, each.lost), doubtful))
        rows[3].append(Cell(f"{each.right_by_other:,}", _share(each.right_by_other, each.lost)))
    table.rows += rows
    return [Block("Doubtful labels", _LEAD, [], [table], filter_name)]


def doubtful_losses(unit: Unit, filter_name: str) -> list[str]:
    """For each run, how many of its losses are on labels that differ; of runs with any."""
    found = {run: losses(samples, filter_name) for run, samples in unit.samples().items()}
    return [
        f"{run}: {each.lost_on_differing:,} of {each.lost:,} losses ({_share(each.lost_on_differing, each.lost)}), "
        f"{each.right_by_other:,} right by the other label"
        for run, each in found.items()
        if each.lost_on_differing
    ]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""
