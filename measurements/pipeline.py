"""Seconds per 1,000 examples that this pack adds to a run: load, prompt, extract, score, for each task.

Usage: MEDTASKS_DATA=DIR python measurements/pipeline.py [--repeat 5] [--characters 1000]

The model is left out: responses of a given length are put in place of its answers, some with a clear answer, some with
none, all with reasoning of that length after the think block. Both filters run. The minimum over the repeats is shown.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

os.environ["TQDM_DISABLE"] = "1"

from lm_eval.tasks import TaskManager

from medtasks_utils.benchmarks.yaml_tasks import tasks_path

TASKS = ("medmcqa_openmed", "medexqa_all", "medcalc_bench", "medcalc_bench_one_shot", "medhallu", "medhallu_knowledge")
STAGES = ("load", "prompt", "extract", "score")
_SENTENCES = (
    "The patient is a 54-year-old man with three days of fever and a productive cough.",
    "His creatinine of 1.4 mg/dL is above the reference range (0.7-1.2), so renal clearance is reduced.",
    "Option B seems less likely, because glucose and lactate are both normal.",
    "First, consider the mechanism: the drug inhibits reuptake and prolongs the action of noradrenaline.",
    "In contrast, a lesion of the radial nerve would spare the deltoid.",
    "We compute 72 * (1.75 ** 2) / 3 = 73.5, and round at the end.",
    "The finding excludes A and D, and it is not compatible with an autoimmune process either.",
    "Guidelines recommend repeating the measurement after two weeks.",
    "This would be correct only if the potassium were raised, which it is not.",
    "Sensitivity was 82 % in the larger cohort and 67 % in the smaller one.",
    "Taken together, the history and the laboratory values point to a single cause.",
)
_ENDINGS = (
    "The answer is C.",
    "\\boxed{1}",
    "<answer>12.5</answer>",
    "<answer>5/4/2021</answer>",
    "**B**",
    "I cannot tell.",
    "Final answer: 42 mL/h",
    "\\boxed{\\text{D}}",
)


def response(rng: random.Random, characters: int) -> str:
    """A think block, reasoning of so many characters, and one of several endings."""
    reasoning = ""
    while len(reasoning) < characters:
        reasoning += rng.choice(_SENTENCES) + " "
    return f"<think>Let me see.</think>\n{reasoning[:characters]}\n\n{rng.choice(_ENDINGS)}"


def stages(name: str, characters: int) -> tuple[int, dict[str, float]]:
    """Number of examples, and seconds for each stage."""
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False)
    seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def timed(stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[stage] = time.perf_counter() - start

    with timed("load"):
        task: Any = manager.load(name)["tasks"][name]
    with timed("prompt"):
        task.build_all_requests(
            apply_chat_template=True,
            fewshot_as_multiturn=True,
            chat_template=lambda messages, add_generation_prompt=True: json.dumps(messages),
        )
    rng = random.Random(0)
    for instance in task.instances:
        instance.resps = [response(rng, characters)]
    with timed("extract"):
        task.apply_filters()
    with timed("score"):
        for filter_name in task.filter_names:
            for instance in task.instances:
                task.process_results(instance.doc, [instance.filtered_resps[filter_name]])
    return len(task.instances), seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--characters", type=int, default=1000)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    stages("medmcqa_openmed", 10)  # imports
    print("| task | examples | " + " | ".join(STAGES) + " | total, s per 1,000 |")
    print("|---|--:|" + "--:|" * (len(STAGES) + 1))
    for name in TASKS:
        runs = [stages(name, arguments.characters) for _ in range(arguments.repeat)]
        count = runs[0][0]
        best = {stage: 1000 / count * min(times[stage] for _, times in runs) for stage in STAGES}
        cells = " | ".join(f"{best[stage]:.3f}" for stage in STAGES)
        print(f"| {name} | {count} | {cells} | {sum(best.values()):.3f} |")


if __name__ == "__main__":
    main()
