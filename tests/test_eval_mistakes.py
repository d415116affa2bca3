"""Mistakes that people make with ``medtasks eval``, with the real harness: one line with the way out, no traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Body, Refusal, Served, scripted_server

from medtasks_utils import __main__ as cli
from medtasks_utils.errors import UsageError
from medtasks_utils.harness.engine_arguments import check_engine_arguments
from medtasks_utils.harness.flags import as_words, read_settings
from medtasks_utils.harness.generation_settings import check_generation_settings


def oddly(body: Body) -> str | Refusal:
    """What the model's name asks for: a status, or a body of its own; a name with ``late`` only once it is no probe."""
    name, _, status = str(body["model"]).partition("-")
    if name == "late" and body["max_tokens"] == 1:
        return "."
    if name == "raw":
        return Refusal(200, raw=status.encode())
    return Refusal(int(status), "no luck") if status.isdigit() else "."


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with scripted_server(oddly, oddly, {"m": 512, "big": 4096}) as served:
        yield served


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("a_file").write_text("")
    Path("odd.yaml").write_text("taks: medhallu\n")
    Path("hot.yaml").write_text("gen_kwargs: {temperature: hot}\n")
    Path("list.yaml").write_text("- tasks\n")


def run(*arguments: str) -> int:
    """``medtasks eval`` in this process; its exit code."""
    try:
        return cli.main(["eval", *arguments])
    except SystemExit as exit:
        return int(exit.code or 0)


