"""What the model is shown, to the letter: published numbers depend on it."""

import json
from pathlib import Path
from typing import Any

import pytest
from given import FILE, GENERATION_TASKS, ROW, TASK, each_row, table, write_changed
from running import Chat, Scripted, evaluate


@pytest.fixture
def rows(data):
    """The rows that the prompts below are made of; in MedMCQA's train the options are in the order B, A, D, C."""
    for file, *changes in table("rows_of_prompts"):
        write_changed(data, file, *changes)
    return data


def asked(task: str, rows: Path | str = "sample", **settings: Any) -> Scripted:
    """A model that was asked."""
    model = Scripted()
    evaluate(task, model, data=rows, **settings)
    return model


def chats(task: str, rows: Path, **settings: Any) -> list[Chat]:
    """The messages of every example."""
    return [json.loads(prompt) for prompt in asked(task, rows, **settings).prompts]


def messages(system: str | None, user: str) -> Chat:
    """A chat of a user's message, and of a system's if there is one."""
    first = [] if system is None else [{"role": "system", "content": system}]
    return [*first, {"role": "user", "content": user}]


BIOMEDICAL = "medexqa_biomedical_engineering"


@each_row("prompts")
def test_the_model_is_shown_these_messages_to_the_letter(task, options, system, user, rows):
    benchmark = next(name for name in FILE if task.startswith(name))
    assert chats(task, rows, metadata={benchmark: options})[0] == messages(system, user)


# ---- few-shot examples


@each_row("prompts_few_shot")
def test_few_shot_examples_are_shown_as_turns_before_the_question(task, expected, rows):
    assert chats(task, rows, num_fewshot=1) == [expected]
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert chats(task, rows), "what is not needed is not read"


def test_few_shot_examples_have_the_form_of_their_task_in_a_chat_and_in_plain_text(rows):
    write_changed(rows, "medmcqa/train.jsonl", {"question": "Train?", "cop": 1, "exp": None})
    assert chats("medmcqa_openmed", rows, num_fewshot=1)[0][2]["content"] == "\\boxed{B}"
    plain = {"num_fewshot": 1, "apply_chat_template": False}
    (prompt,) = {*asked(f"{BIOMEDICAL}_logits", rows, **plain).prompts}
    assert "D. \nC\n\n" in prompt and prompt.endswith("\nD. ")
    assert "D. \nC. Valve.\nA valve closes.\n\n" in asked(BIOMEDICAL, rows, **plain).prompts[0]
    solved = {"Patient Note": "A woman of 50.", "Ground Truth Explanation": "Hers is 81.5."}
    write_changed(rows, "medcalc_bench/train.csv", solved)
    for options, answer in (({}, "<answer>81.5</answer>"), ({"answer_format": "boxed"}, "\\boxed{81.5}")):
        (messages,) = chats("medcalc_bench", rows, metadata={"medcalc_bench": options}, num_fewshot=1)
        assert messages[2]["content"] == f"Hers is 81.5.\n{answer}"


def test_few_shot_examples_follow_the_few_shot_seed():
    first, again, other = (
        asked("medmcqa_openmed", num_fewshot=2, fewshot_random_seed=seed, limit=2).prompts for seed in (1, 1, 2)
    )
    assert first == again != other


# ---- the harness's own settings


@pytest.mark.parametrize(("benchmark", "task"), TASK.items())
def test_a_system_instruction_comes_first_and_text_that_looks_like_a_template_stays_as_it_is(rows, benchmark, task):
    (ours, user), *_ = (prompts for name, options, *prompts in table("prompts") if name == task and not options)
    before = "" if ours is None else f"{ours}\n\n"
    instructed = chats(task, rows, system_instruction="Answer in English.")[0]
    assert instructed == messages(f"Answer in English.\n\n{before}".strip(), user)
    assert asked(task, rows, apply_chat_template=False).prompts[0] == before + user
    hostile = "{{ 7 * 7 }} {% raw %} ${x} {question} {# gone #} %s \\boxed{A}"
    names = {"question", "opa", "A", "Question", "Ground Truth", "Patient Note"} & {*ROW[benchmark]}
    write_changed(rows, FILE[benchmark], dict.fromkeys(names, hostile))
    assert chats(task, rows)[0][-1]["content"].count(hostile) == 2


@pytest.mark.parametrize("task", [*GENERATION_TASKS, BIOMEDICAL, "medcalc_bench_one_shot", "medhallu_knowledge"])
def test_generation_is_greedy_and_no_stop_string_can_cut_a_chain_of_thought(task):
    settings = asked(task, limit=1).generation_kwargs[0]
    assert settings.items() >= {"until": [], "do_sample": False, "temperature": 0.0}.items()
    assert settings["max_gen_toks"] >= 1024
    given = asked(task, limit=1, gen_kwargs="temperature=0.7,do_sample=True,max_gen_toks=77").generation_kwargs[0]
    assert given.items() >= {"temperature": 0.7, "do_sample": True, "max_gen_toks": 77}.items()
