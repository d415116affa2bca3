"""Options under ``--metadata``: what is accepted, and the one line that a wrong one ends in."""

from __future__ import annotations

from collections.abc import Callable
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
    "medmcqa": {
        "split": ["validation", "train"],
        "num_train_examples": [-1, 0, 3],
        "num_eval_examples": [-1, 1, 100],
        "repeats": [1, 4],
        "vary_order": [True, False],
    },
    "medexqa": {
        "specialty": [
            *(
                "ALL",
                "all",
                "be",
                "CLS",
                "Clinical_Psychology",
                "speech language pathology",
                "speech-language-pathology",
            ),
            *("biomedical_engineer", "Speech_Pathologist", ["BE", "ot"], ["clinical_psychologist", "ALL"], None),
        ],
        "split": ["test", "dev"],
        "use_think": [True, False],
        "use_explanations": [True, False],
        "explanation_metrics": ["all", "ALL", "bleu", ["rougeL", "meteor"], ["all"], ["bleu", "all"], None],
        "mcq_weight": [0, 0.3, 1],
        "explanation_weight": [0.7],
        "seed": [None, 0, 7],
        "repeats": [2],
        "vary_order": [False],
    },
    "medcalc_bench": {
        "dataset_version": ["verified", "1.2"],
        "split": ["test"],
        "one_shot": [True, False],
        "answer_format": ["xml", "boxed"],
        "use_think": [True, False],
        "system_prompt": [None, "", "Compute."],
        "per_calculator": [None, 1, 4],
        "add_python_tool": [True, False],
        "add_calculator_tool": [True, False],
        "max_turns": [1, 20, 50],
        "tool_timeout": [0.5, 10, 60.0],
        "weak_sandbox": [True, False],
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
        "split": ["dev", ""],
        "num_train_examples": [-2, "3", 1.5],
        "num_eval_examples": [-2, "all", True],
        "repeats": [0, "2"],
    },
    "medexqa": {
        "specialty": ["cardiology", ["BE", "nursing"], 3],
        "split": ["train", "validation"],
        "use_think": ["true", 1],
        "use_explanations": ["no", 0],
        "explanation_metrics": ["rough", [], ["bleu", 5]],
        "mcq_weight": ["0.5", -0.1, 1.5],
        "seed": ["1", 1.5, True],
        "repeats": [-1, 2.0],
    },
    "medcalc_bench": {
        "dataset_version": ["1.1", 1.2, "Verified"],
        "split": ["validation", "one_shot"],
        "one_shot": ["yes", 0],
        "answer_format": ["json", ""],
        "use_think": ["no"],
        "system_prompt": [5, ["Compute."]],
        "per_calculator": [0, "4", 2.5],
        "add_python_tool": ["yes", 1],
        "add_calculator_tool": ["python", 0],
        "max_turns": [0, -1, 2.5, "20"],
        "weak_sandbox": ["yes", 1],
        "tool_timeout": [0, -1.5, "10", float("nan"), float("inf")],
    },
    "medhallu": {
        "subset": ["labeled"],
        "difficulty": ["Hard", "extreme", ["easy"]],
        "use_knowledge": ["false", 1],
        "unsure_reward": ["0.01", float("nan"), float("inf")],
        "allow_unsure": [0],
        "pairing": ["sample"],
        "seed": ["0"],
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


@pytest.mark.parametrize("benchmark", TASK)
def test_null_is_the_default_of_every_option(benchmark: str) -> None:
    plain = load(TASK[benchmark], **{benchmark: {}})
    names = list(type(plain.options).model_fields)
    if benchmark == "medexqa":
        names.remove("use_explanations")  # which these tests switch off
    nulls = load(TASK[benchmark], **{benchmark: dict.fromkeys(names)})
    assert nulls.options == plain.options
    assert nulls.options.model_fields_set == plain.options.model_fields_set
    if benchmark != "medexqa":
        assert load(TASK[benchmark], **{benchmark: None}).options == plain.options
    assert load("medcalc_bench_lite", medcalc_bench={"per_calculator": None}).options.per_calculator == 4
    with pytest.raises(OptionError, match="unknown option 'nonsense'"):
        load(TASK[benchmark], **{benchmark: {"nonsense": None}})


def test_version_is_another_name_of_dataset_version() -> None:
    assert load("medcalc_bench", medcalc_bench={"version": "1.2"}).options.dataset_version == "1.2"
    both = {"version": "1.2", "dataset_version": "1.2"}
    assert load("medcalc_bench", medcalc_bench=both).options.dataset_version == "1.2"
    assert load("medcalc_bench", medcalc_bench={**both, "dataset_version": None}).options.dataset_version == "1.2"
    assert load("medcalc_bench_v1_2", medcalc_bench={"version": "verified"}).options.dataset_version == "verified"
    with pytest.raises(OptionError, match="version is another name of dataset_version, and their values differ"):
        load("medcalc_bench", medcalc_bench={"dataset_version": "verified", "version": "1.2"})
    with pytest.raises(OptionError, match=r"dataset_version must be 'verified', '1.2' or .*dataset_version or version"):
        load("medcalc_bench", medcalc_bench={"version": "1.1"})
    with pytest.raises(OptionError, match="unknown option 'version'"):
        load("medhallu", medhallu={"version": "1.2"})


@pytest.mark.parametrize("metadata", [{"medexqa": {"judge_api_key": "sk-123"}}, {"judge_api_key": "sk-123"}])
def test_a_judges_key_is_refused_by_a_line_that_says_why_and_does_not_repeat_it(metadata: dict[str, Any]) -> None:
    with pytest.raises(OptionError) as caught:
        load("medexqa_all", **metadata)
    message = str(caught.value)
    assert "judge_api_key_env" in message and "written to results" in message
    assert "sk-123" not in message and "\n" not in message


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ({}, (0.5, 0.5)),
        ({"mcq_weight": 0.25}, (0.25, 0.75)),
        ({"explanation_weight": 0.25}, (0.75, 0.25)),
        ({"mcq_weight": 1}, (1, 0)),
        ({"mcq_weight": 0.25, "explanation_weight": None}, (0.25, 0.75)),
        ({"mcq_weight": 0.3, "explanation_weight": 0.7}, (0.3, 0.7)),
        ({"mcq_weight": 1.0, "explanation_weight": 1.0}, (1.0, 1.0)),
        ({"mcq_weight": 0.2, "explanation_weight": 0.3}, (0.2, 0.3)),
    ],
)
def test_one_weight_sets_the_other_and_two_are_taken_as_they_are(
    given: dict[str, Any], weights: tuple[float, float], warnings_of_harness: Callable[[], list[str]]
) -> None:
    options = load("medexqa_all", medexqa=given).options
    assert (options.mcq_weight, options.explanation_weight) == weights
    told = [line for line in warnings_of_harness() if "combined" in line]
    assert len(told) == (sum(weights) != 1)
    assert all("not 1; combined is taken with them as they are" in line and "\n" not in line for line in told)


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
@pytest.mark.parametrize("value", ["repeats=2", ["repeats"], 3, True])
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
