"""Runs of the defining environments, written as ``vf-eval -s`` writes them, over the bundled sample's rows.

``environments/`` has what each environment makes of a row: its prompt, right answer and info.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from given import ROOT, TASK_OF, Row, json_lines, write_rows
from running import documents_of

ENVIRONMENTS = {
    # benchmark: the environment, its reward function
    "medmcqa": ("med-mcqa", "accuracy"),
    "medexqa": ("medexqa", "combined_reward"),
    "medcalc_bench": ("medcalc-bench", "check_correctness"),
    "medhallu": ("medhallu", "medhallu_reward"),
}


@cache
def rows(benchmark: str) -> list[Row]:
    """The sample's documents, as the harness has them."""
    return documents_of(TASK_OF[benchmark])


def lines(benchmark: str, answer: Callable[[Row], str], rollouts: int = 1) -> list[Row]:
    """A line for each response."""
    environment, function = ENVIRONMENTS[benchmark]
    path = ROOT / "tests" / "elsewhere" / "environments" / f"{benchmark}.jsonl"
    found = []
    for index, (doc, row) in enumerate(zip(rows(benchmark), json_lines(path), strict=True)):
        for rollout in range(rollouts):
            prompt = [{"role": "system", "content": "Be careful."}, {"role": "user", "content": row["prompt"]}]
            reply = {"role": "assistant", "content": answer({**doc, "rollout": rollout})}
            score = float((index + rollout) % 3 > 0)
            own = {"example_id": index, "task": environment, "prompt": prompt, "completion": [reply]}
            own |= {"reward": score, "metrics": {function: score}, "total_ms": 13.0, "is_truncated": False}
            found.append({**row, **own})
    return found


def write(folder: Path, benchmark: str, written: Sequence[Row], metadata: dict[str, Any] | None = None) -> Path:
    """The file, in the folder that vf-eval makes for it."""
    environment = ENVIRONMENTS[benchmark][0]
    path = write_rows(written, folder / f"outputs/evals/ours-{benchmark[3:]}--org--model-7b/0a1b2c3d/results.jsonl")
    about = {"env_id": environment, "env_args": {}, "model": "org/model-7b", "date": "2026-03-04 05:06:07"}
    path.with_name("metadata.json").write_text(json.dumps({**about, **(metadata or {})}))
    return path
