"""Mistakes that people make with ``medtasks eval``, with the real harness: one line with the way out, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_server import Answer, Fault, LocalServer, Request, refusal

from medtasks_utils import __main__ as cli


def oddly(body: Request) -> Answer:
    """What the model's name asks for: a status, or a body of its own; a name with ``late`` only once it is no probe."""
    name, _, status = str(body["model"]).partition("-")
    if name == "late" and body["max_tokens"] == 1:
        return "."
    if name == "raw":
        return Fault(200, status)
    return refusal(int(status), "no luck") if status.isdigit() else "."


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer(oddly, probed=oddly) as served:
        yield served


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("a_file").write_text("")
    Path("odd.yaml").write_text("taks: medhallu\n")
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
    ({"tasks": None}, 2, ["task"]),
    ({"tasks": "medmcqa"}, 2, ["medmcqa_openmed", "lm_eval run --tasks medmcqa"]),
    ({"tasks": "MedCalc-Bench"}, 2, ["did you mean medcalc_bench"]),
    ({"tasks": "medhalu"}, 2, ["medhalu", "did you mean medhallu"]),
    ({"set": "medhallu.dificulty=hard"}, 2, ["medhallu", "did you mean 'difficulty'"]),
    ({"set": "medhallu.difficulty=x"}, 2, ["difficulty", "easy"]),
    ({"set": "difficulty=hard"}, 2, ["BENCHMARK.OPTION=VALUE"]),
    ({"set": "medhalu.seed=1"}, 2, ["medhalu", "medcalc_bench, medexqa"]),
    ({"set": "medexqa.specialty=cp"}, 2, ["medexqa", "none of the tasks"]),
    ({"set": "medhallu.seed=3"}, 2, ["seed", "pairing=sampled"]),
    ({"metadata": "{medhallu: 1}"}, 2, ["JSON"]),
    ({"metadata": "medhallu=5"}, 2, ["JSON object"]),
    ({"metadata": '{"difficulty": "hard"}'}, 2, ["difficulty", "medhallu"]),
    # flags
    ({"model": None, "model_args": None}, 2, ["no model is named", "--model hf"]),
    ({"model": "local-chat-completion"}, 2, ["local-chat-completions"]),
    ({"apply_chat_template": None}, 2, ["add --apply_chat_template"]),
    ({"model_args": "model=big"}, 2, ["address", "base_url="]),
    ({"model_args": "model=big base_url=AT"}, 2, ["base_url="]),
    ({"model_args": "gpt2"}, 2, ["key=value"]),
    ({"model_args": CHAT + "big,num_concurrent=many"}, 1, ["many"]),
    ({"model_args": CHAT + "big,temperature=0.7"}, 2, ["temperature", "--gen_kwargs"]),
    ({"tasks": "medexqa_logits"}, 2, ["log-likelihoods", "vllm"]),
    ({"tasks": "medcalc_bench_python"}, 2, ["--confirm_run_unsafe_code"]),
    ({"tasks": "medcalc_bench_calculator", "model": "dummy", "model_args": None, "apply_chat_template": None}, 2,
     ["add --apply_chat_template"]),
    ({"model": "dummy", "model_args": None, "gen_kwargs": "temperature=0.7"}, 2, ["do_sample=true"]),
    ({"limit": "few"}, 2, ["--limit", "few"]),
    ({"limit": "-1"}, 2, ["--limit -1"]),
    ({"num_fewshot": "2"}, 2, ["Leave --num_fewshot out"]),
    ({"gen_kwargs": "temprature=0.7"}, 2, ["did you mean temperature"]),
    ({"samples": '{"medhallu": [1]}'}, 2, ["--samples", "--limit"]),
    ({"limit": None, "samples": '{"medhallu": [999]}'}, 1, ["--samples", "interval"]),
    ({"lmit": "3"}, 2, ["--lmit", "did you mean --limit"]),
    ({"config": "none.yaml"}, 2, ["none.yaml"]),
    ({"config": "odd.yaml"}, 2, ["taks", "odd.yaml"]),
    ({"config": "list.yaml"}, 2, ["list.yaml"]),
    ({"log_samples": ""}, 2, ["--output_path"]),
    # what has to be there
    ({"data": "nowhere"}, 1, ["nowhere", "sample"]),
    ({"data": "hub"}, 1, ["HF_HUB_OFFLINE", "sample"]),
    ({"output_path": "a_file"}, 1, ["a_file/big", "another folder"]),
    ({"model": "openai-chat-completions", "model_args": "model=gpt-4o"}, 1, ["OPENAI_API_KEY"]),
    ({"hf_hub_log_args": "push_result_to_hub=true"}, 1, ["push_result_to_hub"]),
    # the server
    ({"model_args": "model=m,base_url=http://127.0.0.1:1/v1/chat/completions"}, 1, ["refused", "base_url"]),
    ({"model_args": "model=m,base_url=http://no-such-host.invalid/v1"}, 1, ["no-such-host.invalid"]),
    ({"model_args": "model=m,base_url=localhost:8000"}, 1, ["localhost:8000"]),
    ({"model_args": CHAT + "x-401"}, 1, ["401", "no luck", "OPENAI_API_KEY"]),
    ({"model_args": CHAT + "bigg-404"}, 1, ["bigg-404", "no luck"]),
    ({"model_args": CHAT + "x-500"}, 1, ["500", "no luck", "log"]),
    ({"model_args": CHAT + "raw-<html>Welcome</html>"}, 1, ["Welcome", "base_url"]),
    ({"model_args": CHAT + "raw-null"}, 1, ["without an answer", "base_url"]),
    ({"model_args": CHAT + "late-500", "output_path": "r"}, 1, ["500", "no luck"]),
    ({"model_args": CHAT + "late-401,num_concurrent=4"}, 1, ["401", "OPENAI_API_KEY"]),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "code", "says"), MISTAKES, ids=lambda value: str(value)[:70])
def test_a_mistake_is_one_line_with_the_way_out(
    changed: dict[str, str | None], code: int, says: list[str], server: LocalServer, capsys: pytest.CaptureFixture[str]
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
    error: Exception,
    says: str,
    server: LocalServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*arguments: Any, **settings: Any) -> None:
        raise error

    monkeypatch.setattr("lm_eval.models.dummy.DummyLM.generate_until", fails)
    assert run("--tasks", "medhallu", "--data", "sample", "--model", "dummy", "--output_path", "r") == 1
    line = the_line(capsys)
    assert says in line
    (file,) = {word.strip("();") for word in line.split() if "medtasks_traceback_" in word}
    assert "in fails" in Path(file).read_text(encoding="utf-8")
    Path(file).unlink()


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LMEVAL_LOG_LEVEL", "DEBUG")
    assert run("--tasks", "medmcqa", "--data", "sample", "--model", "dummy") == 2
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "medtasks: error: " in shown
