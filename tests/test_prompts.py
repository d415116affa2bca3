"""What the model is shown, to the letter: published numbers depend on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import GENERATION_TASKS, Chat, Row, Scripted, evaluate, load, write_rows

from medtasks_utils.errors import DataError, MedtasksError

# ---- rows that the prompts below are made of

MEDMCQA = {
    "id": "id-1",  # shown in the order C, D, A, B
    "question": "Which <one>?\nThink {{well}}.",
    "opa": "first & last",
    "opb": "second",
    "opc": "third",
    "opd": "",
    "cop": 2,
    "exp": "Since it is.",
    "subject_name": "Anatomy",
}
MEDMCQA_TRAIN = {**MEDMCQA, "id": "id-0", "question": "Train?", "cop": 1, "exp": "Because."}  # in the order B, A, D, C
MEDEXQA = {
    "question": "Which device?",
    "A": "Pump",
    "B": "None",
    "C": "Valve.",
    "D": "",
    "explanation_1": "A pump pumps.",
    "explanation_2": "It does.",
    "answer": "A",
}
MEDEXQA_DEV = {**MEDEXQA, "question": "Which part?", "answer": "C", "explanation_1": "A valve closes."}
MEDCALC = {
    "Row Number": "1",
    "Calculator ID": "2",
    "Calculator Name": "Creatinine Clearance",
    "Category": "lab",
    "Output Type": "decimal",
    "Patient Note": "A man of 60.\nCreatinine 1.0.",
    "Question": "What is his clearance?",
    "Ground Truth Answer": "81.5",
    "Lower Limit": "77.4",
    "Upper Limit": "85.6",
    "Ground Truth Explanation": "It is 81.5.",
}
MEDCALC_EXAMPLES = [
    {
        **MEDCALC,
        "Patient Note": "A woman of 50.",
        "Question": "What is hers?",
        "Ground Truth Answer": "70.1",
        "Ground Truth Explanation": "Hers is 70.1.",
    },
    {
        **MEDCALC,
        "Calculator ID": "69",
        "Patient Note": "Pregnant since March.",
        "Question": "How far?",
        "Ground Truth Answer": "('4 weeks', '3 days')",
        "Ground Truth Explanation": "31 days.",
    },
]
MEDHALLU = {
    "Question": "Does it help?",
    "Knowledge": ["One study.", "Another."],
    "Ground Truth": "Yes.",
    "Difficulty Level": "easy",
    "Hallucinated Answer": "No.",
    "Category of Hallucination": "Incomplete Information",
}


@pytest.fixture
def rows(data: Path) -> Path:
    write_rows([MEDMCQA], data / "medmcqa" / "validation.jsonl")
    write_rows([MEDMCQA_TRAIN], data / "medmcqa" / "train.jsonl")
    write_rows([MEDEXQA], data / "medexqa" / "test" / "biomedical_engineer_test.tsv", header=False)
    write_rows([MEDEXQA_DEV], data / "medexqa" / "dev" / "biomedical_engineer_dev.tsv", header=False)
    write_rows([MEDCALC], data / "medcalc_bench" / "test.csv")
    write_rows(MEDCALC_EXAMPLES, data / "medcalc_bench" / "one_shot.csv")
    write_rows([MEDHALLU], data / "medhallu" / "pqa_labeled.jsonl")
    return data


def chats(task: str, rows: Path, metadata: dict[str, Any] | None = None, **settings: Any) -> list[Chat]:
    """The messages of every example."""
    model = Scripted()
    evaluate(task, model, data=rows, metadata=metadata, **settings)
    return [json.loads(prompt) for prompt in model.prompts]


def chat(task: str, rows: Path, **options: Any) -> tuple[str | None, str]:
    """System and user message of the first example under options of the task's benchmark."""
    benchmark = next(name for name in ("medmcqa", "medexqa", "medcalc_bench", "medhallu") if task.startswith(name))
    *system, user = chats(task, rows, {benchmark: options})[0]
    assert [message["role"] for message in [*system, user]] == [*(["system"] * len(system)), "user"]
    return system[0]["content"] if system else None, user["content"]


# ---- MedMCQA

