"""What the model is shown, to the letter: published numbers depend on it."""

import json
from pathlib import Path
from typing import Any

import pytest
from given import FILE, GENERATION_TASKS, ROW, each_row, table, write_rows
from running import Chat, Scripted, evaluate

ROWS = {
    place: [{**ROW[place.split("/")[0]], **change} for change in changes]
    for place, *changes in table("rows_of_prompts")
}
"""The rows that the prompts below are made of, by file; in MedMCQA's train the options are in the order B, A, D, C."""


@pytest.fixture
def rows(data, undescribed):
    for place, rows in ROWS.items():
        write_rows(rows, data / place, header=not place.startswith("medexqa"))
    return data


def asked(task: str, rows: Path | str = "sample", **settings: Any) -> Scripted:
    """A model that was asked."""
    model = Scripted()
    evaluate(task, model, data=rows, **settings)
    return model


def chats(task: str, rows: Path, **settings: Any) -> list[Chat]:
    """The messages of every example."""
    return [json.loads(prompt) for prompt in asked(task, rows, **settings).prompts]


def chat(task: str, rows: Path, **options: Any) -> tuple[str | None, str]:
    """System and user message of the first example under options of the task's benchmark."""
    benchmark = next(name for name in FILE if task.startswith(name))
    *system, user = chats(task, rows, metadata={benchmark: options})[0]
    assert [message["role"] for message in [*system, user]] == [*(["system"] * len(system)), "user"]
    return system[0]["content"] if system else None, user["content"]


BIOMEDICAL = "medexqa_biomedical_engineering"


@each_row("prompts")
def test_the_messages_to_the_letter(task, options, system, user, rows):
    assert chat(task, rows, **options) == (system, user)


# ---- few-shot examples


@each_row("prompts_few_shot")
def test_few_shot_examples(task, expected, rows):
    assert chats(task, rows, num_fewshot=1) == [expected]
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert chats(task, rows), "what is not needed is not read"


def test_few_shot_examples_of_other_forms(rows):
    (train,) = ROWS["medmcqa/train.jsonl"]
    write_rows([{**train, "exp": None}], rows / "medmcqa/train.jsonl")
    assert chats("medmcqa_openmed", rows, num_fewshot=1)[0][2]["content"] == "\\boxed{B}"
    plain = {"num_fewshot": 1, "apply_chat_template": False}
    (prompt,) = {*asked(f"{BIOMEDICAL}_logits", rows, **plain).prompts}
    assert "D. \nC\n\n" in prompt and prompt.endswith("\nD. ")
    assert "D. \nC. Valve.\nA valve closes.\n\n" in asked(BIOMEDICAL, rows, **plain).prompts[0]
    write_rows(ROWS["medcalc_bench/one_shot.csv"][:1], rows / "medcalc_bench/train.csv")
    for options, answer in (({}, "<answer>70.1</answer>"), ({"answer_format": "boxed"}, "\\boxed{70.1}")):
        (messages,) = chats("medcalc_bench", rows, metadata={"medcalc_bench": options}, num_fewshot=1)
        assert messages[2]["content"] == f"Hers is 70.1.\n{answer}"


def test_few_shot_examples_follow_the_few_shot_seed():
    first, again, other = (
        asked("medmcqa_openmed", num_fewshot=2, fewshot_random_seed=seed, limit=2).prompts for seed in (1, 1, 2)
    )
    assert first == again != other


# ---- the harness's own settings


@pytest.mark.parametrize("task", ["medmcqa_openmed", BIOMEDICAL, "medcalc_bench", "medhallu"])
def test_a_system_instruction_a_plain_prompt_and_text_that_looks_like_a_template(rows, task):
    (ours, user) = next(
        (system, user) for name, options, system, user in table("prompts") if name == task and not options
    )
    first, last = chats(task, rows, system_instruction="Answer in English.")[0]
    assert first["content"] == ("Answer in English." if ours is None else f"Answer in English.\n\n{ours}")
    assert (last["role"], last["content"]) == ("user", user)
    plain = user if ours is None else f"{ours}\n\n{user}"
    assert asked(task, rows, apply_chat_template=False).prompts[0] == plain
    hostile = "{{ 7 * 7 }} {% raw %} ${x} {question} {# gone #} %s \\boxed{A}"
    benchmark = next(name for name in FILE if task.startswith(name))
    names = {"question", "opa", "A", "Question", "Ground Truth", "Patient Note"} & {*ROW[benchmark]}
    changed = {**ROW[benchmark], **dict.fromkeys(names, hostile)}
    write_rows([changed], rows / FILE[benchmark], header=benchmark != "medexqa")
    assert chats(task, rows)[0][-1]["content"].count(hostile) == 2


@pytest.mark.parametrize("task", [*GENERATION_TASKS, BIOMEDICAL, "medcalc_bench_one_shot", "medhallu_knowledge"])
def test_generation_is_greedy_and_no_stop_string_can_cut_a_chain_of_thought(task):
    (settings,) = asked(task, limit=1).generation_kwargs[:1]
    assert (settings["until"], settings["do_sample"], settings["temperature"]) == ([], False, 0.0)
    assert settings["max_gen_toks"] >= 1024
    (given,) = asked(task, limit=1, gen_kwargs="temperature=0.7,do_sample=True,max_gen_toks=77").generation_kwargs[:1]
    assert (given["temperature"], given["do_sample"], given["max_gen_toks"]) == (0.7, True, 77)
