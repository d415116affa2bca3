"""Options under ``--metadata``: what is accepted, and the one line that a wrong one ends in."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import GENERATION_TASKS, documents, load, manager

from medtasks_utils.errors import OptionError

TASK = {
    "medmcqa": "medmcqa_openmed",
    "medexqa": "medexqa_all",
    "medcalc_bench": "medcalc_bench",
    "medhallu": "medhallu",
}

VALID: dict[str, dict[str, list[Any]]] = {
    "medmcqa": {"num_train_examples": [-1, 0, 3], "num_eval_examples": [-1, 1, 100], "repeats": [1, 4]},
    "medexqa": {
        "specialty": ["ALL", "all", "be", "CLS", "Clinical_Psychology", "speech language pathology", ["BE", "ot"]],
        "use_think": [True, False],
        "use_explanations": [True, False],
        "explanation_metrics": ["all", "bleu", ["rougeL", "meteor"]],
        "seed": [None, 0, 7],
        "repeats": [2],
    },
    "medcalc_bench": {
        "dataset_version": ["verified", "1.2"],
        "one_shot": [True, False],
        "answer_format": ["xml", "boxed"],
        "use_think": [True, False],
        "system_prompt": [None, "", "Compute."],
        "per_calculator": [None, 1, 4],
        "add_python_tool": [True, False],
        "add_calculator_tool": [True, False],
        "max_turns": [1, 20, 50],
        "tool_timeout": [0.5, 10, 60.0],
        "repeats": [3],
    },
    "medhallu": {
        "subset": ["pqa_labeled", "pqa_artificial"],
        "difficulty": ["easy", "medium", "hard", "all"],
        "use_knowledge": [True, False],
        "unsure_reward": [0, 0.01, -1, 0.5],
        "allow_unsure": [True, False],
        "pairing": ["both", "sampled"],
        "seed": [0, 1, -5],
        "repeats": [5],
    },
}
WRONG: dict[str, dict[str, list[Any]]] = {
    "medmcqa": {
        "num_train_examples": [-2, "3", 1.5, None],
        "num_eval_examples": [-2, "all", True],
        "repeats": [0, "2"],
    },
    "medexqa": {
        "specialty": ["cardiology", [], ["BE", "nursing"], None, 3],
        "use_think": ["true", 1, None],
        "use_explanations": ["no", 0],
        "explanation_metrics": ["rouge", [], ["bleu", 5], None],
        "mcq_weight": ["0.5", -0.1, 1.5, None],
        "seed": ["1", 1.5, True],
        "repeats": [-1, None, 2.0],
    },
    "medcalc_bench": {
        "dataset_version": ["1.1", 1.2, "Verified", None],
        "one_shot": ["yes", 0],
        "answer_format": ["json", "", None],
        "use_think": ["no"],
        "system_prompt": [5, ["Compute."]],
        "per_calculator": [0, "4", 2.5],
        "add_python_tool": ["yes", 1, None],
        "add_calculator_tool": ["python", 0],
        "max_turns": [0, -1, 2.5, "20", None],
        "tool_timeout": [0, -1.5, "10", None, float("nan"), float("inf")],
    },
    "medhallu": {
        "subset": ["labeled", None],
        "difficulty": ["Hard", "extreme", ["easy"]],
        "use_knowledge": ["false", 1],
        "unsure_reward": ["0.01", None, float("nan"), float("inf")],
        "allow_unsure": [0],
        "pairing": ["sample", None],
        "seed": ["0", None],
    },
}


def cases(table: dict[str, dict[str, list[Any]]]) -> list[tuple[str, str, Any]]:
    return [
        (b, option, value) for b, options in table.items() for option, values in options.items() for value in values
    ]


@pytest.mark.parametrize(("benchmark", "option", "value"), cases(VALID))
def test_a_valid_value_is_taken(benchmark: str, option: str, value: Any) -> None:
    task = load(TASK[benchmark], **{benchmark: {option: value}})
    if option not in ("specialty", "explanation_metrics"):  # written in many ways
        assert getattr(task.options, option) == value


@pytest.mark.parametrize(("benchmark", "option", "value"), cases(WRONG))
def test_an_ill_typed_value_is_one_line_that_names_the_option_and_the_valid_ones(
    benchmark: str, option: str, value: Any
) -> None:
    with pytest.raises(OptionError) as caught:
        load(TASK[benchmark], **{benchmark: {option: value}})
    message = str(caught.value)
    assert "\n" not in message
    problem, _, valid = message.partition("Valid options of")
    assert option in problem
    assert benchmark in problem
    for name in VALID[benchmark]:
        assert name in valid


@pytest.mark.parametrize(
    ("benchmark", "option", "meant"),
    [
        ("medmcqa", "num_eval_example", "num_eval_examples"),
        ("medexqa", "speciality", "specialty"),
        ("medcalc_bench", "oneshot", "one_shot"),
        ("medhallu", "dificulty", "difficulty"),
        ("medhallu", "Difficulty", "difficulty"),
    ],
)
def test_a_misspelt_option_is_named_with_the_one_that_was_meant(benchmark: str, option: str, meant: str) -> None:
    with pytest.raises(OptionError) as caught:
        load(TASK[benchmark], **{benchmark: {option: 1}})
    message = str(caught.value)
    assert f"unknown option {option!r} (did you mean {meant!r}?)" in message
    for name in VALID[benchmark]:
        assert name in message
    assert "\n" not in message


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(OptionError, match=r"pairing must be 'both' or 'sampled'.*unknown option 'nonsense'"):
        load("medhallu", medhallu={"pairing": "one", "nonsense": 1})


@pytest.mark.parametrize("benchmark", TASK)
@pytest.mark.parametrize("value", ["repeats=2", ["repeats"], 3, None, True])
def test_what_is_not_an_object_is_an_error(benchmark: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f'"{benchmark}" takes a JSON object of options') as caught:
        load(TASK[benchmark], **{benchmark: value})
    assert "repeats" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("benchmark", "option"),
    [
        (benchmark, option)
        for benchmark, options in VALID.items()
        for option in options
        if option != "seed"  # a model argument, too: at the top level it says nothing
    ],
)
def test_an_option_at_the_top_level_is_sent_to_its_place(benchmark: str, option: str) -> None:
    with pytest.raises(OptionError) as caught:
        load(TASK[benchmark], **{option: VALID[benchmark][option][-1]})
    assert f"option {option!r} belongs under its benchmark" in str(caught.value)
    assert f'{{"{benchmark}": {{"{option}": ...}}}}' in str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("medhalu", "medhallu"),
        ("MedHallu", "medhallu"),
        ("medmqca", "medmcqa"),
        ("medmcqa_openmed", "medmcqa"),
        ("medexqa_all", "medexqa"),
        ("medcalc", "medcalc_bench"),
        ("medcalc-bench", "medcalc_bench"),
        ("medcalc_bench_lite", "medcalc_bench"),
        ("medtask_data", "medtasks_data"),
    ],
)
def test_a_misspelt_benchmark_is_not_ignored(written: str, meant: str) -> None:
    for task in GENERATION_TASKS:
        with pytest.raises(OptionError, match=f"unknown name '{written}'; did you mean '{meant}'"):
            load(task, **{written: {}})


def test_model_arguments_in_the_same_object_mean_nothing_to_the_tasks() -> None:
    model_arguments = {
        "pretrained": "org/model",
        "base_url": "http://127.0.0.1:8000/v1/chat/completions",
        "model": "medical-model",
        "seed": "not a seed",
        "revision": "main",
        "version": 7,
        "batch_size": 1,
        "max_length": 2048,
        "dtype": "auto",
        "num_concurrent": 4,
        "max_retries": 3,
        "tokenizer": "t",
        "temperature": 0.5,
        "think_end_token": "</think>",
        "enable_thinking": True,
        "device": "cpu",
        "max_gen_toks": 100,
        "system_instruction": "x",
        "trust_remote_code": True,
        "data_parallel_size": 1,
        "chat_template_args": {"enable_thinking": False},
    }
    for name in GENERATION_TASKS:
        plain, merged = load(name), load(name, **model_arguments)
        assert merged.options == plain.options
        assert documents(merged) == documents(plain)


def test_the_options_of_other_benchmarks_are_left_to_them() -> None:
    tasks = manager({"medhallu": {"difficulty": "easy"}, "medcalc_bench": {"per_calculator": 1}}).load(
        list(GENERATION_TASKS)
    )["tasks"]
    assert tasks["medhallu"].options.difficulty == "easy"
    assert {doc["difficulty"] for doc in documents(tasks["medhallu"])} == {"easy"}
    assert tasks["medcalc_bench"].options.per_calculator == 1
    assert tasks["medmcqa_openmed"].options == load("medmcqa_openmed").options


def test_the_users_options_override_those_of_the_yaml() -> None:
    assert load("medcalc_bench_lite").options.per_calculator == 4
    assert load("medcalc_bench_lite", medcalc_bench={"per_calculator": 1}).options.per_calculator == 1
    assert load("medcalc_bench_one_shot").options.one_shot is True
    assert load("medcalc_bench_one_shot", medcalc_bench={"one_shot": False}).options.one_shot is False
    assert load("medhallu_artificial", medhallu={"subset": "pqa_labeled"}).options.subset == "pqa_labeled"
    lite = load("medcalc_bench_lite", medcalc_bench={"one_shot": True})
    assert (lite.options.per_calculator, lite.options.one_shot) == (4, True), "the YAML's other settings stay"


def test_the_options_in_force_are_in_the_saved_configuration() -> None:
    config = load("medhallu_knowledge", medhallu={"seed": 3}).dump_config()
    assert config["dataset_kwargs"]["use_knowledge"] is True
    assert config["dataset_kwargs"]["seed"] == 3
    assert config["metadata"]["data_source"] == "sample"


def test_the_options_are_checked_before_the_rows_are_looked_for() -> None:
    with pytest.raises(OptionError, match="difficulty"):
        load("medhallu", "/nonexistent", medhallu={"difficulty": "none"})
