"""Measure how often verdicts agree between runs of one model in several engines.

Usage: python measurements/engines.py RUN RUN...

Each RUN is a folder of results with samples; the first run is compared with each of the others, on the examples that
both have.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from medtasks_utils import load_runs
from medtasks_utils.results.run import Run

FILTERS = ("strict-match", "flexible-extract")


def verdicts(run: Run) -> dict[tuple[str, int, str], tuple[str, object]]:
    """Return, by task, example and filter, the response and whether it is right."""
    return {
        (name, sample.doc_id, filter_name): (str(sample.responses[0]), sample.metrics.get(filter_name, {}).get("acc"))
        for name, task in run.tasks.items()
        for sample in task.samples
        for filter_name in FILTERS
    }


def main() -> None:
    """Print a table with a row for each pair of runs."""
    print("| runs | verdicts | equal verdicts | equal responses |\n|:--|--:|--:|--:|")
    first, *others = [(Path(path).name, verdicts(load_runs(path)[0])) for path in sys.argv[1:]]
    for name, other in others:
        counts: Counter[str] = Counter()
        for key in first[1].keys() & other.keys():
            (response, verdict), (its_response, its_verdict) = first[1][key], other[key]
            counts.update(all=1, verdicts=verdict == its_verdict, responses=response == its_response)
        print(f"| {first[0]}, {name} | {counts['all']} | {counts['verdicts']} | {counts['responses']} |")


if __name__ == "__main__":
    main()