MEDMCQA_SYSTEM = (
    "You are taking a medical examination. Think through the question step by step inside <think>...</think> tags, "
    "then give your final choice as \\boxed{X}, where X is exactly one of the letters A, B, C or D."
)
MEDMCQA_USER = """\
Question: Which <one>?
Think {{well}}.
Choices:
C. third
D. \n\
A. first & last
B. second
Answer:
Put the letter of your choice, and nothing else, inside \\boxed{}."""
MEDMCQA_TRAIN_USER = """\
Question: Train?
Choices:
B. second
A. first & last
D. \n\
C. third
Answer:
Put the letter of your choice, and nothing else, inside \\boxed{}."""


def test_medmcqa(rows: Path) -> None:
    assert chat("medmcqa_openmed", rows) == (MEDMCQA_SYSTEM, MEDMCQA_USER)


def test_medmcqa_few_shot_from_train(rows: Path) -> None:
    assert chats("medmcqa_openmed", rows, num_fewshot=1) == [
        [
            {"role": "system", "content": MEDMCQA_SYSTEM},
            {"role": "user", "content": MEDMCQA_TRAIN_USER},
            {"role": "assistant", "content": "<think>Because.</think>\n\\boxed{B}"},
            {"role": "user", "content": MEDMCQA_USER},
        ]
    ]


def test_medmcqa_few_shot_without_an_explanation(rows: Path) -> None:
    write_rows([{**MEDMCQA_TRAIN, "exp": None}], rows / "medmcqa" / "train.jsonl")
    assert chats("medmcqa_openmed", rows, num_fewshot=1)[0][2]["content"] == "\\boxed{B}"


# ---- MedExQA

SENTENCE = (
    "The following is a multiple-choice question. Please choose the most suitable one among A, B, C and D as the "
    "answer to this question. Your answer should be paired with an explanation why you chose that answer."
)
MEDEXQA_USER = f"{SENTENCE}\n\nWhich device?\nA. Pump\nB. None\nC. Valve.\nD. "
MEDEXQA_DEV_USER = f"{SENTENCE}\n\nWhich part?\nA. Pump\nB. None\nC. Valve.\nD. "
BIOMEDICAL = "medexqa_biomedical_engineering"


@pytest.mark.parametrize("task", [BIOMEDICAL, f"{BIOMEDICAL}_logits", "medexqa_all"])
def test_medexqa_has_the_authors_user_message_and_no_system_message(rows: Path, task: str) -> None:
    assert chat(task, rows, **({"specialty": "BE"} if task == "medexqa_all" else {})) == (None, MEDEXQA_USER)


def test_the_authors_sentence_is_quoted_verbatim(shared: Path) -> None:
    assert f"`{SENTENCE}`, a blank line, the question," in (shared / "SPEC.md").read_text(encoding="utf-8")


def test_medexqa_use_think(rows: Path) -> None:
    system, user = chat(BIOMEDICAL, rows, use_think=True)
    assert system == (
        "Reason step by step inside <think>...</think> tags first. After the closing tag, give the letter of your "
        "answer and your explanation."
    )
    assert user == MEDEXQA_USER


def test_medexqa_few_shot_from_dev(rows: Path) -> None:
    assert chats(BIOMEDICAL, rows, num_fewshot=1) == [
        [
            {"role": "user", "content": MEDEXQA_DEV_USER},
            {"role": "assistant", "content": "C. Valve.\nA valve closes."},
            {"role": "user", "content": MEDEXQA_USER},
        ]
    ]


def test_medexqa_few_shot_for_the_letters_likelihoods(rows: Path) -> None:
    model = Scripted()
    evaluate(f"{BIOMEDICAL}_logits", model, data=rows, num_fewshot=1, apply_chat_template=False)
    assert model.prompts == [f"{MEDEXQA_DEV_USER}\nC\n\n{MEDEXQA_USER}"] * 4


# ---- MedCalc-Bench

MEDCALC_SYSTEM = (
    "You calculate medical scores and values for patients. Read the patient note and answer the question step by step."
)
MEDCALC_QUESTION = """\
Patient note:
A man of 60.
Creatinine 1.0.

Question: What is his clearance?
"""
MEDCALC_XML = """
End with the final value alone, without units, as <answer>value</answer>. For example: <answer>17.29</answer> for a \
value with decimals, <answer>5</answer> for a score, <answer>5/4/2021</answer> for a date (month/day/year), \
<answer>(4 weeks, 3 days)</answer> for a gestational age."""
MEDCALC_BOXED = """
End with the final value alone, without units, as \\boxed{value}. For example: \\boxed{17.29} for a value with \
decimals, \\boxed{5} for a score, \\boxed{5/4/2021} for a date (month/day/year), \\boxed{(4 weeks, 3 days)} for a \
gestational age."""
MEDCALC_EXAMPLE = """\
Here is a solved example.

Patient note:
A woman of 50.

Question: What is hers?

Solution:
Hers is 70.1.
%s

Now solve this one.

"""