def the_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of an error, the last of all; nothing else was printed but what the harness logs."""
    output, errors = capsys.readouterr()
    assert output == ""
    assert "Traceback" not in errors
    (line,) = [line for line in errors.splitlines() if line.startswith("medtasks: error: ")]
    assert errors.rstrip().endswith(line)
    return line


# Each case: what differs from a run that works, the exit code, and what the line has to say. A flag that is given takes
# the place of the usual one; None leaves it out; AT stands for the server.
USUAL: dict[str, str | None] = {
    "tasks": "medhallu", "data": "sample", "limit": "2", "model": "local-chat-completions", "apply_chat_template": "",
    "model_args": "model=big,base_url=AT/v1/chat/completions,max_retries=1",
}  # fmt: skip
CHAT = "base_url=AT/v1/chat/completions,max_retries=1,model="
MISTAKES: list[tuple[dict[str, str | None], int, list[str]]] = [
    # tasks and options
    ({"tasks": None}, 2, ["--tasks medtasks"]),
    ({"tasks": "medmcqa"}, 2, ["medmcqa_openmed", "lm_eval run --tasks medmcqa"]),
    ({"tasks": "MedCalc-Bench"}, 2, ["did you mean medcalc_bench"]),
    ({"tasks": "medhalu"}, 2, ["medhalu", "did you mean medhallu"]),
    ({"tasks": "medhallu medmcqa_openmed"}, 2, ["medhallu,medmcqa_openmed"]),
    ({"include_path": "nowhere"}, 2, ["nowhere", "no such folder"]),
    ({"set": "medhallu.dificulty=hard"}, 2, ["--set medhallu.dificulty=hard", "did you mean 'difficulty'"]),
    ({"set": "medhallu.difficulty=x"}, 2, ["difficulty", "easy"]),
    ({"set": "difficulty=hard"}, 2, ["BENCHMARK.OPTION=VALUE"]),
    ({"set": "medexqa.specialty=cp"}, 2, ["medexqa", "none of the tasks"]),
    ({"set": "medhallu.seed=3"}, 2, ["seed", "pairing=sampled"]),
    ({"metadata": "{medhallu: 1}"}, 2, ["--metadata", "JSON"]),
    ({"metadata": "medhallu=5"}, 2, ["JSON object"]),
    ({"metadata": '{"difficulty": "hard"}'}, 2, ["difficulty", "medhallu"]),
    # flags
    ({"model": None}, 2, ["no model is named", "--model hf"]),
    ({"model": "local-chat-completion"}, 2, ["did you mean local-chat-completions"]),
    ({"apply_chat_template": None}, 2, ["add --apply_chat_template"]),
    ({"model_args": "model=big"}, 2, ["address", "base_url="]),
    ({"model_args": "base_url=AT/v1/chat/completions"}, 2, ["name", "model=NAME"]),
    ({"model_args": "model=big base_url=AT"}, 2, ["commas"]),
    ({"model_args": "gpt2"}, 2, ["key=value"]),
    ({"model_args": CHAT + "big,num_concurent=3"}, 2, ["num_concurent", "did you mean num_concurrent"]),
    ({"model_args": CHAT + "big,num_concurrent=many"}, 2, ["many"]),
    ({"model_args": CHAT + "big,temperature=0.7"}, 2, ["--gen_kwargs temperature=0.7"]),
    ({"tasks": "medexqa_logits"}, 2, ["log-likelihoods", "vllm"]),
    ({"tasks": "medcalc_bench_python"}, 2, ["--confirm_run_unsafe_code"]),
    ({"tasks": "medcalc_bench_calculator", "model": "dummy", "model_args": None, "apply_chat_template": None}, 2,
     ["add --apply_chat_template"]),
    ({"model": "dummy", "model_args": None, "gen_kwargs": "temperature=0.7"}, 2, ["do_sample=true"]),
    ({"limit": "few"}, 2, ["--limit", "few"]),
    ({"limit": "0"}, 2, ["--limit 0"]),
    ({"limit": "1.5"}, 2, ["--limit 1.5"]),
    ({"seed": "x"}, 2, ["--seed"]),
    ({"seed": "-1"}, 2, ["--seed -1", "0"]),
    ({"batch_size": "big"}, 2, ["--batch_size big", "auto"]),
    ({"num_fewshot": "-1"}, 2, ["--num_fewshot -1"]),
    ({"num_fewshot": "2"}, 1, ["Leave --num_fewshot out"]),
    ({"gen_kwargs": "temprature=0.7"}, 2, ["did you mean temperature"]),
    ({"gen_kwargs": "=5"}, 2, ["--gen_kwargs"]),
    ({"samples": '{"medhallu": [1]}'}, 2, ["--samples", "--limit"]),
    ({"limit": None, "samples": '{"medhalu": [1]}'}, 2, ["medhalu"]),
    ({"limit": None, "samples": '{"medhallu": [-1]}'}, 2, ["medhallu", "-1"]),
    ({"limit": None, "samples": "none.json"}, 2, ["none.json"]),
    ({"limit": None, "samples": '{"medhallu": [999]}'}, 1, ["--samples", "interval"]),
    ({"lmit": "3"}, 2, ["--lmit", "did you mean --limit"]),
    ({"config": "none.yaml"}, 2, ["none.yaml"]),
    ({"config": "odd.yaml"}, 2, ["taks", "tasks"]),
    ({"config": "hot.yaml"}, 2, ["temperature=hot"]),
    ({"config": "list.yaml"}, 2, ["list.yaml"]),
    ({"verbosity": "LOUD"}, 2, ["LOUD", "DEBUG"]),
    ({"output_path": ""}, 2, ["--output_path is empty"]),
    ({"log_samples": ""}, 2, ["--output_path results"]),
    # what has to be there
    ({"data": "nowhere"}, 1, ["nowhere", "sample"]),
    ({"data": "hub"}, 1, ["HF_HUB_OFFLINE", "sample"]),
    ({"output_path": "a_file"}, 1, ["a_file/big", "another folder"]),
    ({"output_path": "/proc/nowhere"}, 1, ["/proc/nowhere"]),
    ({"model": "vllm", "model_args": "pretrained=x"}, 1, ["medtasks[vllm]"]),
    ({"model": "hf", "model_args": "pretrained=./mine"}, 2, ["./mine", "no such folder"]),
    ({"model": "openai-chat-completions", "model_args": "model=gpt-4o"}, 2, ["OPENAI_API_KEY"]),
    ({"trackio_args": "project=x"}, 1, ["trackio"]),
    ({"hf_hub_log_args": "push_results_to_hub=true", "output_path": "r"}, 1, ["HF_TOKEN"]),
    ({"hf_hub_log_args": "push_result_to_hub=true"}, 1, ["push_result_to_hub"]),
    # the server
    ({"model_args": "model=m,base_url=http://127.0.0.1:1/v1/chat/completions"}, 1, ["refused", "base_url"]),
    ({"model_args": "model=m,base_url=http://no-such-host.invalid/v1"}, 1, ["no-such-host.invalid"]),
    ({"model_args": "model=m,base_url=localhost:8000"}, 2, ["localhost:8000"]),
    ({"model_args": CHAT + "x-401"}, 1, ["401", "no luck", "OPENAI_API_KEY"]),
    ({"model_args": CHAT + "x-403"}, 1, ["403", "no luck", "OPENAI_API_KEY"]),
    ({"model_args": CHAT + "bigg-404"}, 1, ["bigg-404", "no luck", "big"]),
    ({"model_args": CHAT + "x-400"}, 1, ["400", "no luck"]),
    ({"model_args": CHAT + "x-500"}, 1, ["500", "no luck", "log"]),
    ({"model_args": CHAT + "raw-<html>Welcome</html>"}, 1, ["Welcome", "base_url"]),
    ({"model_args": CHAT + "raw-null"}, 1, ["without an answer", "base_url"]),
    ({"model_args": CHAT + "raw-[1"}, 1, ["without an answer"]),
    ({"model_args": CHAT + "m"}, 2, ["max_model_len", "512", "max_gen_toks=1024"]),
    ({"model_args": CHAT + "late-500", "output_path": "r"}, 1, ["500", "no luck", "0 answers", "goes on"]),
    ({"model_args": CHAT + "late-400"}, 1, ["400", "no luck", "--output_path"]),
    ({"model_args": CHAT + "late-401,num_concurrent=4"}, 1, ["401", "OPENAI_API_KEY"]),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "code", "says"), MISTAKES, ids=lambda value: str(value)[:70])
def test_a_mistake_is_one_line_with_the_way_out(
    changed: dict[str, str | None], code: int, says: list[str], server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {name: value for name, value in {**USUAL, **changed}.items() if value is not None}
    if changed.get("tasks") == "medexqa_logits":
        del flags["limit"]
    words = [
        f"--{name}" if name in ("apply_chat_template", "log_samples") else f"--{name}={value}"
        for name, value in flags.items()
    ]
    assert run(*(word.replace("AT/", f"{server.base}/") for word in words)) == code
    line = the_line(capsys)
    assert [text for text in says if text not in line] == []


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError("org/none is not a local folder\nand more"), "org/none is not a local folder"),
        (KeyError("surprise"), "surprise"),
        (NotImplementedError(), "NotImplementedError"),
        (ValueError("1 validation error for EngineArgs\nmax_len\n  Extra inputs are not permitted"), "Extra inputs"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_foresaw_is_the_error_s_own_line_and_a_file_with_the_traceback(
    error: Exception, says: str, server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*arguments: Any, **settings: Any) -> None:
        raise error

    monkeypatch.setattr("lm_eval.models.dummy.DummyLM.generate_until", fails)
    assert run("--tasks", "medhallu", "--data", "sample", "--model", "dummy", "--output_path", "r") == 1
    line = the_line(capsys)
    assert says in line and "answer" in line
    (file,) = {word.strip("();") for word in line.split() if "medtasks_traceback_" in word}
    assert "in fails" in Path(file).read_text(encoding="utf-8")
    Path(file).unlink()


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LMEVAL_LOG_LEVEL", "DEBUG")
    assert run("--tasks", "medmcqa", "--data", "sample", "--model", "dummy") == 2
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "medtasks: error: " in shown


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"max-gen-toks": 5}, "max_gen_toks"),
        ({"max_new_tokens": 77}, "max_gen_toks=77"),
        ({"max_tokens": 77}, "max_gen_toks=77"),
        ({"temperature": "hot"}, "temperature=hot"),
        ({"temperature": None}, "temperature=None"),
        ({"temperature": -1.0}, "greater than or equal to 0"),
        ({"temperature": float("nan")}, "finite"),
        ({"max_gen_toks": "16k"}, "max_gen_toks=16k"),
        ({"top_p": 1.5}, "less than or equal to 1"),
        ({"until": [5]}, "until="),
        ({"n": 2}, "repeats"),
        ({"stream": True}, "whole replies"),
    ],
    ids=str,
)
def test_a_generation_setting_that_cannot_be_meant_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=r"^--gen_kwargs: ") as found:
        check_generation_settings(settings)
    assert says in str(found.value)


def test_settings_of_models_and_servers_pass() -> None:
    check_generation_settings({"temperature": 0.7, "top_p": 1, "top_k": -1.0, "seed": -1.0, "do_sample": True})
    check_generation_settings({"until": ["\n\n"], "stop": "[INST]", "min_tokens": 5, "repeat_penalty": 1.1})
    check_generation_settings({"chat_template_kwargs": {"enable_thinking": False}})


def test_flags_in_a_file_mean_what_they_mean_on_the_line() -> None:
    given = {"seed": None, "fewshot_as_multiturn": False, "apply_chat_template": False, "device": None, "limit": 0.5}
    assert read_settings(given) == {"seed": [None] * 4, "fewshot_as_multiturn": False, "limit": 0.5}
    as_is = {"cache_requests": {"cache_requests": True}, "include_path": ["a", "b"]}
    assert read_settings({**as_is, "gen_kwargs": {}, "output_path": ""}) == as_is
    assert as_words({"system_instruction": "-v, please"}) == ["--system_instruction=-v, please"]
    assert json.loads(as_words({"metadata": {"a": 1}})[0].partition("=")[2]) == {"a": 1}


def test_a_misspelt_argument_of_vllm_is_told_by_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, source in {
        "__init__.py": "raise RuntimeError('imported')",
        "engine/arg_utils.py": "class EngineArgs:\n    enforce_eager: bool = False\n",
        "entrypoints/llm.py": "class LLM:\n    def __init__(self, seed: int) -> None: ...\n",
    }.items():
        (tmp_path / "vllm" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vllm" / name).write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    check_engine_arguments("vllm", ["pretrained", "max_model_len", "enforce_eager", "seed"])
    check_engine_arguments("hf", ["enforce_eagre"])
    with pytest.raises(UsageError, match=r"takes no enforce_eagre \(did you mean enforce_eager"):
        check_engine_arguments("vllm", ["pretrained", "enforce_eagre"])
