"""Options in combination: every pair of them makes a prompt that agrees with itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from conftest import Row, documents, load

from medtasks_utils.harness.task import MedTask

ANSWERS = {"xml": ("<answer>", "</answer>"), "boxed": ("\\boxed{", "}")}
THINKING = "Reason inside <think>...</think> tags before you answer."

CHANGED: dict[str, dict[str, Any]] = {
    "medcalc_bench": {
        "dataset_version": "1.2",
        "split": "train",
        "one_shot": True,
        "answer_format": "boxed",
        "use_think": True,
        "system_prompt": "You are a careful physician.",
        "add_python_tool": True,
        "add_calculator_tool": True,
        "max_turns": 1,
        "tool_timeout": 3,
        "per_calculator": 1,
        "repeats": 2,
    },
    "medhallu": {
        "subset": "pqa_artificial",
        "difficulty": "hard",
        "use_knowledge": True,
        "unsure_reward": 0.5,
        "allow_unsure": False,
        "pairing": "sampled",
        "seed": 3,
        "repeats": 2,
    },
    "medexqa": {
        "specialty": "CP",
        "split": "dev",
        "use_think": True,
        "explanation_metrics": "bleu",
        "mcq_weight": 0.3,
        "seed": 3,
        "repeats": 2,
    },
    "medmcqa": {"split": "train", "num_train_examples": 2, "num_eval_examples": 2, "repeats": 2},
}
TASKS = {
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
    "medexqa": "medexqa_all",
    "medmcqa": "medmcqa_openmed",
}


def combinations(benchmark: str) -> list[dict[str, Any]]:
    """No option, each alone, all pairs, and all at once."""
    changed = CHANGED[benchmark]
    chosen = [names for size in (0, 1, 2, len(changed)) for names in itertools.combinations(changed, size)]
    return [{name: changed[name] for name in names} for names in chosen]


def named(options: dict[str, Any]) -> str:
    return "+".join(options) if len(options) < 3 else "all" if options else "none"


def messages(task: MedTask, doc: Row) -> tuple[str, str]:
    """System and user message."""
    task._has_chat_template = True
    return task.resolve_field(doc, task.config.description) or "", task.doc_to_text(doc)


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample's rows of MedCalc-Bench, with a train split."""
    import shutil

    from medtasks_utils.harness.sources import SAMPLE

    folder = tmp_path_factory.mktemp("rows")
    shutil.copytree(SAMPLE / "medcalc_bench", folder / "medcalc_bench")
    shutil.copy(SAMPLE / "medcalc_bench" / "test.csv", folder / "medcalc_bench" / "train.csv")
    return str(folder)


@pytest.mark.parametrize("options", combinations("medcalc_bench"), ids=named)
def test_medcalc_bench(options: dict[str, Any], train: str) -> None:
    task = load("medcalc_bench", train, medcalc_bench=options)
    form, other = options.get("answer_format", "xml"), "xml" if "answer_format" in options else "boxed"
    opening, closing = ANSWERS[form]
    tools = [name for name in ("python", "calculator") if options.get(f"add_{name}_tool")]
    for doc in documents(task)[::7]:
        system, user = messages(task, doc)
        example, _, question = user.rpartition("Now solve this one.\n\n")

        # One form of answer, asked for at the end, and nothing of the other.
        assert f"as {opening}value{closing}" in question
        assert ANSWERS[other][0] not in system + user

        # The example has the form that is asked for, with the reasoning where it is asked for.
        assert bool(example) == options.get("one_shot", False)
        if example:
            reasoning = doc["example_explanation"]
            reasoning = f"<think>{reasoning}</think>" if options.get("use_think") else reasoning
            solution = f"{reasoning}\n{opening}{doc['example_answer']}{closing}"
            assert example.partition("Solution:\n")[2].strip() == solution

        # Thinking is asked for once, whoever wrote the system message.
        assert (system + question).count(THINKING) == options.get("use_think", False)
        assert (system + question).count("<think>") == options.get("use_think", False)

        # The user's system message comes first, and ours nowhere.
        given = options.get("system_prompt")
        assert system.startswith(given or "You calculate medical scores")
        assert not given or "You calculate medical scores" not in system

        # The tools that are on are described, with the number of replies and the form of the answer.
        assert [name for name in ("python", "calculator") if f'\n- {name}, with the argument "' in system] == tools
        assert [name for name in ("python", "calculator") if f'<tool_call>{{"name": "{name}"' in system] == tools
        if tools:
            assert f"give it in {opening}...{closing}." in system
            assert ("you have 1 reply in all" if "max_turns" in options else "you have 20 replies in all") in system
            assert ("this tool" in system) == (len(tools) == 1)
        else:
            assert "tool" not in system
            assert system == system.strip()


