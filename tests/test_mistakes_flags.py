"""Mistakes with flags, options and plans: each is one line with the way out, before the model is asked."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from conftest import load
from openai_server import openai_server
from test_mistakes import CHAT, TASKS, at, run, the_line

from medtasks_utils import cli
from medtasks_utils.errors import OptionError, UsageError
from medtasks_utils.harness.context import what_is_cut
from medtasks_utils.harness.failures import _of_a_model
from medtasks_utils.harness.flags import as_words, read_settings
from medtasks_utils.harness.generation_settings import check_generation_settings
from medtasks_utils.harness.preflight import Plan
from medtasks_utils.harness.sources import SAMPLE


@pytest.fixture(scope="module")
def _server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with openai_server() as found:
        yield found


@pytest.fixture
def server(_server: tuple[str, list[dict[str, Any]]]) -> str:
    return _server[0]


@pytest.fixture
def asked(_server: tuple[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """What the server is asked in one test."""
    _server[1].clear()
    return _server[1]


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The line in which a command ends that cannot be meant."""
    assert run(*arguments) == 2
    return the_line(capsys)


# ---- generation settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temprature": 0.7}, r"no setting temprature \(did you mean temperature\?\)"),
        ({"max_gen_tokens": 5}, r"did you mean max_gen_toks\?"),
        ({"max-gen-toks": 5}, r"did you mean max_gen_toks\?"),
        ({"Temperature": 1}, r"did you mean temperature\?"),
        ({"max_token": 5}, r"did you mean max_gen_toks\?"),
        ({"temperature": "hot"}, "temperature=hot: should be a valid number"),
        ({"temperature": "null"}, "temperature=null"),
        ({"temperature": None}, "temperature=None"),
        ({"temperature": True}, "temperature=True"),
        ({"temperature": -1.0}, "greater than or equal to 0"),
        ({"temperature": float("nan")}, "finite"),
        ({"max_gen_toks": -1.0}, "max_gen_toks=-1.0"),
        ({"max_gen_toks": 0}, "greater than or equal to 1"),
        ({"max_gen_toks": 1.5}, "valid integer"),
        ({"max_gen_toks": "16k"}, "max_gen_toks=16k: should be a valid integer"),
        ({"top_p": 0}, "greater than 0"),
        ({"top_p": 1.5}, "less than or equal to 1"),
        ({"top_k": 1.5}, "multiple of 1"),
        ({"until": 5}, "until=5"),
        ({"until": [5]}, "until="),
        ({"until": "[a, b]"}, "single quotes"),
        ({"do_sample": "yes"}, "do_sample=yes"),
        ({"max_tokens": 77, "max_gen_toks": 33}, "max_tokens is max_gen_toks here: max_gen_toks=77"),
        ({"max_new_tokens": 77}, "max_gen_toks=77"),
        ({"n": 2}, "repeats"),
        ({"stream": True}, "whole replies"),
    ],
    ids=str,
)
def test_a_generation_setting_that_cannot_be_meant_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^--gen_kwargs: .*{message}"):
        check_generation_settings(settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.7, "top_p": 1, "top_k": -1.0, "min_p": 0, "seed": -1.0, "do_sample": True},
        {"max_gen_toks": 16384, "until": ["\n\n"], "presence_penalty": -1.5, "repetition_penalty": 1.1},
        {"until": "###", "temperature": 0},
        {"until": "[INST]", "stop": ["a", "[b, c]"]},
    ],
    ids=str,
)
def test_what_models_and_servers_take_passes_without_a_word(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    check_generation_settings(settings)
    assert not caplog.records


def test_a_setting_that_is_near_a_known_one_and_no_slip(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "lm_eval.medtasks"):
        check_generation_settings({"min_tokens": 5, "top_a": 0.5, "repeat_penalty": 1.1, "temperature": 0})
    (line,) = caplog.messages
    assert "min_tokens, top_a, repeat_penalty: not known here" in line


def test_a_setting_of_a_server_s_own_is_sent_with_a_line(
    server: str, asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    own = json.dumps({"chat_template_kwargs": {"enable_thinking": False}, "max_gen_toks": 7})
    assert run(*TASKS, *CHAT, *at(server), "--gen_kwargs", own) == 0
    assert asked[-1]["chat_template_kwargs"] == {"enable_thinking": False} and asked[-1]["max_tokens"] == 7
    assert "chat_template_kwargs: not known here, and passed on as given" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--gen_kwargs", "temprature=0.7"], "did you mean temperature"),
        (["--gen_kwargs", "max_gen_toks=16384 temperature=0.5"], "separate arguments by commas"),
        (["--config", "hot.yaml"], "temperature=hot"),
        (["--model_args", "model=m,base_url=SERVER/v1/chat/completions,temperature=0.7,max_gen_toks=3"],
         "temperature is no argument of the model: --gen_kwargs temperature=0.7,max_gen_toks=3"),
        (["--model_args", "model=m,base_url=SERVER/v1/chat/completions,seed=abc"], "--model_args: seed=abc: give a wh"),
        (["--apply_chat_template", "nosuch"], "--apply_chat_template nosuch: .*leave out its name"),
        (["--seed", "-1"], "--seed -1: give numbers from 0"),
        (["--seed", "99999999999999"], "--seed 99999999999999"),
        (["--use_cache", ""], "--use_cache is empty"),
        (["--output_path", ""], "--output_path is empty"),
        (["--gen_kwargs", ""], "--gen_kwargs is empty"),
        (["--gen_kwargs", "=5"], "--gen_kwargs: 5 has no name"),
        (["--metadata", '{"medhallu": {"difficulty": "easy"}, "medhallu": {"difficulty": "hard"}}'],
         "--metadata: 'medhallu' is there more than once"),
        # options that others turn off
        (["--set", "medhallu.seed=3"], "medhallu: seed is of no effect without pairing=sampled"),
        (["--set", "medhallu.revision=abc"], "revision=abc is of the hub's repository, .* from sample"),
    ],
    ids=str,
)  # fmt: skip
def test_a_flag_that_would_be_ignored_or_taken_amiss(
    more: list[str], message: str, server: str, asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("hot.yaml").write_text("gen_kwargs: {temperature: hot}\n")
    line = refused([*TASKS, *CHAT, *at(server), *(word.replace("SERVER", server) for word in more)], capsys)
    assert re.search(message, line) and not asked


def test_greedy_tasks_need_do_sample_where_the_model_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    line = refused([*TASKS, "--model", "dummy", "--gen_kwargs", "temperature=0.7"], capsys)
    assert "temperature=0.7 is of no effect without do_sample=true" in line
    assert run(*TASKS, "--model", "dummy", "--gen_kwargs", "temperature=0.7,do_sample=true") == 0


def test_an_unknown_log_level_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LMEVAL_LOG_LEVEL", "LOUD")
    assert "LMEVAL_LOG_LEVEL=LOUD: the levels are DEBUG" in refused([*TASKS, "--model", "dummy"], capsys)


# ---- --samples


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ('{"medhallu": []}', "'medhallu': give numbers from 0"),
        ('{"medhallu": ["a"]}', "'medhallu': give numbers from 0.*, not \"a\""),
        ('{"medhallu": 3}', "'medhallu': give numbers from 0.*, not 3"),
        ('{"medhallu": [-1]}', "not -1"),
        ('{"medhallu": [1, 1]}', "medhallu: 1 is there more than once"),
        ("[0, 1]", "give numbers from 0"),
        ("{}", "is empty"),
        ('{"medmcqa_openmed": [0]}', "names medmcqa_openmed, which is none of the tasks: medhallu"),
        ("empty.json", "empty.json: the file is no JSON"),
        ("none.json", "none.json: neither a file nor JSON"),
    ],
)
def test_samples_that_choose_nothing_or_something_else(
    samples: str, message: str, server: str, asked: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.json").write_text("")
    line = refused(["--tasks", "medhallu", "--data", "sample", *CHAT, *at(server), "--samples", samples], capsys)
    assert re.search(f"--samples.* ?{message}", line) and not asked


def test_samples_choose_examples(server: str, asked: list[Any]) -> None:
    Path("some.json").write_text('{"medhallu": [3, 1]}')
    for samples in ("some.json", '{"medhallu": [3, 1]}'):
        assert run("--tasks", "medhallu", "--data", "sample", *CHAT, *at(server), "--samples", samples) == 0
    assert len(asked) == 2 * (1 + 2)


# ---- options that others turn off


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("medexqa_all", {"medexqa": {"use_explanations": False, "use_judge": True, "judge_mode": "g-eval"}},
         "use_judge is of no effect without use_explanations=true"),
        ("medtasks", {"medexqa": {"use_judge": True, "judge_mode": "g-eval"}}, "without use_explanations=true"),
        ("medtasks", {"medexqa": {"explanation_metrics": "rougeL"}}, "without use_explanations=true"),
        ("medexqa_all", {"medexqa": {"judge_mode": "g-eval"}}, "judge_mode is of no effect without use_judge=true"),
        ("medexqa_all", {"medexqa": {"judge_model": "m"}}, "judge_model is of no effect"),
        ("medexqa_all", {"medexqa": {"explanation_metrics": "bleu", "bertscore_device": "cpu"}}, "bertscore among"),
        ("medexqa_logits", {"medexqa": {"use_judge": True, "judge_mode": "g-eval"}}, "is for generated answers"),
        ("medcalc_bench", {"medcalc_bench": {"max_turns": 5}}, "add_python_tool=true or add_calculator_tool=true"),
        ("medcalc_bench_calculator", {"medcalc_bench": {"tool_timeout": 5}}, "without add_python_tool=true"),
    ],
    ids=str,
)  # fmt: skip
def test_an_option_that_another_turns_off(
    task: str, options: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--tasks", task, "--data", "sample", "--model", "dummy", "--apply_chat_template"]
    assert message in refused([*arguments, "--metadata", json.dumps(options)], capsys)


def test_the_harness_s_own_command_is_told_of_it_too(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", "lm_eval.medtasks"):
        load("medcalc_bench", medcalc_bench={"max_turns": 5})
    assert "max_turns is of no effect without add_python_tool=true" in caplog.text


def test_an_option_counts_where_one_of_the_tasks_takes_it(server: str) -> None:
    tasks = ["--tasks", "medcalc_bench,medcalc_bench_calculator", "--data", "sample", "--limit", "1"]
    assert run(*tasks, *CHAT, *at(server), "--set", "medcalc_bench.max_turns=1") == 0


# ---- configuration files


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"limit": "abc"}, "--limit.*invalid float value: 'abc'"),
        ({"num_fewshot": "two"}, "--num_fewshot.*invalid int value: 'two'"),
        ({"seed": "abc"}, "--seed: abc is not an integer"),
        ({"seed": [1, 2, 3, 4, 5]}, "--seed: .*4 integers"),
        ({"log_samples": "no"}, "--log_samples.*takes true or false, not 'no'"),
        ({"model_args": ["a", "b"]}, "--model_args: expected `key=value`, got 'a'"),
        ({"gen_kwargs": {"temperature": "hot"}}, "temperature=hot"),
        ({"samples": {"medhallu": ["a"]}}, "--samples: 'medhallu': give numbers"),
        ({"limit": -1}, "--limit -1"),
    ],
    ids=str,
)
def test_a_setting_of_a_file_is_checked_like_a_flag(
    settings: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run.yaml").write_text(yaml.safe_dump({"tasks": ["medhallu"], "model": "dummy", **settings}))
    assert re.search(message, refused(["--data", "sample", "--config", "run.yaml"], capsys))


@pytest.mark.slow
def test_tasks_that_are_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.yaml").write_text("tasks: 5\nmodel: dummy\n")
    assert "no task, group or tag 5" in refused(["--data", "sample", "--config", "run.yaml"], capsys)


def test_a_configuration_file_is_not_printed(server: str, asked: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    settings = {
        "model": "local-chat-completions",
        "model_args": {
            "model": "m",
            "base_url": f"{server}/v1/chat/completions",
            "auth_token": "my-token",
            "header": {"Authorization": "Bearer my-secret"},
        },
        "tasks": ["medhallu", "medmcqa_openmed"],
        "apply_chat_template": True,
        "limit": 1,
        "seed": [1, 2, 3, None],
        "gen_kwargs": {"max_gen_toks": 9, "until": ["\n\n", "END"]},
        "metadata": {"medtasks_data": "sample"},
        "hf_hub_log_args": {"token": "hf_secret"},
        "output_path": "results",
        "write_out": True,
        "log_samples": False,
    }
    Path("run.yaml").write_text(yaml.safe_dump(settings))
    assert run("--config", "run.yaml", "--limit", "2", "--json") == 0
    output, errors = capsys.readouterr()
    told = json.loads(output)
    assert [score["n"] for score in told["scores"] if score["metric"] == "acc"] == [2, 2]
    assert {request["max_tokens"] for request in asked} == {1, 9} and asked[-1]["stop"] == ["\n\n", "END"]
    assert asked[-1]["key"] == "Bearer my-secret"
    (file,) = Path("results").rglob("results_*.json")
    told_of = errors + file.read_text(encoding="utf-8")
    assert "[secret]" in told_of and not re.search("hf_secret|my-token|my-secret", told_of)


def test_flags_in_a_file_mean_what_they_mean_on_the_line() -> None:
    given = {"seed": None, "fewshot_as_multiturn": False, "apply_chat_template": False, "device": None, "limit": 0.5}
    assert read_settings(given) == {"seed": [None] * 4, "fewshot_as_multiturn": False, "limit": 0.5}
    as_is = {"cache_requests": {"cache_requests": True}, "include_path": ["a", "b"]}
    assert read_settings({**as_is, "gen_kwargs": {}, "output_path": ""}) == as_is
    assert as_words({"system_instruction": "-v, please"}) == ["--system_instruction=-v, please"]
    assert read_settings({"system_instruction": "-v, please"}) == {"system_instruction": "-v, please"}


# ---- rows


@pytest.mark.parametrize("task", ["medexqa_all", "medexqa_be"])
def test_a_specialty_without_rows_is_not_left_out_of_the_average(
    task: str, server: str, asked: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLE / "medexqa", tmp_path / "data" / "medexqa")
    (empty,) = (tmp_path / "data").rglob("biomedical_engineer_test.tsv")
    empty.write_text("")
    arguments = ["--tasks", task, "--data", "data", "--set", "medexqa.use_explanations=false"]
    assert run(*arguments, *CHAT, *at(server)) == 1
    assert "biomedical_engineer_test.tsv: no rows are left of biomedical_engineering" in the_line(capsys)
    if task == "medexqa_all":
        others = ["--set", "medexqa.specialty=cp,slp", "--limit", "2"]
        assert run(*arguments, *CHAT, *at(server), *others) == 0


# ---- the model's context


class Short:
    """A model that reads twenty tokens, prompt and answer together: a word each."""

    max_length = 20

    def tok_encode(self, text: str) -> list[str]:
        return text.split()


def config(max_gen_toks: int) -> Any:
    return SimpleNamespace(
        task="t", output_type="generate_until", generation_kwargs={"max_gen_toks": max_gen_toks, "until": []}
    )


def test_prompts_that_are_cut_are_counted() -> None:
    prompts = ["a word " * 5, "a word " * 9, "a word " * 10, "short"]
    said = what_is_cut(Short(), config(2), prompts)
    assert said is not None and said.startswith("1 of 4 prompts are cut to their last 18 tokens")
    assert what_is_cut(Short(), config(2), prompts[:2]) is None
    assert what_is_cut(SimpleNamespace(), config(2), prompts) is None and what_is_cut(None, config(2), prompts) is None
    with pytest.raises(OptionError, match="max_gen_toks=20 leaves no room for a prompt"):
        what_is_cut(Short(), config(20), prompts)


def test_cut_prompts_are_told_of_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("max_length", "tok_encode"):
        monkeypatch.setattr(f"lm_eval.models.dummy.DummyLM.{name}", vars(Short)[name], raising=False)
    assert run(*TASKS, "--model", "dummy", "--gen_kwargs", "max_gen_toks=2") == 0
    assert "medhallu: 2 of 2 prompts are cut to their last 18 tokens" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (AttributeError("module 'torch' has no attribute 'float99'"), "dtype in --model_args"),
        (ValueError("Couldn't instantiate the backend tokenizer from one of: "), "the model cannot be had"),
        (OSError("Error no file named model.safetensors found in directory x."), "the model cannot be had"),
        (ValueError("The following `model_kwargs` are not used by the model: ['foo']"), "setting of --gen_kwargs"),
    ],
    ids=str,
)
def test_what_a_model_s_library_says(error: Exception, message: str) -> None:
    assert message in str(_of_a_model(error, Plan()))


