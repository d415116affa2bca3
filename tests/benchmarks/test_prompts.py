"""What the model is shown, to the letter: published numbers depend on it."""

import json
from pathlib import Path
from typing import Any

import pytest
from given import FILE, GENERATION_TASKS, ROW, each_row, table, write_rows
from running import Chat, Scripted, evaluate

# ---- rows that the prompts below are made of

MEDMCQA_TRAIN = {
    **ROW["medmcqa"],
    "id": "id-0",
    "question": "Train?",
    "cop": 1,
    "exp": "Because.",
}  # in the order B, A, D, C
MEDEXQA_DEV = {**ROW["medexqa"], "question": "Which part?", "answer": "C", "explanation_1": "A valve closes."}
HERS = {"Patient Note": "A woman of 50.", "Question": "What is hers?"}
MEDCALC_EXAMPLES = [
    {**ROW["medcalc_bench"], **HERS, "Ground Truth Answer": "70.1", "Ground Truth Explanation": "Hers is 70.1."},
    {**ROW["medcalc_bench"], **HERS, "Calculator ID": "69", "Ground Truth Answer": "('4 weeks', '3 days')"},
]
GESTATION = {**ROW["medcalc_bench"], "Unique ID": "1", "Calculator Name": "Estimated Gestational Age"}


@pytest.fixture
def rows(data, undescribed):
    for benchmark, name in FILE.items():
        write_rows([ROW[benchmark]], data / name, header=benchmark != "medexqa")
    write_rows([MEDMCQA_TRAIN], data / "medmcqa" / "train.jsonl")
    write_rows([MEDEXQA_DEV], data / "medexqa" / "dev" / "biomedical_engineer_dev.tsv", header=False)
    write_rows(MEDCALC_EXAMPLES, data / "medcalc_bench" / "one_shot.csv")
    write_rows([GESTATION], data / "medcalc_bench" / "corrected.csv")
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
SHOWN = table("prompts")
"""A task, options, and the system and user message of its first example."""


@pytest.mark.parametrize(("task", "options", "system", "user"), SHOWN)
def test_the_messages_to_the_letter(rows, task, options, system, user):
    assert chat(task, rows, **options) == (system, user)


# ---- few-shot examples


@each_row("prompts_few_shot")
def test_few_shot_examples(task, expected, rows):
    assert chats(task, rows, num_fewshot=1) == [expected]
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert chats(task, rows), "what is not needed is not read"


def test_few_shot_examples_of_other_forms(rows):
    write_rows([{**MEDMCQA_TRAIN, "exp": None}], rows / "medmcqa" / "train.jsonl")
    assert chats("medmcqa_openmed", rows, num_fewshot=1)[0][2]["content"] == "\\boxed{B}"
    plain = {"num_fewshot": 1, "apply_chat_template": False}
    (prompt,) = {*asked(f"{BIOMEDICAL}_logits", rows, **plain).prompts}
    assert "D. \nC\n\n" in prompt and prompt.endswith("\nD. ")
    assert "D. \nC. Valve.\nA valve closes.\n\n" in asked(BIOMEDICAL, rows, **plain).prompts[0]
    write_rows(MEDCALC_EXAMPLES[:1], rows / "medcalc_bench" / "train.csv")
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
    (ours, user) = next((system, user) for name, options, system, user in SHOWN if name == task and not options)
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