@pytest.mark.parametrize("task", ["medcalc_bench", "medcalc_bench_lite", "medcalc_bench_v1_2"])
def test_medcalc_bench(rows: Path, task: str) -> None:
    assert chat(task, rows) == (MEDCALC_SYSTEM, MEDCALC_QUESTION + MEDCALC_XML)


def test_medcalc_bench_boxed(rows: Path) -> None:
    assert chat("medcalc_bench", rows, answer_format="boxed") == (MEDCALC_SYSTEM, MEDCALC_QUESTION + MEDCALC_BOXED)


def test_medcalc_bench_use_think(rows: Path) -> None:
    system, user = chat("medcalc_bench", rows, use_think=True)
    assert system == f"{MEDCALC_SYSTEM} Reason inside <think>...</think> tags before you answer."
    assert user == MEDCALC_QUESTION + MEDCALC_XML


def test_medcalc_bench_system_prompt_replaces_ours(rows: Path) -> None:
    for task in ("medcalc_bench", "medcalc_bench_one_shot"):
        assert chat(task, rows, system_prompt="Compute {{it}}.", use_think=True)[0] == "Compute {{it}}."
        assert chat(task, rows, system_prompt="")[0] is None


def test_medcalc_bench_one_shot(rows: Path) -> None:
    xml = MEDCALC_EXAMPLE % "<answer>70.1</answer>" + MEDCALC_QUESTION + MEDCALC_XML
    assert chat("medcalc_bench_one_shot", rows) == (MEDCALC_SYSTEM, xml)
    assert chat("medcalc_bench", rows, one_shot=True) == (MEDCALC_SYSTEM, xml)
    boxed = MEDCALC_EXAMPLE % "\\boxed{70.1}" + MEDCALC_QUESTION + MEDCALC_BOXED
    assert chat("medcalc_bench_one_shot", rows, answer_format="boxed") == (MEDCALC_SYSTEM, boxed)


MEDCALC_TOOLS = """

You can use these tools:
- python, with the argument "code": runs Python code and returns what it prints and the value of its last expression. \
The standard library, numpy, scipy, pandas and dateutil can be imported; files and the network cannot be reached. \
Variables are kept from one call to the next.
- calculator, with the argument "expression": evaluates one arithmetic expression: + - * / // % ** (or ^), \
parentheses, sqrt, sin, cos, tan, log (natural), log10, exp, abs, round, min, max, pi, e. Numbers without thousands \
separators, no units, no variables.

To use a tool, write a call in this form and end your reply:
<tool_call>{"name": "python", "arguments": {"code": "from datetime import date, timedelta\\nprint(date(2021, 5, 4) + \
timedelta(days=280))"}}</tool_call>
<tool_call>{"name": "calculator", "arguments": {"expression": "70 / 1.75 ** 2"}}</tool_call>
You may write several calls in one reply. The results come back in <tool_response>...</tool_response>, and then you go \
on; you have 20 replies in all. Once you have the final value, reply without a call and give it in \
<answer>...</answer>."""


def test_medcalc_bench_tools(rows: Path) -> None:
    (messages,) = chats("medcalc_bench_tools", rows, confirm_run_unsafe_code=True)
    system, user = (message["content"] for message in messages)
    assert system == MEDCALC_SYSTEM + MEDCALC_TOOLS
    assert user == MEDCALC_QUESTION + MEDCALC_XML


def test_medcalc_bench_calculator(rows: Path) -> None:
    system, user = chat("medcalc_bench_calculator", rows, answer_format="boxed", max_turns=3, use_think=True)
    assert user == MEDCALC_QUESTION + MEDCALC_BOXED
    assert system is not None
    tool = next(line for line in MEDCALC_TOOLS.splitlines() if line.startswith("- calculator"))
    call = next(line for line in MEDCALC_TOOLS.splitlines() if line.startswith('<tool_call>{"name": "calculator"'))
    thinking = "Reason inside <think>...</think> tags before you answer."
    assert system.startswith(f"{MEDCALC_SYSTEM} {thinking}\n\nYou can use this tool:\n{tool}\n\nTo use a tool, ")
    assert f"end your reply:\n{call}\nYou may" in system
    assert "you have 3 replies in all" in system
    assert system.endswith("give it in \\boxed{...}.")
    assert "python" not in system


