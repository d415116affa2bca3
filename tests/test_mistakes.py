"""Mistakes that people make with ``medtasks eval``, with the real harness: one line with the way out, no traceback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import chat_server
from conftest import ROOT, clean_environment
from openai_server import GOOD, openai_server

from medtasks_utils import cli

CHAT = ["--model", "local-chat-completions", "--apply_chat_template"]
TASKS = ["--tasks", "medhallu", "--data", "sample", "--limit", "2"]
CODES = {1: "the thing failed", 2: "wrong usage"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with openai_server() as (address, _):
        yield address


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "WANDB_MODE", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def at(server: str, model: str = GOOD, **more: Any) -> list[str]:
    """``--model_args`` for a server."""
    arguments = {"model": model, "base_url": f"{server}/v1/chat/completions", "max_retries": 1, **more}
    return ["--model_args", ",".join(f"{name}={value}" for name, value in arguments.items())]


def run(*arguments: str) -> int:
    """``medtasks eval`` in this process; its exit code."""
    try:
        return cli.main(["eval", *arguments])
    except SystemExit as exit:
        return int(exit.code or 0)


def the_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of an error; nothing else was printed but what the harness logs."""
    output, errors = capsys.readouterr()
    assert "Traceback" not in errors
    assert output == ""
    (line,) = [line for line in errors.splitlines() if line.startswith("medtasks: error: ")]
    return line


