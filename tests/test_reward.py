"""Rewards for training: the forms that TRL hands over, and one real step of its trainer."""

import re
from typing import Any

import pytest
from given import ROOT, each_row, sample_rows

from medtasks_utils import errors, reward

ROWS = sample_rows("medmcqa/train.jsonl")


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_texts_and_messages_are_rewarded_alike():
    rewards = reward("medmcqa")
    texts = [f"So: \\boxed{{{'ABCD'[row['cop']]}}}" for row in ROWS[:-1]] + [""]
    expected = [float(bool(text)) for text in texts]
    assert rewards(texts, **columns(ROWS)) == expected
    messages = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text or None}] for text in texts]
    assert rewards(completions=messages, prompts=["?"] * len(ROWS), **columns(ROWS), trainer_state=None) == expected


def test_the_reward_is_the_metric_that_is_named_or_the_benchmarks():
    rows = columns(sample_rows("medhallu/pqa_labeled.jsonl")[:3])
    answers, shown = [f"\\boxed{{{digit}}}" for digit in (1, 1, 2)], ["hallucinated", "ground_truth", "hallucinated"]
    rewards = reward("medhallu", unsure_reward=0.2)
    assert rewards.__name__ == "medhallu_reward" and rewards(answers, **rows, shown=shown) == [1.0, 0.0, 0.2]
    assert reward("medhallu", metric="acc")(answers, **rows, shown=shown) == [1.0, 0.0, 0.0]
    said = ["It is hallucinated.", "It is hallucinated.", "I am unsure."]
    flexible = reward("medhallu", filter_name="flexible-extract")
    assert flexible(said, **rows, shown=shown) == [1.0, 0.0, 0.01] and rewards(said, **rows, shown=shown) == [0.0] * 3


def test_the_documented_reward_asks_for_both_answers_of_a_row():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "training.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(blocks[1], names)
    row, other = sample_rows("medhallu/pqa_labeled.jsonl")[:2]
    true, false = "ground_truth", "hallucinated"
    answers = [f"\\boxed{{{number}}}" for number in "011111"]
    given = {**columns([row] * 4 + [other] * 2), "shown": [true, true, false, false, true, false]}
    assert names["both_answers"](answers, **given) == [1.0, 0.0, 0.5, 0.5, 0.0, 0.0]
    with pytest.raises(ValueError, match="the batch has one answer to"):
        names["both_answers"](answers[:2], **{name: column[:2] for name, column in given.items()})


@each_row("reward_mistakes")
def test_a_mistake_is_one_error(task, settings, columns, kind, says):
    with pytest.raises(getattr(errors, kind), match=says):
        reward(task, **settings)(["\\boxed{A}"], **columns)


@pytest.mark.torch
def test_a_step_of_trls_trainer(tiny_model, tmp_path):
    trl = pytest.importorskip("trl", reason="no TRL")
    from datasets import Dataset

    rows = [{**row, "prompt": [{"role": "user", "content": row["question"]}]} for row in ROWS[:2]]
    seen: list[list[float]] = []
    rewards = reward("medmcqa")

    def watched(**given):
        seen.append(rewards(**given))
        return seen[-1]

    settings = trl.GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=4,
        max_steps=1,
        report_to=[],
        remove_unused_columns=False,
        use_cpu=True,
        bf16=False,
    )
    trl.GRPOTrainer(str(tiny_model), [watched], settings, train_dataset=Dataset.from_list(rows)).train()
    assert seen and all(len(each) == 2 for each in seen)