# ---- sweeps


@pytest.mark.parametrize(
    ("model", "run_", "message"),
    [
        ({"flags": {}}, {}, "m/a: --model local-chat-completions takes chats only: add --apply_chat_template"),
        ({"model_args": {"model": "m", "base_url": "http://h/v1/chat/completions", "max_retrys": 2}}, {},
         "takes no max_retrys (did you mean max_retries?)"),
        ({}, {"tasks": "medcalc_bench_python"}, "m/a: medcalc_bench_python: code that the model writes will be run"),
        ({}, {"tasks": "medhallu medmcqa_openmed"}, "by commas, as in medhallu,medmcqa_openmed"),
        ({}, {"flags": {"gen_kwargs": {"temprature": 1}}}, "did you mean temperature?"),
        ({}, {"flags": {"gen_kwargs": {"temperature": "hot"}}}, "temperature=hot"),
        ({}, {"flags": {"limit": 0}}, "--limit 0"),
        ({}, {"options": {"medhallu": {"seed": 3}}}, "seed is of no effect without pairing=sampled"),
        ({"model_args": {"model": "m"}}, {}, "needs the server's address"),
    ],
    ids=str,
)  # fmt: skip
def test_a_job_that_could_not_run_is_found_before_any_is_started(
    model: dict[str, Any], run_: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {
        "output": str(tmp_path / "sweep"), "data": "sample",
        "runs": [{"name": "a", "tasks": "medhallu", **run_}],
        "models": [{
            "name": "m", "model": "local-chat-completions", "flags": {"apply_chat_template": True},
            "model_args": {"model": "m", "base_url": "http://127.0.0.1:1/v1/chat/completions"}, **model,
        }],
    }  # fmt: skip
    for more in ([], ["--dry_run"]):
        Path("plan.yaml").write_text(yaml.safe_dump(content))
        assert cli.main(["sweep", "plan.yaml", *more]) == 2
        assert message in the_line(capsys)
    assert not list((tmp_path / "sweep").rglob("job.json"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"output": ["x"]}, "output: a text is needed"),
        ({"runs": {}}, "runs: a list with one entry at least is needed"),
        ({"runs": None}, "runs: a list with one entry at least is needed"),
        ({"models": ["m"]}, "models.0: names with values are needed"),
    ],
    ids=str,
)
def test_a_plan_of_another_shape(changed: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = {"output": "x", "runs": [{"name": "a", "tasks": "medhallu"}], "models": [{"name": "m", "model": "dummy"}]}
    Path("plan.yaml").write_text(yaml.safe_dump({**content, **changed}))
    assert cli.main(["sweep", "plan.yaml"]) == 2
    assert f"plan.yaml: {message}" in the_line(capsys)
