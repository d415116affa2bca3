"""What the model is shown, to the letter: published numbers depend on it."""

import json

import pytest
from given import FILE, GENERATION_TASKS, ROW, TASK, each_row, table, write_changed
from running import Scripted, evaluate


@pytest.fixture
def rows(data):
    """The rows that the prompts below are made of; in MedMCQA's train the options are in the order B, A, D, C."""
    for file, *changes in table("rows_of_prompts"):
        write_changed(data, file, *changes)
    return data


def asked(task, rows="sample", **settings):
    """A model that was asked."""
    model = Scripted()
    evaluate(task, model, data=rows, **settings)
    return model


def chats(task, rows, **settings):
    """The messages of every example."""
    return [json.loads(prompt) for prompt in asked(task, rows, **settings).prompts]


def messages(system, user):
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
def test_few_shot_examples_are_shown_before_the_question_in_the_form_of_their_task(
    name, files, task, settings, expected, rows
):
    for file, change in files.items():
        write_changed(rows, file, change)
    (prompt, *_) = asked(task, rows, num_fewshot=1, **settings).prompts
    assert (prompt if isinstance(expected, str) else json.loads(prompt)) == expected


def test_few_shot_rows_that_are_not_needed_are_not_read(rows):
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert chats(BIOMEDICAL, rows)


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