def test_medcalc_bench_one_shot_writes_gestational_ages_the_way_they_are_asked_for(rows: Path) -> None:
    write_rows([{**MEDCALC_EXAMPLES[1], "Patient Note": "Pregnant since May."}], rows / "medcalc_bench" / "test.csv")
    user = chat("medcalc_bench_one_shot", rows)[1]
    assert "Solution:\n31 days.\n<answer>(4 weeks, 3 days)</answer>\n\nNow solve this one." in user


def test_medcalc_bench_few_shot_from_train(rows: Path) -> None:
    write_rows(MEDCALC_EXAMPLES[:1], rows / "medcalc_bench" / "train.csv")
    (messages,) = chats("medcalc_bench", rows, num_fewshot=1)
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1]["content"].startswith("Patient note:\nA woman of 50.\n")
    assert messages[2]["content"] == "Hers is 70.1.\n<answer>70.1</answer>"
    (boxed,) = chats("medcalc_bench", rows, {"medcalc_bench": {"answer_format": "boxed"}}, num_fewshot=1)
    assert boxed[2]["content"] == "Hers is 70.1.\n\\boxed{70.1}"


# ---- MedHallu

MEDHALLU_RULES = """\
You judge whether an answer to a medical question is factual. An answer is hallucinated if it has a fault of one of \
these four kinds:
- misinterpretation of the question: it is off-topic or irrelevant, because the question was misunderstood;
- incomplete information: it points out what is false without giving what is correct;
- mechanism and pathway misattribution: it falsely attributes biological mechanisms or disease processes;
- methodological and evidence fabrication: it invents methods, statistics or clinical outcomes.
Reply with """
MEDHALLU_SYSTEM = (
    MEDHALLU_RULES
    + "\\boxed{0} if the answer is factual, \\boxed{1} if it is hallucinated, or \\boxed{2} if you are unsure."
)
MEDHALLU_USER = "Question: Does it help?\n\nAnswer: %s\n\nIs this answer factual or hallucinated?"


def test_medhallu_shows_both_answers_of_a_row(rows: Path) -> None:
    assert chats("medhallu", rows) == [
        [{"role": "system", "content": MEDHALLU_SYSTEM}, {"role": "user", "content": MEDHALLU_USER % answer}]
        for answer in ("Yes.", "No.")
    ]


def test_medhallu_without_unsure(rows: Path) -> None:
    system, user = chat("medhallu", rows, allow_unsure=False)
    assert system == MEDHALLU_RULES + "\\boxed{0} if the answer is factual or \\boxed{1} if it is hallucinated."
    assert user == MEDHALLU_USER % "Yes."


def test_medhallu_with_knowledge(rows: Path) -> None:
    expected = (MEDHALLU_SYSTEM, "Knowledge: One study.\n\nAnother.\n\n" + MEDHALLU_USER % "Yes.")
    assert chat("medhallu_knowledge", rows) == expected
    assert chat("medhallu", rows, use_knowledge=True) == expected


# ---- the harness's own settings

SYSTEMS = {
    "medmcqa_openmed": MEDMCQA_SYSTEM,
    BIOMEDICAL: None,
    "medcalc_bench": MEDCALC_SYSTEM,
    "medhallu": MEDHALLU_SYSTEM,
}
USERS = {
    "medmcqa_openmed": MEDMCQA_USER,
    BIOMEDICAL: MEDEXQA_USER,
    "medcalc_bench": MEDCALC_QUESTION + MEDCALC_XML,
    "medhallu": MEDHALLU_USER % "Yes.",
}


@pytest.mark.parametrize("task", SYSTEMS)
def test_a_system_instruction_comes_before_ours(rows: Path, task: str) -> None:
    system, user = chats(task, rows, system_instruction="Answer in English.")[0]
    ours = SYSTEMS[task]
    assert system["content"] == ("Answer in English." if ours is None else f"Answer in English.\n\n{ours}")
    assert user["content"] == USERS[task]


