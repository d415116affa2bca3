"""Runs of the defining environments, written as ``vf-eval -s`` writes them, over the bundled sample's rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conftest import Row, documents, load

Answering = Callable[[Row], str]


def medmcqa_line(doc: Row) -> Row:
    options = "".join(f"{letter}. {text.strip()}\n" for letter, text in zip("ABCD", doc["options"], strict=True))
    prompt = f"Give a letter answer among A, B, C or D.\nQuestion: {doc['question'].strip()}\n{options}Answer:"
    return {
        "prompt": prompt,
        "answer": doc["answer_letter"],
        "info": {"answer_text": doc["options"][doc["answer_idx"]]},
    }


def medexqa_line(doc: Row) -> Row:
    options = dict(zip("ABCD", doc["options"], strict=True))
    shown = "\n".join(f"{letter}. {text}" for letter, text in options.items())
    info = {
        **options,
        "question": doc["question"],
        "answer": doc["answer_letter"],
        "answer_text": options[doc["answer_letter"]],
        "exp0": doc["explanation_1"],
        "exp1": doc["explanation_2"],
        "specialty": {"clinical_psychology": "clinical_psychologist"}.get(doc["specialty"], doc["specialty"]),
    }
    return {
        "prompt": f"Please choose.\n\n{doc['question']}\n{shown}\nAnswer:",
        "answer": doc["answer_letter"],
        "info": info,
    }


def medcalc_line(doc: Row) -> Row:
    info = {
        "calc_id": str(doc["calculator_id"]),
        "ground_truth": doc["ground_truth"],
        "lower_bound": None if doc["lower_limit"] is None else str(doc["lower_limit"]),
        "upper_bound": None if doc["upper_limit"] is None else str(doc["upper_limit"]),
    }
    prompt = f"Compute.\n\nPatient Note:\n\n{doc['note']}\n\nQuestion:\n\n{doc['question']}"
    return {"prompt": prompt, "answer": doc["ground_truth"], "info": info}


def medhallu_line(doc: Row) -> Row:
    info = {
        "original_type": "factual" if doc["target"] == "0" else "hallucinated",
        "difficulty": doc["difficulty"],
        "hallucination_category": doc["category"],
    }
    prompt = f"\nQuestion: {doc['question']}\nAnswer: {doc['answer']}\n\nReturn just the answer.\nYour Judgement:\n"
    return {"prompt": prompt, "answer": doc["target"], "info": info}


ENVIRONMENTS: dict[str, tuple[str, str, str, Callable[[Row], Row]]] = {
    # benchmark: the environment, its reward function, the harness's task
    "medmcqa": ("med-mcqa", "accuracy", "medmcqa_openmed", medmcqa_line),
    "medexqa": ("medexqa", "combined_reward", "medexqa_all", medexqa_line),
    "medcalc_bench": ("medcalc-bench", "check_correctness", "medcalc_bench", medcalc_line),
    "medhallu": ("medhallu", "medhallu_reward", "medhallu", medhallu_line),
}


@cache
def rows(benchmark: str) -> list[Row]:
    """The sample's documents, as the harness has them."""
    return documents(load(ENVIRONMENTS[benchmark][2]))


def lines(benchmark: str, answer: Answering, rollouts: int = 1) -> list[Row]:
    """A line for each response."""
    environment, function, _, make = ENVIRONMENTS[benchmark]
    found = []
    for index, doc in enumerate(rows(benchmark)):
        for rollout in range(rollouts):
            line = make(doc)
            reward = float((index + rollout) % 3 > 0)
            found.append(
                {
                    "example_id": index,
                    "prompt": [
                        {"role": "system", "content": "Be careful."},
                        {"role": "user", "content": line["prompt"]},
                    ],
                    "completion": [{"role": "assistant", "content": answer({**doc, "rollout": rollout})}],
                    "task": environment,
                    "reward": reward,
                    "generation_ms": 12.5,
                    "scoring_ms": 0.5,
                    "total_ms": 13.0,
                    "info": line["info"],
                    "answer": line["answer"],
                    function: reward,
                }
            )
    return found


def write(folder: Path, benchmark: str, written: Sequence[Row], metadata: dict[str, Any] | None = None) -> Path:
    """The file, in the folder that vf-eval makes for it."""
    environment = ENVIRONMENTS[benchmark][0]
    place = folder / "outputs" / "evals" / f"{environment}--org--model-7b" / "0a1b2c3d"
    place.mkdir(parents=True)
    (place / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in written), encoding="utf-8")
    (place / "metadata.json").write_text(
        json.dumps(
            {
                "env_id": environment,
                "env_args": {},
                "model": "org/model-7b",
                "num_examples": len(written),
                "rollouts_per_example": 1,
                "date": "2026-03-04 05:06:07",
                **(metadata or {}),
            }
        )
    )
    return place / "results.jsonl"
