"""Count on which real replies the rules of Medmarks and ours differ, and why: tasks/medmarks/README.md.

    python measurements/medmarks.py REFERENCE

REFERENCE is a folder with the replies and the verdicts of Medmarks' code, by benchmark:
``ref_dev_medmcqa_verdicts.jsonl``, ``ref_dev_medcalc_verdicts.jsonl`` and ``ref_dev_medhallu_verdicts.jsonl``. Replies
without a source, which were composed, do not count.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.benchmarks.medcalc_bench.kinds import CALCULATORS
from medtasks_utils.benchmarks.medmarks_letters import tagged

KINDS = {calculator.id: calculator.kind.name for calculator in CALCULATORS}


def example_of(name: str, line: dict[str, Any]) -> dict[str, Any]:
    """Return the example that a reply answers, with what reading and scoring need."""
    if name == "medmcqa":
        place = "ABCD".index(line["answer"])
        return {
            "options": line["options"],
            "answer_letter": line["answer"],
            "answer_idx": place,
            "question": line["key"],
        }
    if name == "medhallu":
        return {"target": line["answer"], "difficulty": line["difficulty"]}
    kind, limits = KINDS[line["calc_id"]], [line["lower"], line["upper"]]
    numbers = sorted(map(float, limits)) if kind in ("decimal", "integer") else [0.0, 0.0]
    of_limits = {"limits": limits, "lower_limit": numbers[0], "upper_limit": numbers[1]}
    return {"judgement": kind, "ground_truth": line["ground_truth"], "question": "", **of_limits}


def cause(name: str, content: str) -> str:
    """Return the form of a reply on which the two rules differ."""
    if name == "medhallu":
        return "no box" if "\\boxed{" not in content else "a box that holds more than the digit"
    tags = tagged(content)
    if not tags:
        return "no closed answer tag"
    if name == "medcalc_bench" and "%" in tags[-1]:
        return "a percentage"
    if re.search("<answer>", content, re.IGNORECASE) and len(set(tags)) > 1:
        return "several answer tags that differ"
    return "another content of the tag"


def main(folder: Path) -> None:
    """Print a line for each benchmark and cause."""
    for name, file in (("medmcqa", "medmcqa"), ("medcalc_bench", "medcalc"), ("medhallu", "medhallu")):
        benchmark = benchmarks()[f"medmarks_{name}"]()
        counts: Counter[tuple[str, str]] = Counter()
        lines = list(map(json.loads, (folder / f"ref_dev_{file}_verdicts.jsonl").read_text("utf-8").splitlines()))
        real = [line for line in lines if line["source"]]
        for line in real:
            content, example = line["content"] or "", example_of(name, line)
            theirs, ours = (
                benchmark.is_right(read(content, example).value, example) for read in benchmark.readers.values()
            )
            if theirs != ours:
                counts[cause(name, content), "theirs only" if theirs else "ours only"] += 1
        print(f"{name}: {len(real)} real replies")
        for (why, whose), count in counts.most_common():
            print(f"  {count:4} ({100 * count / len(real):.1f} %)  {why}: right by {whose}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
