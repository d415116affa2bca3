"""What the model is shown, to the letter: published numbers depend on it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import FILE, GENERATION_TASKS, ROW, Chat, Row, Scripted, evaluate, write_rows

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


@pytest.fixture
def rows(data: Path) -> Path:
    for benchmark, name in FILE.items():
        write_rows([ROW[benchmark]], data / name, header=benchmark != "medexqa")
    write_rows([MEDMCQA_TRAIN], data / "medmcqa" / "train.jsonl")
    write_rows([MEDEXQA_DEV], data / "medexqa" / "dev" / "biomedical_engineer_dev.tsv", header=False)
    write_rows(MEDCALC_EXAMPLES, data / "medcalc_bench" / "one_shot.csv")
    return data


def asked(task: str, rows: Path | str = "sample", **settings: Any) -> Scripted:
    """A model that was asked."""
    model = Scripted()
    evaluate(task, model, data=rows, **{"confirm_run_unsafe_code": True, **settings})
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


def turns(*messages: str | None) -> Chat:
    """A chat of a system message, if it has one, and further messages in turn."""
    system, *others = messages
    chat = [{"role": role, "content": str(text)} for role, text in zip(itertools.cycle(("user", "assistant")), others)]
    return chat if system is None else [{"role": "system", "content": system}, *chat]


# ---- the texts
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


SENTENCE = (
    "The following is a multiple-choice question. Please choose the most suitable one among A, B, C and D as the "
    "answer to this question. Your answer should be paired with an explanation why you chose that answer."
)
MEDEXQA_USER = f"{SENTENCE}\n\nWhich device?\nA. Pump\nB. None\nC. Valve.\nD. "
MEDEXQA_DEV_USER = f"{SENTENCE}\n\nWhich part?\nA. Pump\nB. None\nC. Valve.\nD. "
BIOMEDICAL = "medexqa_biomedical_engineering"


MEDEXQA_THINKING = (
    "Reason step by step inside <think>...</think> tags first. After the closing tag, give the letter of your answer "
    "and your explanation."
)
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


MEDCALC_THINKING = "Reason inside <think>...</think> tags before you answer."
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


SYSTEMS = {
    "medmcqa_openmed": MEDMCQA_SYSTEM,
    BIOMEDICAL: None,
    "medcalc_bench": MEDCALC_SYSTEM,
    "medhallu": MEDHALLU_SYSTEM,
}
USERS: dict[str, str] = {
    "medmcqa_openmed": MEDMCQA_USER,
    BIOMEDICAL: MEDEXQA_USER,
    "medcalc_bench": MEDCALC_QUESTION + MEDCALC_XML,
    "medhallu": MEDHALLU_USER % "Yes.",
}


XML, BOXED = MEDCALC_QUESTION + MEDCALC_XML, MEDCALC_QUESTION + MEDCALC_BOXED
WITHOUT_UNSURE = MEDHALLU_RULES + "\\boxed{0} if the answer is factual or \\boxed{1} if it is hallucinated."
KNOWING = "Knowledge: One study.\n\nAnother.\n\n" + MEDHALLU_USER % "Yes."
SHOWN: list[tuple[str, Row, str | None, str]] = [
    *((task, {"specialty": "BE"} if task == "medexqa_all" else {}, None, MEDEXQA_USER)
      for task in (BIOMEDICAL, f"{BIOMEDICAL}_logits", "medexqa_all")),
    (BIOMEDICAL, {"use_think": True}, MEDEXQA_THINKING, MEDEXQA_USER),
    ("medmcqa_openmed", {}, MEDMCQA_SYSTEM, MEDMCQA_USER),
    *((task, {}, MEDCALC_SYSTEM, XML) for task in ("medcalc_bench", "medcalc_bench_lite", "medcalc_bench_v1_2")),
    ("medcalc_bench", {"answer_format": "boxed"}, MEDCALC_SYSTEM, BOXED),
    ("medcalc_bench", {"use_think": True}, f"{MEDCALC_SYSTEM} {MEDCALC_THINKING}", XML),
    ("medcalc_bench", {"system_prompt": ""}, None, XML),
    ("medcalc_bench", {"system_prompt": "Do {{it}}.", "use_think": True}, "Do {{it}}.",
     f"{MEDCALC_QUESTION}\n{MEDCALC_THINKING} {MEDCALC_XML[1:]}"),
    ("medcalc_bench_one_shot", {}, MEDCALC_SYSTEM, MEDCALC_EXAMPLE % "<answer>70.1</answer>" + XML),
    ("medcalc_bench", {"one_shot": True, "answer_format": "boxed"}, MEDCALC_SYSTEM,
     MEDCALC_EXAMPLE % "\\boxed{70.1}" + BOXED),
    ("medcalc_bench_tools", {}, MEDCALC_SYSTEM + MEDCALC_TOOLS, XML),
    ("medhallu", {}, MEDHALLU_SYSTEM, MEDHALLU_USER % "Yes."),
    ("medhallu", {"allow_unsure": False}, WITHOUT_UNSURE, MEDHALLU_USER % "Yes."),
    ("medhallu", {"use_knowledge": True}, MEDHALLU_SYSTEM, KNOWING),
    ("medhallu_knowledge", {}, MEDHALLU_SYSTEM, KNOWING),
]  # fmt: skip


@pytest.mark.parametrize(("task", "options", "system", "user"), SHOWN)
def test_the_messages_to_the_letter(rows: Path, task: str, options: Row, system: str | None, user: str) -> None:
    assert chat(task, rows, **options) == (system, user)


def test_both_answers_of_a_row_are_shown(rows: Path) -> None:
    assert chats("medhallu", rows) == [turns(MEDHALLU_SYSTEM, MEDHALLU_USER % answer) for answer in ("Yes.", "No.")]


def test_one_tool_is_described_alone_with_the_number_of_replies_and_the_form_of_the_answer(rows: Path) -> None:
    system, user = chat("medcalc_bench_calculator", rows, answer_format="boxed", max_turns=3, use_think=True)
    assert user == BOXED and system is not None
    tool = next(line for line in MEDCALC_TOOLS.splitlines() if line.startswith("- calculator"))
    call = next(line for line in MEDCALC_TOOLS.splitlines() if line.startswith('<tool_call>{"name": "calculator"'))
    assert system.startswith(
        f"{MEDCALC_SYSTEM} {MEDCALC_THINKING}\n\nYou can use this tool:\n{tool}\n\nTo use a tool, "
    )
    assert f"end your reply:\n{call}\nYou may" in system and "you have 3 replies in all" in system
    assert system.endswith("give it in \\boxed{...}.") and "python" not in system
    assert (chat("medcalc_bench_calculator", rows, system_prompt="")[0] or "").startswith("You can use this tool:")


# ---- few-shot examples

SHOTS = [
    ("medmcqa_openmed", turns(MEDMCQA_SYSTEM, MEDMCQA_TRAIN_USER, "<think>Because.</think>\n\\boxed{B}", MEDMCQA_USER)),
    (BIOMEDICAL, turns(None, MEDEXQA_DEV_USER, "C. Valve.\nA valve closes.", MEDEXQA_USER)),
]


@pytest.mark.parametrize(("task", "expected"), SHOTS)
def test_few_shot_examples(rows: Path, task: str, expected: Chat) -> None:
    assert chats(task, rows, num_fewshot=1) == [expected]
    (rows / "medexqa" / "dev" / "biomedical_engineer_dev.tsv").write_text("broken")
    assert chats(task, rows), "what is not needed is not read"


def test_few_shot_examples_of_other_forms(rows: Path) -> None:
    write_rows([{**MEDMCQA_TRAIN, "exp": None}], rows / "medmcqa" / "train.jsonl")
    assert chats("medmcqa_openmed", rows, num_fewshot=1)[0][2]["content"] == "\\boxed{B}"
    plain = {"num_fewshot": 1, "apply_chat_template": False}
    assert asked(f"{BIOMEDICAL}_logits", rows, **plain).prompts == [f"{MEDEXQA_DEV_USER}\nC\n\n{MEDEXQA_USER}"] * 4
    shown = [f"{MEDEXQA_DEV_USER}\nC. Valve.\nA valve closes.\n\n{MEDEXQA_USER}"]
    assert asked(BIOMEDICAL, rows, **plain).prompts == shown
    write_rows(MEDCALC_EXAMPLES[:1], rows / "medcalc_bench" / "train.csv")
    for options, answer in (({}, "<answer>70.1</answer>"), ({"answer_format": "boxed"}, "\\boxed{70.1}")):
        (messages,) = chats("medcalc_bench", rows, metadata={"medcalc_bench": options}, num_fewshot=1)
        assert messages[2]["content"] == f"Hers is 70.1.\n{answer}"


def test_few_shot_examples_follow_the_few_shot_seed() -> None:
    first, again, other = (
        asked("medmcqa_openmed", num_fewshot=2, fewshot_random_seed=seed, limit=2).prompts for seed in (1, 1, 2)
    )
    assert first == again != other


# ---- the harness's own settings


@pytest.mark.parametrize("task", SYSTEMS)
def test_a_system_instruction_a_plain_prompt_and_text_that_looks_like_a_template(rows: Path, task: str) -> None:
    ours, user = SYSTEMS[task], USERS[task]
    system = "Answer in English." if ours is None else f"Answer in English.\n\n{ours}"
    assert chats(task, rows, system_instruction="Answer in English.")[0] == turns(system, user)
    plain = user if ours is None else f"{ours}\n\n{user}"
    assert asked(task, rows, apply_chat_template=False).prompts[0] == plain
    hostile = "{{ 7 * 7 }} {% raw %} ${x} {question} {# gone #} %s \\boxed{A}"
    benchmark = next(name for name in FILE if task.startswith(name))
    names = {"question", "opa", "A", "Question", "Ground Truth", "Patient Note"} & {*ROW[benchmark]}
    changed = {**ROW[benchmark], **dict.fromkeys(names, hostile)}
    write_rows([changed], rows / FILE[benchmark], header=benchmark != "medexqa")
    assert chats(task, rows)[0][-1]["content"].count(hostile) == 2


@pytest.mark.parametrize("task", [*GENERATION_TASKS, BIOMEDICAL, "medcalc_bench_one_shot", "medhallu_knowledge"])
def test_generation_is_greedy_and_no_stop_string_can_cut_a_chain_of_thought(task: str) -> None:
    (settings,) = asked(task, limit=1).generation_kwargs[:1]
    assert (settings["until"], settings["do_sample"], settings["temperature"]) == ([], False, 0.0)
    assert settings["max_gen_toks"] >= 1024
    (given,) = asked(task, limit=1, gen_kwargs="temperature=0.7,do_sample=True,max_gen_toks=77").generation_kwargs[:1]
    assert (given["temperature"], given["do_sample"], given["max_gen_toks"]) == (0.7, True, 77)