MISTAKES = [
    # server down, wrong address, wrong key, wrong model
    ([*TASKS, *CHAT, *at("http://127.0.0.1:1")], 1, "no server answers at .*Connection refused.*base_url"),
    ([*TASKS, *CHAT, *at("http://no-such-host.invalid")], 1, "no server answers at .*base_url"),
    ([*TASKS, *CHAT, *at("localhost:8000")], 2, "base_url=localhost:8000.* is no address; it looks like http://"),
    ([*TASKS, *CHAT, *at("SERVER", base_url="SERVER/v1")], 1, r"404.*as in http://\S+/v1/chat/completions"),
    ([*TASKS, *CHAT, *at("SERVER", base_url="SERVER")], 1, r"404.*as in http://\S+/v1/chat/completions"),
    ([*TASKS, *CHAT, *at("SERVER", base_url="SERVER/v1/completions")], 2, "take --model local-completions"),
    ([*TASKS, "--model", "local-completions", *at("SERVER")], 2, "take --model local-chat-completions"),
    ([*TASKS, *CHAT, *at("SERVER", "401")], 1, r"401 \(no luck\): set OPENAI_API_KEY"),
    ([*TASKS, *CHAT, *at("SERVER", "403")], 1, r"403 \(no luck\): set OPENAI_API_KEY"),
    ([*TASKS, *CHAT, *at("SERVER", "other")], 1, "there is no model 'other'; there is m"),
    ([*TASKS, *CHAT, *at("SERVER", "500")], 1, r"500 \(no luck\)"),
    ([*TASKS, *CHAT, *at("SERVER", "html")], 1, "text/html, not with JSON"),
    ([*TASKS, *CHAT, *at("SERVER", "nothing")], 1, "without choices"),
    ([*TASKS, *CHAT, *at("SERVER", "429")], 1, r"answers 429 .*every time.*--use_cache"),
    ([*TASKS, *CHAT, *at("SERVER", "400")], 1, r"answers 400 .*every time.*--use_cache"),
    ([*TASKS, "--limit", "20", *CHAT, *at("SERVER", "late1-500")], 1, r"500 .*--use_cache"),
    ([*TASKS, "--limit", "20", *CHAT, *at("SERVER", "late2-500", num_concurrent=4)], 1, r"500 .*--use_cache"),
    # the model
    ([*TASKS, "--model", "local-chat-completions", *at("SERVER")], 2, "add --apply_chat_template"),
    ([*TASKS, *CHAT], 2, r"needs the model's name on the server: --model_args model=NAME,base_url="),
    ([*TASKS, *CHAT, "--model_args", "model=m"], 2, "needs the server's address: --model_args model=NAME,base_url="),
    ([*TASKS, *CHAT, "--model_args", "model=m base_url=SERVER"], 2, "separate arguments by commas"),
    ([*TASKS, *CHAT, "--model_args", "gpt2"], 2, "--model_args: expected `key=value`"),
    ([*TASKS, *CHAT, *at("SERVER", num_concurent=3)], 2, r"takes no num_concurent \(did you mean num_concurrent\?\)"),
    ([*TASKS, *CHAT, *at("SERVER", num_concurrent="many")], 2, "num_concurrent=many: give a whole number"),
    ([*TASKS, *CHAT, *at("SERVER", timeout=0)], 2, "--model_args: timeout=0: give a whole number of 1 or more"),
    (TASKS, 2, "no model is named: give --model local-chat-completions"),
    ([*TASKS, *at("SERVER")], 2, "no model is named"),
    ([*TASKS, "--model", "local-chat-completion"], 2, r"there is no --model .*did you mean local-chat-completions\?"),
    ([*TASKS, "--model", "org/name"], 2, "--model hf --model_args pretrained=org/name"),
    ([*TASKS, "--model", "vllm", "--model_args", "pretrained=x"], 1, r"needs vllm, .*: pip install 'medtasks\[vllm\]'"),
    ([*TASKS, "--model", "hf", "--model_args", "pretrained=/no/such/folder"], 2, "there is no such folder"),
    ([*TASKS, "--model", "hf", "--model_args", "pretrained=./mine"], 2, "there is no such folder"),
    ([*TASKS, "--model", "openai-chat-completions", "--apply_chat_template", "--model_args", "model=gpt-4o"],
     1, "needs a key: set OPENAI_API_KEY"),
    (["--tasks", "medexqa_logits", "--data", "sample", *CHAT, *at("SERVER")], 2, "needs log-likelihoods"),
    (["--tasks", "medcalc_bench_python", "--data", "sample", *CHAT, *at("SERVER")], 2, "--confirm_run_unsafe_code"),
    (["--tasks", "medcalc_bench", "--data", "sample", *CHAT, *at("SERVER"),
      "--set", "medcalc_bench.add_python_tool=true"], 2, "--confirm_run_unsafe_code"),
    (["--tasks", "medcalc_bench_calculator", "--data", "sample", "--model", "dummy"], 2, "add --apply_chat_template"),
    # tasks
    ([*CHAT, *at("SERVER")], 2, "no task is named"),
    (["--tasks", "medmcqa", "--data", "sample", *CHAT, *at("SERVER")],
     2, "medmcqa is called medmcqa_openmed .* lm_eval run --tasks medmcqa"),
    (["--tasks", "medhallu,medmcqa", "--data", "sample", *CHAT, *at("SERVER")], 2, "medmcqa is called"),
    (["--tasks", "MedCalc-Bench", "--data", "sample", *CHAT, *at("SERVER")], 2, "is called medcalc_bench"),
    (["--tasks", "medhalu", *CHAT, *at("SERVER")], 2, r"no task, group or tag medhalu here; did you mean medhallu\?"),
    (["--tasks", "medhallu medmcqa_openmed", *CHAT, *at("SERVER")], 2, "by commas, as in medhallu,medmcqa_openmed"),
    ([*TASKS, *CHAT, *at("SERVER"), "--include_path", "nowhere"], 2, "--include_path nowhere: there is no such folder"),
    ([*TASKS, *CHAT, *at("SERVER"), "--num_fewshot", "2"], 1, "Leave --num_fewshot out"),
    ([*TASKS, *CHAT, *at("SERVER"), "--num_fewshot", "-1"], 2, "give 0 or more"),
    ([*TASKS, *CHAT, *at("SERVER"), "--data", "nowhere"], 1, "no directory nowhere"),
    # options
    ([*TASKS, *CHAT, *at("SERVER"), "--metadata", "{medhallu: 1}"], 2, "is no JSON .*single quotes"),
    ([*TASKS, *CHAT, *at("SERVER"), "--metadata", "{'medhallu': 1}"], 2, "is no JSON .*double quotes"),
    ([*TASKS, *CHAT, *at("SERVER"), "--metadata", "[1, 2]"], 2, "--metadata: expected `key=value`"),
    ([*TASKS, *CHAT, *at("SERVER"), "--metadata", "medhallu=5"], 2, "takes a JSON object"),
    ([*TASKS, *CHAT, *at("SERVER"), "--set", "medhallu.dificulty=hard"],
     2, r"--set medhallu.dificulty=hard: unknown option 'dificulty' \(did you mean 'difficulty'\?\)(?!.*--metadata)"),
    ([*TASKS, *CHAT, *at("SERVER"), "--set", "medhallu.difficulty=x"], 2, "difficulty must be 'easy'(?!.*--metadata)"),
    ([*TASKS, *CHAT, *at("SERVER"), "--set", "difficulty=hard"], 2, "BENCHMARK.OPTION=VALUE"),
    # amounts
    ([*TASKS, *CHAT, *at("SERVER"), "--limit", "few"], 2, "--limit.*'few'"),
    ([*TASKS, *CHAT, *at("SERVER"), "--limit", "0"], 2, "--limit 0: give a number"),
    ([*TASKS, *CHAT, *at("SERVER"), "--limit", "1.5"], 2, "--limit 1.5: give a number"),
    ([*TASKS, *CHAT, *at("SERVER"), "--seed", "x"], 2, "--seed: .*x is not an integer"),
    ([*TASKS, *CHAT, *at("SERVER"), "--batch_size", "big"], 2, "--batch_size big: give a number"),
    ([*TASKS, *CHAT, *at("SERVER"), "--gen_kwargs", "temperature"], 2, "--gen_kwargs: expected `key=value`"),
    ([*TASKS, *CHAT, *at("SERVER"), "--samples", "{bad"], 2, "--samples.*Invalid JSON"),
    ([*TASKS[:4], *CHAT, *at("SERVER"), "--samples", '{"medhalu": [1]}'], 2, "--samples names medhalu"),
    ([*TASKS[:4], *CHAT, *at("SERVER"), "--samples", '{"medhallu": [999]}'], 1, "--samples: .*interval"),
    ([*TASKS, *CHAT, *at("SERVER"), "--samples", '{"medhallu": [1]}'], 2, "give one of them"),
    # where results go
    ([*TASKS, *CHAT, *at("SERVER"), "--log_samples"], 2, "add --output_path results"),
    ([*TASKS, *CHAT, *at("SERVER"), "--predict_only"], 2, "add --output_path results"),
    ([*TASKS, *CHAT, *at("SERVER"), "--output_path", "a_file"], 1, "cannot write into a_file/m"),
    ([*TASKS, *CHAT, *at("SERVER"), "--output_path", "/proc/nowhere"], 1, "cannot write into /proc/nowhere/m"),
    ([*TASKS, *CHAT, *at("SERVER"), "--output_path", "-"], 2, "takes a folder"),
    ([*TASKS, *CHAT, *at("SERVER"), "--use_cache", "/proc/nowhere/cache"], 1, "--use_cache: cannot write"),
    ([*TASKS, *CHAT, *at("SERVER"), "--use_cache", "notes"], 1, "notes_rank0.db is no cache"),
    ([*TASKS, *CHAT, *at("SERVER"), "--wandb_args", "project=x"], 1, "wandb"),
    ([*TASKS, *CHAT, *at("SERVER"), "--trackio_args", "project=x"], 1, "pip install trackio"),
    ([*TASKS, *CHAT, *at("SERVER"), "--output_path", "r", "--hf_hub_log_args", "push_results_to_hub=true"],
     1, "set HF_TOKEN"),
    ([*TASKS, *CHAT, *at("SERVER"), "--hf_hub_log_args", "push_result_to_hub=true"],
     2, "did you mean push_results_to_hub"),
    # flags
    ([*TASKS, *CHAT, *at("SERVER"), "--lmit", "3"], 2, r"there is no flag --lmit \(did you mean --limit\?\)"),
    ([*TASKS, *CHAT, *at("SERVER"), "--config", "none.yaml"], 2, "--config: Config file not found"),
    ([*TASKS, *CHAT, *at("SERVER"), "--config", "odd.yaml"], 2, "there is no setting taks"),
    ([*TASKS, *CHAT, *at("SERVER"), "--verbosity", "LOUD"], 2, "the levels are DEBUG"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), MISTAKES, ids=lambda value: str(value)[:60])