def test_an_empty_system_prompt_leaves_the_tools(train: str) -> None:
    task = load("medcalc_bench", train, medcalc_bench={"system_prompt": "", "add_calculator_tool": True})
    assert messages(task, documents(task)[0])[0].startswith("You can use this tool:\n- calculator")
    task = load("medcalc_bench", train, medcalc_bench={"system_prompt": ""})
    assert messages(task, documents(task)[0])[0] == ""


def test_examples_are_written_as_answers_are_asked_for(train: str) -> None:
    found = {doc["judgement"]: doc["example_answer"] for doc in documents(load("medcalc_bench_one_shot", train))}
    assert found.keys() == {"date", "weeks_days", "integer", "decimal"}
    month, day, year = found["date"].split("/")
    assert not month.startswith("0") and not day.startswith("0") and len(year) == 4
    assert found["weeks_days"].startswith("(") and "weeks" in found["weeks_days"]


@pytest.mark.parametrize("use_think", [False, True])
def test_few_shot_answers_think_where_it_is_asked_for(use_think: bool, train: str) -> None:
    task = load("medcalc_bench", train, medcalc_bench={"use_think": use_think})
    doc = documents(task)[0]
    target = task.resolve_field(doc, task.config.fewshot_config.doc_to_target)
    reasoning = f"<think>{doc['explanation']}</think>" if use_think else doc["explanation"]
    assert target == f"{reasoning}\n<answer>{doc['shown_truth']}</answer>"


@pytest.mark.parametrize("options", combinations("medhallu"), ids=named)
def test_medhallu(options: dict[str, Any]) -> None:
    task = load("medhallu", medhallu=options)
    for doc in documents(task):
        system, user = messages(task, doc)
        allowed = ["0", "1"] if "allow_unsure" in options else ["0", "1", "2"]
        assert [digit for digit in "0123" if f"\\boxed{{{digit}}}" in system] == allowed
        assert ("unsure" in system) == ("2" in allowed)
        for kind in ("misinterpretation", "incomplete information", "mechanism and pathway", "methodological"):
            assert kind in system
        assert user.startswith("Knowledge: ") == options.get("use_knowledge", False)
        assert (doc["knowledge"] in user) == options.get("use_knowledge", False)
        assert "boxed" not in user


@pytest.mark.parametrize("options", combinations("medexqa"), ids=named)
def test_medexqa(options: dict[str, Any]) -> None:
    task = load("medexqa_all", medexqa=options)
    for doc in documents(task):
        system, user = messages(task, doc)
        assert ("<think>...</think>" in system) == options.get("use_think", False) == bool(system)
        assert user.count("paired with an explanation") == 1
        assert "<think>" not in user
        assert ("specialty" in options) <= (doc["specialty"] == "clinical_psychology")
        assert doc["id"].split("/")[1] == options.get("split", "test")


@pytest.mark.parametrize("options", combinations("medmcqa"), ids=named)
def test_medmcqa(options: dict[str, Any]) -> None:
    task = load("medmcqa_openmed", medmcqa=options)
    docs = documents(task)
    assert len(docs) == 2 or "num_eval_examples" not in options
    for doc in docs:
        system, user = messages(task, doc)
        assert "<think>...</think>" in system and "\\boxed{X}" in system
        assert user.endswith("Answer:")


@pytest.mark.parametrize("benchmark", TASKS)
def test_every_option_that_a_prompt_may_show_is_in_the_pairs(benchmark: str) -> None:
    elsewhere = {"revision", "use_explanations", "explanation_weight", "use_coverage", "weak_sandbox", "vary_order"}
    names = type(load(TASKS[benchmark]).options).model_fields.keys()
    assert {name for name in names if not name.startswith(("judge", "use_judge", "bertscore"))} - elsewhere == CHANGED[
        benchmark
    ].keys()
