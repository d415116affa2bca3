"""Seconds and memory to build a report of several runs, its size, and seconds until Chromium has opened it.

Usage: MEDTASKS_DATA=DIR python measurements/report.py [--runs 3] [--characters 1200] [--repeat 5] [--folder DIR]

The runs are the real harness's, over all four benchmarks, of models that write a think block of words of their prompt
and are right in a given share of examples. Opening ends when the samples can be browsed. Needs playwright, and Chromium
(`chromium` on the path, or its path in CHROMIUM). With --folder, the runs in it are taken instead.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["TQDM_DISABLE"] = "1"

TASKS = ("medmcqa_openmed", "medexqa", "medcalc_bench", "medhallu")


def save_run(folder: Path, share: float, characters: int) -> None:
    """Run the harness with a model that is right in this share of examples, and save as its command line does."""
    from lm_eval.api.model import LM
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    from medtasks_utils.benchmarks.yaml_tasks import tasks_path

    class Model(LM):  # type: ignore[misc]
        tokenizer_name = "none"

        def generate_until(self, requests: list[Any]) -> list[str]:
            return [answer(request.args[0], request.doc, share, characters) for request in requests]

        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
            raise NotImplementedError

        def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
            return "\n\n".join(f"{message['role']}: {message['content']}" for message in chat_history)

    tracker = EvaluationTracker(output_path=str(folder))
    manager = TaskManager(include_path=str(tasks_path()), include_defaults=False)
    results = simple_evaluate(Model(), tasks=list(TASKS), task_manager=manager, apply_chat_template=True)
    tracker.general_config_tracker.log_experiment_args(
        model_source="benchmark",
        model_args={"model": f"right-{share:.0%}"},
        system_instruction=None,
        chat_template="",
        fewshot_as_multiturn=False,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])


def answer(prompt: str, doc: dict[str, Any], share: float, characters: int) -> str:
    """A think block of the prompt's words in random order, then an answer: boxed mostly, bare at times, or none."""
    rng = random.Random(f"{share} {prompt}")
    words = re.findall(r"[\w.,%/-]+", prompt) or ["so"]
    reasoning = ""
    while len(reasoning) < characters * rng.uniform(0.4, 1.6):
        reasoning += " ".join(rng.choices(words, k=12)) + ".\n"
    target = str(doc.get("answer_letter") or doc.get("target") or doc.get("shown_truth"))
    given = target if rng.random() < share else rng.choice(["A", "B", "C", "D", "0", "1", "2", "17.3"])
    written = f"<answer>{given}</answer>" if "note" in doc else f"\\boxed{{{given}}}"
    ending = rng.choices([written, f"The answer is {given}.", ""], weights=[85, 10, 5])[0]
    return f"<think>\n{reasoning}</think>\n{ending}"


SEARCHES = ("no such words", "creatinine clearance", "the")
SEARCH = """async (query) => {
  const start = performance.now();
  browser.set({ q: query });
  while (browser.isSearching) await new Promise((resolve) => setTimeout(resolve, 5));
  return (performance.now() - start) / 1000;
}"""


def seconds_to_open(address: str, chromium: str) -> list[float]:
    """Until the samples can be browsed, in a new profile; then for each search, the first of which unpacks all."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        seconds = [time.perf_counter() - start]
        seconds += [page.evaluate(SEARCH, query) for query in SEARCHES]
        browser.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how many")
    parser.add_argument("--characters", type=int, default=1200, help="of reasoning, on average")
    parser.add_argument("--repeat", type=int, default=5, help="how often to build and to open")
    parser.add_argument("--folder", type=Path, help="runs to take instead")
    arguments = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no chromium; name it in CHROMIUM")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch) / "runs"
        if arguments.folder is None:
            for number in range(arguments.runs):
                save_run(folder / str(number), 0.8 - 0.6 * number / max(1, arguments.runs - 1), arguments.characters)
        output = Path(scratch) / "report.html"
        command = [sys.executable, "-m", "medtasks_utils.__main__", "report", str(folder), "-o", str(output)]
        seconds: list[float] = []
        of_processor: list[float] = []
        for _ in range(arguments.repeat):
            start, before = time.perf_counter(), os.times()
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds.append(time.perf_counter() - start)
            after = os.times()
            of_processor.append(sum(after[2:4]) - sum(before[2:4]))  # of children
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        opens = [seconds_to_open(output.as_uri(), chromium) for _ in range(arguments.repeat)]
        print(done.stdout.split(": ", 1)[1].strip())
        print(f"memory: {memory:.2f} GB at most")
        opened = zip(("open", *(f"search {query!r}" for query in SEARCHES)), zip(*opens, strict=True), strict=True)
        for name, values in (("build", seconds), ("build, of processor", of_processor), *opened):
            print(f"{name}: median {statistics.median(values):.1f} s, from {min(values):.1f} to {max(values):.1f}")


if __name__ == "__main__":
    main()
