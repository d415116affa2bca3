"""Compare the answers of published runs with MedExQA's labels, and with the labels of the rows before and after.

``measurements/label_offsets.py DATA PUBLISHED`` prints, for each specialty, the share of rows in which the answer of
more than half of the runs equals the label at each offset, and each run's macro average. ``DATA`` is a data directory;
``PUBLISHED`` is a gzipped file of JSON lines with ``benchmark``, ``id`` (specialty/split/row), ``run``, and
``source_read``, the letter that the source read.
"""

import gzip
import json
import sys
from collections import Counter, defaultdict
from statistics import mean

from medtasks_utils.benchmarks.facts import LoadReport
from medtasks_utils.benchmarks.known_issues import shifts
from medtasks_utils.benchmarks.medexqa.alignment import realigned
from medtasks_utils.benchmarks.medexqa.benchmark import MedExQA
from medtasks_utils.benchmarks.medexqa.options import SPECIALTIES
from medtasks_utils.harness.sources import BenchmarkFiles

OFFSETS = range(-3, 4)


def main(data: str, published: str) -> None:
    """Print how often the majority equals the label at each offset, the shift, and the macro average of each run."""
    runs: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(published, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["benchmark"] == "medexqa" and ".test.zero_shot." in record["run"]:
                runs[record["run"]][record["id"]] = record["source_read"]
    examples = MedExQA().load(BenchmarkFiles(data, MedExQA), "test", LoadReport())
    parts = [[row for row in examples if row["specialty"] == specialty.name] for specialty in SPECIALTIES]
    print(f"{len(runs)} runs; the answer of more than half, by offset of the label: {', '.join(map(str, OFFSETS))}")
    for rows in parts:
        letters = [row["answer_letter"] for row in rows]
        labels = dict(enumerate(letters))
        answers = []
        for row in rows:
            answer, count = Counter(run.get(row["id"]) for run in runs.values()).most_common(1)[0]
            answers.append(answer if 2 * count > len(runs) else None)
        known = [(place, answer) for place, answer in enumerate(answers) if answer]
        shares = [mean(labels.get(place + offset) == answer for place, answer in known) for offset in OFFSETS]
        print(rows[0]["specialty"], len(known), *(f"{share:.2f}" for share in shares), sep="\t")
        print("  ", *shifts(("", *pair) for pair in zip(answers, letters, strict=True)).values())
    print("macro average by label; with speech-language pathology realigned")
    for name, letter_of in runs.items():
        moved = [*parts[:-1], realigned(parts[-1], 1)]
        scores = [
            mean(mean(letter_of.get(row["id"]) == row["answer_letter"] for row in rows) for rows in those)
            for those in (parts, moved)
        ]
        print(f"{name}\t{scores[0]:.3f}\t{scores[1]:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