def test_a_mistake_is_one_line_with_the_way_out(
    arguments: list[str], code: int, message: str, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a_file").write_text("")
    (tmp_path / "notes_rank0.db").write_text("This is a text.")
    (tmp_path / "odd.yaml").write_text("taks: medhallu\n")
    assert run(*(argument.replace("SERVER", server) for argument in arguments)) == code, CODES
    assert re.search(message, the_line(capsys))


def test_hf_without_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_torch(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("medtasks_utils.harness.preflight_model.get_model", no_torch)
    monkeypatch.setattr("medtasks_utils.harness.preflight_model.find_spec", lambda name: None)
    assert run(*TASKS, "--model", "hf", "--model_args", "pretrained=org/name") == 1
    assert "needs torch, which is not installed: pip install 'medtasks[hf]'" in the_line(capsys)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError("org/none is not a local folder and is not a valid model identifier listed on 'https://hf.co'"),
         "the model cannot be had"),
        (ValueError("Cannot use chat template functions because tokenizer.chat_template is not set"),
         "leave out --apply_chat_template"),
        (RuntimeError("CUDA out of memory. Tried to allocate 20 GiB"), "a smaller --batch_size"),
        (AssertionError("Torch not compiled with CUDA enabled"), "--device cpu"),
        (NotImplementedError("Loglikelihood is not supported for chat completions."), "no log-likelihoods"),
        (KeyError("surprise"), "lm_eval ended with KeyError: 'surprise' (the traceback is in "),
    ],
    ids=str,
)  # fmt: skip
def test_what_fails_inside_the_harness_is_one_line(
    error: Exception, message: str, server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the harness raises it when it makes the model."""
    program = compile("def fails(*arguments, **settings):\n    raise error", _harness_file(), "exec")
    names: dict[str, Any] = {"error": error}
    exec(program, names)
    monkeypatch.setattr("lm_eval.evaluator.simple_evaluate", names["fails"])
    assert run(*TASKS, *CHAT, *at(server)) == 1
    line = the_line(capsys)
    assert message in line
    kept = re.search(r"the traceback is in (\S+);", line)
    if kept:
        assert "KeyError: 'surprise'" in Path(kept[1]).read_text(encoding="utf-8")
        Path(kept[1]).unlink()


def _harness_file() -> str:
    import lm_eval.evaluator

    return str(lm_eval.evaluator.__file__)


def test_a_bug_of_ours_keeps_its_traceback(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medtasks_utils.benchmarks.medhallu.task.MedHallu.load_rows", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(*TASKS, *CHAT, *at(server))


def test_debugging_shows_the_traceback(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LMEVAL_LOG_LEVEL", "DEBUG")
    assert run("--tasks", "medmcqa", "--data", "sample", *CHAT, *at(server)) == 2
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "medtasks: error: " in shown


# ---- what is no mistake


def test_names_with_spaces_and_quotes_are_understood(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--tasks", "'medhallu', medmcqa_openmed", "--data", "sample", "--limit", "1"]
    assert run(*arguments, *CHAT, *at(server)) == 0
    assert {"medhallu", "medmcqa_openmed"} <= set(capsys.readouterr().out.split())


def test_the_server_is_asked_one_cheap_question_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-key")
    with openai_server() as (address, asked):
        assert run(*TASKS, *CHAT, *at(address), "--use_cache", "cache") == 0
        assert asked[0]["max_tokens"] == 1
        assert asked[0]["key"] == "Bearer my-key"
        assert [request["max_tokens"] for request in asked[1:]] == [1024, 1024]
        assert run(*TASKS, *CHAT, *at(address), "--use_cache", "cache") == 0
        assert len(asked) == 4, "the second run found its answers in the cache, and asked the cheap question"


def test_with_all_answers_in_the_cache_no_server_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with openai_server() as (address, _):
        arguments = [*TASKS, *CHAT, *at(address), "--use_cache", "cache"]
        assert run(*arguments) == 0
    assert run(*arguments) == 0
    assert "medhallu" in capsys.readouterr().out


def test_verbosity_is_honoured(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*TASKS, *CHAT, *at(server), "--verbosity", "ERROR") == 0
    errors = capsys.readouterr().err
    assert "INFO" not in errors and "WARNING" not in errors
    assert "not a git repository" not in errors


# ---- stopping


@pytest.mark.parametrize(
    ("more", "told"), [([], "--use_cache results/cache"), (["--use_cache", "kept"], "the same command goes on")]
)
def test_ctrl_c_says_how_to_go_on(more: list[str], told: str, tmp_path: Path) -> None:
    with openai_server() as (address, asked):
        process = subprocess.Popen(
            [sys.executable, "-m", "medtasks_utils", "eval", "--tasks", "medhallu", "--data", "sample", *CHAT,
             *at(address, "slow", num_concurrent=2), *more],
            cwd=tmp_path, env=clean_environment({"PYTHONPATH": str(ROOT)}), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        limit = time.monotonic() + 60
        while len(asked) < 5 and time.monotonic() < limit:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in errors and "CancelledError" not in errors
    last = errors.strip().splitlines()[-1]
    assert last.startswith("medtasks: stopped; ") and told in last


# ---- the end of a run


def test_the_end_is_a_short_table_the_place_and_the_next_command(
    server: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    explained = ["--set", "medexqa.use_explanations=true", "--set", "medexqa.explanation_metrics=rougeL"]
    assert (
        run(
            "--tasks",
            "medtasks",
            "--data",
            "sample",
            *explained,
            *CHAT,
            *at(server),
            "--output_path",
            "results",
            "--log_samples",
        )
        == 0
    )
    output = capsys.readouterr().out
    lines = output.splitlines()
    assert len(lines) <= 15 and max(map(len, lines)) <= 100
    assert lines[0].split() == ["metric", "n", "strict", "(95", "%)", "flexible", "(95", "%)", "answered"]
    rows = {tuple(line.split()[:2]): line for line in lines[1:8]}
    own = [("medexqa_all", "macro_acc"), ("medexqa_all", "explanation"), ("medhallu", "f1"), ("medhallu", "acc")]
    assert set(rows) == {("medmcqa_openmed", "acc"), ("medcalc_bench", "acc"), ("medtasks", "acc"), *own}
    (file,) = Path("results").glob("**/results_*.json")
    saved = json.loads(file.read_text(encoding="utf-8"))
    f1 = 100 * saved["results"]["medhallu"]["f1,strict-match"]
    assert re.search(rf"f1 +28 +{f1:.1f} \(\d+\.\d–\d+\.\d\)", rows["medhallu", "f1"])
    assert saved["medtasks"]["tokens"] == {"prompt": 880, "completion": 264, "replies": 88}
    assert saved["medtasks"]["latency"]["requests"] == 88 and saved["medtasks"]["latency"]["median"] > 0
    assert re.search(r"880 prompt tokens, 264 completion tokens, \d\.\d\d s a request \(median\)", output)
    assert lines[-2:] == ["saved in results/m", "next: medtasks report results/m -o report.html"]
    assert "|" not in output, "the harness's table is not shown"


@pytest.mark.parametrize(("at_once", "least", "most"), [(1, 0.3, 0.9), (4, 0.3, 0.9)])
def test_a_request_is_timed_from_when_it_is_sent(at_once: int, least: float, most: float, tmp_path: Path) -> None:
    """Not from when it began to wait for a place; 12 requests would wait for seconds."""
    with chat_server(lambda body: "\\boxed{0}", lambda body: 0.3) as asked:
        tasks = ["--tasks", "medhallu", "--data", "sample", "--limit", "12", "--output_path", "timed"]
        assert run(*tasks, *CHAT, "--model_args", f"model=m,base_url={asked.address},num_concurrent={at_once}") == 0
    (file,) = Path("timed").glob("**/results_*.json")
    latency = json.loads(file.read_text(encoding="utf-8"))["medtasks"]["latency"]
    assert latency["requests"] == 12 and least <= latency["median"] <= most


def test_the_table_fits_a_narrow_terminal(
    server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(*TASKS, *CHAT, *at(server)) == 0
    block = capsys.readouterr().out.split("\nof the first")[0]
    assert max(map(len, block.splitlines())) <= 40
    assert "strict (95 %): " in block


def test_the_scores_as_json(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ["--tasks", "medmcqa_openmed", "--data", "sample", "--limit", "2"]
    assert run(*tasks, *CHAT, *at(server), "--json", "--output_path", "results") == 0
    told = json.loads(capsys.readouterr().out)
    (score,) = told["scores"]
    assert (score["name"], score["benchmark"]) == ("medmcqa_openmed", "medmcqa")
    assert (score["metric"], score["n"]) == ("acc", 2)
    assert set(score["filters"]) == {"strict-match", "flexible-extract"}
    assert score["filters"]["strict-match"]["low"] <= score["filters"]["strict-match"]["value"]
    assert Path(told["results"]).is_file()
    assert told["tokens"]["replies"] == 2


# ---- results that cannot be saved at the end


def full_disk(monkeypatch: pytest.MonkeyPatch, *full: Path, from_samples: bool = False) -> None:
    """Let files in these folders be opened and not written, from the results on, or from the samples on."""
    write_text, is_armed = Path.write_text, []

    def refuse(path: Path) -> None:
        if any(folder in path.resolve().parents for folder in full):
            raise OSError(28, os.strerror(28), str(path))

    def write(self: Path, *arguments: Any, **settings: Any) -> int:
        is_armed.append(True)
        if not from_samples:
            refuse(self)
        return write_text(self, *arguments, **settings)

    def opened(path: Any, *arguments: Any, **settings: Any) -> Any:
        if is_armed and str(path).endswith(".jsonl"):
            refuse(Path(path))
        return open(path, *arguments, **settings)

    monkeypatch.setattr(Path, "write_text", write)
    monkeypatch.setattr("lm_eval.loggers.evaluation_tracker.open", opened, raising=False)


@pytest.mark.parametrize("from_samples", [False, True], ids=["results", "samples"])
def test_results_that_cannot_be_saved_are_saved_elsewhere(
    from_samples: bool,
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    from medtasks_utils.results import read_runs

    full_disk(monkeypatch, tmp_path / "results", from_samples=from_samples)
    assert run(*TASKS, *CHAT, *at(server), "--output_path", "results", "--log_samples", "--verbosity", "ERROR") == 1
    output, errors = capsys.readouterr()
    line = errors.strip().splitlines()[-1]
    assert "could not be saved in results (No space left on device); they are in " in line
    assert "medhallu" in output, "the scores are shown all the same"
    place = Path(line.split("they are in ")[1].removesuffix(" instead"))
    assert place.parent == tmp_path
    (found,) = read_runs(place)
    assert len(found.tasks["medhallu"].samples) == 2
    assert found.tasks["medhallu"].samples[0].messages[0]["role"] in ("system", "user")
    assert f"next: medtasks report {place}" in output


def test_where_this_folder_is_full_too_they_go_to_the_temporary_one(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spare = tmp_path.parent / f"{tmp_path.name}_spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    full_disk(monkeypatch, tmp_path)
    assert run(*TASKS, *CHAT, *at(server), "--output_path", "results", "--log_samples") == 1
    assert f"they are in {spare}" in capsys.readouterr().err
    assert list(spare.glob("**/results_*.json")) and list(spare.glob("**/samples_medhallu_*.jsonl"))


def test_where_nothing_can_be_written_it_says_so(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    full_disk(monkeypatch, tmp_path)
    assert run(*TASKS, *CHAT, *at(server), "--output_path", "results") == 1
    output, errors = capsys.readouterr()
    assert "nor in this folder, nor in" in errors
    assert "medhallu" in output


def test_trying_the_place_leaves_nothing_behind(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(*TASKS, *CHAT, *at("http://127.0.0.1:1"), "--output_path", "a/b/c") == 1
    assert not (tmp_path / "a").exists()