@pytest.mark.parametrize("task", SYSTEMS)
def test_without_a_chat_template_a_blank_line_parts_the_instructions_from_the_question(rows: Path, task: str) -> None:
    model = Scripted()
    evaluate(task, model, data=rows, apply_chat_template=False)
    ours = SYSTEMS[task]
    assert model.prompts[0] == (USERS[task] if ours is None else f"{ours}\n\n{USERS[task]}")


def test_without_a_chat_template_few_shot_examples_are_parted_by_blank_lines(rows: Path) -> None:
    model = Scripted()
    evaluate(BIOMEDICAL, model, data=rows, apply_chat_template=False, num_fewshot=1)
    assert model.prompts == [f"{MEDEXQA_DEV_USER}\nC. Valve.\nA valve closes.\n\n{MEDEXQA_USER}"]
    model = Scripted()
    evaluate("medmcqa_openmed", model, data=rows, apply_chat_template=False, num_fewshot=1)
    example = f"{MEDMCQA_TRAIN_USER} <think>Because.</think>\n\\boxed{{B}}"
    assert model.prompts == [f"{MEDMCQA_SYSTEM}\n\n{example}\n\n{MEDMCQA_USER}"]


@pytest.mark.parametrize("task", [*GENERATION_TASKS, BIOMEDICAL, "medcalc_bench_one_shot", "medhallu_knowledge"])
def test_generation_is_greedy_and_no_stop_string_can_cut_a_chain_of_thought(task: str) -> None:
    model = Scripted()
    evaluate(task, model, limit=2)
    for settings in model.generation_kwargs:
        assert settings["until"] == []
        assert settings["do_sample"] is False
        assert settings["temperature"] == 0.0
        assert settings["max_gen_toks"] >= 1024


def test_gen_kwargs_override_ours(rows: Path) -> None:
    model = Scripted()
    evaluate("medhallu", model, data=rows, gen_kwargs="temperature=0.7,do_sample=True,max_gen_toks=77")
    assert {(s["temperature"], s["do_sample"], s["max_gen_toks"]) for s in model.generation_kwargs} == {(0.7, True, 77)}


@pytest.mark.parametrize("task", SYSTEMS)
def test_text_of_the_rows_is_never_taken_for_a_template(rows: Path, task: str) -> None:
    hostile = "{{ 7 * 7 }} {% raw %} ${x} {question} {# gone #} %s \\boxed{A}"
    replaced: dict[str, list[Row]] = {
        "medmcqa/validation.jsonl": [{**MEDMCQA, "question": hostile, "opa": hostile}],
        "medhallu/pqa_labeled.jsonl": [{**MEDHALLU, "Question": hostile, "Ground Truth": hostile}],
        "medcalc_bench/test.csv": [{**MEDCALC, "Patient Note": hostile, "Question": hostile}],
    }
    for name, content in replaced.items():
        write_rows(content, rows / name)
    write_rows(
        [{**MEDEXQA, "question": hostile, "A": hostile}], rows / "medexqa/test/biomedical_engineer_test.tsv", False
    )
    assert chats(task, rows)[0][-1]["content"].count(hostile) == 2


# ---- few-shot examples that there are not


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("medmcqa_openmed", "drawn from train"),
        ("medcalc_bench", "one_shot"),
        ("medhallu", "no rows to draw few-shot examples from"),
        (BIOMEDICAL, "dev"),
    ],
)
def test_few_shot_examples_with_nothing_to_draw_from(rows: Path, task: str, told: str) -> None:
    (rows / "medmcqa" / "train.jsonl").unlink()
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").unlink()
    with pytest.raises(MedtasksError) as caught:
        chats(task, rows, num_fewshot=1)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_few_shot_examples_than_there_are(rows: Path) -> None:
    with pytest.raises(DataError, match="--num_fewshot 3, but there are only 1 rows to draw from"):
        chats(BIOMEDICAL, rows, num_fewshot=3)


def test_few_shot_examples_follow_the_few_shot_seed() -> None:
    def prompts(seed: int) -> list[str]:
        model = Scripted()
        evaluate("medmcqa_openmed", model, num_fewshot=2, fewshot_random_seed=seed)
        return model.prompts

    assert prompts(1) == prompts(1)
    assert prompts(1) != prompts(2)


def test_few_shot_examples_are_not_read_in_runs_without_them(rows: Path) -> None:
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert len(chats(BIOMEDICAL, rows)) == 1
    assert len(load(BIOMEDICAL, rows).eval_docs) == 1
