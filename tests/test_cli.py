"""The command lines: the stock ``lm_eval`` with our tasks on real backends, and ``medtasks`` itself."""

from __future__ import annotations

import json
import logging
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    GENERATION_TASKS,
    ROOT,
    TASKS,
    clean_environment,
    lm_eval,
    manager,
    right_answer,
    saved_results,
    saved_samples,
)
from launching import ON_PROCESSORS, free_port, launch

from medtasks_utils import __main__ as cli
from medtasks_utils.errors import DataError, MedtasksError, OptionError
from medtasks_utils.selfcheck import prompt_key, serving

SPECIALTIES = (
    "biomedical_engineering",
    "clinical_laboratory_science",
    "clinical_psychology",
    "occupational_therapy",
    "speech_language_pathology",
)
CODES = ("be", "cls", "cp", "ot", "slp")
NAMES = {
    "medmcqa_openmed",
    "medexqa",
    *(f"medexqa_{name}" for name in SPECIALTIES),
    *(f"medexqa_{code}" for code in CODES),
    "medexqa_all",
    "medexqa_logits",
    *(f"medexqa_{name}_logits" for name in SPECIALTIES),
    "medcalc_bench",
    "medcalc_bench_v1_2",
    "medcalc_bench_one_shot",
    "medcalc_bench_lite",
    "medcalc_bench_python",
    "medcalc_bench_calculator",
    "medcalc_bench_tools",
    "medhallu",
    "medhallu_artificial",
    "medhallu_knowledge",
    "medtasks",
}


# ---- names


def test_groups_tags_and_tasks_are_what_they_are_called() -> None:
    known = manager()
    assert {name for name in known.all_groups if name in NAMES} == {"medexqa", "medexqa_logits", "medtasks"}
    assert {f"medexqa_{code}" for code in CODES} <= set(known.all_tags)
    for code, name in zip(CODES, SPECIALTIES, strict=True):
        assert set(manager().load([f"medexqa_{code}"])["tasks"]) == {f"medexqa_{name}"}
    members = known.load(["medtasks"])["group_map"]["medtasks"]
    assert set(members) == set(GENERATION_TASKS)
    assert len(known.load(["medexqa"])["group_map"]["medexqa"]) == 5


# ---- the stock command on a chat server


@pytest.mark.slow
def test_lm_eval_run_on_a_local_chat_server(tmp_path: Path) -> None:
    tasks = manager().load(["medtasks", "medexqa"])["tasks"]
    answers = {}
    for task in tasks.values():
        task.build_all_requests(
            apply_chat_template=True, fewshot_as_multiturn=True, chat_template=lambda chat, **kwargs: json.dumps(chat)
        )
        for instance in task.instances:
            answers[prompt_key(json.loads(instance.args[0]))] = right_answer(instance.doc)
    with serving({"clinic-model": answers}) as address:
        done = lm_eval(
            "run", "--include_path", TASKS, "--tasks", "medtasks,medexqa",
            "--model", "local-chat-completions",
            "--model_args", f"model=clinic-model,base_url={address},num_concurrent=8,max_retries=1,seed=3",
            "--apply_chat_template", "--log_samples", "--output_path", "out",
            "--metadata", '{"medexqa": {"use_explanations": false}, "medhallu": {"seed": 9}}',
            cwd=tmp_path, env={"MEDTASKS_DATA": "sample"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    result = saved_results(tmp_path / "out")
    for name in (*GENERATION_TASKS, "medtasks", "medexqa", "medexqa_clinical_psychology"):
        for filter_name in ("strict-match", "flexible-extract"):
            assert result["results"][name][f"acc,{filter_name}"] == 1.0
            assert result["results"][name][f"acc_stderr,{filter_name}"] == 0.0
    for name, task in tasks.items():
        samples = saved_samples(tmp_path / "out", name)
        assert len(samples) == 2 * len(task.eval_docs)
        assert all(sample["acc"] == 1.0 for sample in samples)
    assert result["configs"]["medhallu"]["dataset_kwargs"]["seed"] == 9
    assert result["configs"]["medmcqa_openmed"]["metadata"]["data_source"] == "sample"
    table = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines() if line.startswith("|")]
    assert {"medmcqa_openmed", "medtasks", "medexqa"} <= {row[1].lstrip("- ") for row in table}
    assert {("strict-match", "acc"), ("flexible-extract", "f1")} <= {(row[3], row[5]) for row in table if len(row) > 5}
    for warning in ("No aggregation function", "not scored on the same number", "is missing in"):
        assert warning not in done.stderr


# ---- the stock command on a model in the process, and in two

with_torch = pytest.mark.torch
HF_TASKS = "medmcqa_openmed,medexqa_all,medcalc_bench_lite,medhallu,medexqa_logits"


def hf_arguments(model: Path, folder: str) -> list[str]:
    return [
        "run", "--include_path", str(TASKS), "--tasks", HF_TASKS,
        "--model", "hf", "--model_args", f"pretrained={model},dtype=float32", "--device", "cpu", "--batch_size", "1",
        "--apply_chat_template", "--limit", "5", "--gen_kwargs", "max_gen_toks=6",
        "--log_samples", "--output_path", folder,
        "--metadata",
        '{"medtasks_data": "sample", "medexqa": {"use_explanations": false}, "medhallu": {"repeats": 2}}',
    ]  # fmt: skip


def scores(folder: Path) -> dict[str, dict[str, float]]:
    return {
        task: {key: value for key, value in metrics.items() if isinstance(value, float)}
        for task, metrics in saved_results(folder)["results"].items()
    }


@with_torch
def test_a_tiny_hf_model_scores_the_same_in_one_process_and_in_two(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="several processes are accelerate's")
    done = lm_eval(*hf_arguments(tiny_model, "one"), cwd=tmp_path, env=ON_PROCESSORS)
    assert done.returncode == 0, done.stderr
    one, two = tmp_path / "one", tmp_path / "two"
    expected = scores(one)
    names = {"medmcqa_openmed", "medexqa_all", "medcalc_bench_lite", "medhallu"}
    for name in names:
        assert 0 <= expected[name]["acc,strict-match"] <= 1
        samples = saved_samples(one, name)
        assert len(samples) == 10
        assert any(sample["resps"][0][0] for sample in samples), "it does generate"
        assert all(sample["arguments"]["gen_args_0"]["arg_0"].endswith("<assistant>") for sample in samples)
    assert all(len(sample["resps"]) == 2 for sample in saved_samples(one, "medhallu"))
    assert 0 <= expected["medexqa_logits"]["acc,none"] <= 1

    done = subprocess.run(
        [*launch(free_port()), "-m", "lm_eval", *hf_arguments(tiny_model, "two")],
        cwd=tmp_path, env=clean_environment(ON_PROCESSORS), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = scores(two)
    assert found.keys() == expected.keys()
    for task, metrics in expected.items():
        assert found[task].keys() == metrics.keys()
        for key, value in metrics.items():
            assert found[task][key] == pytest.approx(value, abs=1e-12, nan_ok=True), (task, key)
    assert any(value not in (0.0, 1.0) and not math.isnan(value) for task in found.values() for value in task.values())
    for task in names:
        assert by_example(two, task) == by_example(one, task)


def by_example(folder: Path, task: str) -> dict[tuple[int, str], Any]:
    return {(s["doc_id"], s["filter"]): (s["resps"], s["acc"], s["doc"]) for s in saved_samples(folder, task)}


# ---- errors


def one_line(errors: str) -> str:
    """The only line of ours on standard error, which has to be its last."""
    assert "Traceback" not in errors
    lines = errors.strip().splitlines()
    assert [line for line in lines if line.startswith("medtasks: error: ")] == lines[-1:]
    return lines[-1].removeprefix("medtasks: error: ")


@pytest.fixture
def log_levels() -> Any:
    logger = logging.getLogger("lm_eval")
    level = logger.level
    yield logger
    logger.setLevel(level)


@pytest.mark.parametrize("kind", [OptionError, DataError, MedtasksError])
def test_an_error_of_ours_is_shown_as_one_line(
    kind: type[MedtasksError], capsys: pytest.CaptureFixture[str], log_levels: logging.Logger
) -> None:
    log_levels.setLevel(logging.INFO)
    try:
        raise kind("what is wrong and the way out")
    except MedtasksError as error:
        sys.excepthook(kind, error, error.__traceback__)
    assert one_line(capsys.readouterr().err) == "what is wrong and the way out"


# ---- medtasks


@pytest.mark.parametrize(
    "arguments",
    [
        ["paths"],
        ["path", "extra"],
        ["report", "x", "--outptu", "y"],
        ["selfcheck", "--limit", "few"],
        ["selfcheck", "--dat"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("medtasks: error: ")
    assert "--help lists all" in line


def test_bare_it_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert set(cli.COMMANDS) <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_flags_and_tasks(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert cli.main(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["script"] == script.removesuffix("\n")
    assert "selfcheck" in script
    assert shell == "tcsh" or "--use_cache" in script
    assert shell == "tcsh" or "medmcqa_openmed" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m medtasks_utils completion bash | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_and_an_interrupt_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def failing(error: BaseException) -> Any:
        def run(*arguments: Any, **settings: Any) -> int:
            raise error

        return run

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("medtasks_utils.selfcheck.run", failing(DataError("no rows")))
    assert cli.main(["selfcheck"]) == 1
    assert one_line(capsys.readouterr().err) == "no rows"
    monkeypatch.setattr("medtasks_utils.selfcheck.run", failing(KeyboardInterrupt()))
    assert cli.main(["selfcheck"]) == 130
    assert capsys.readouterr().err == "medtasks: stopped\n"


def test_importing_the_command_does_not_import_the_harness() -> None:
    """``medtasks path`` is called in shell expansions and has to be quick."""
    program = (
        "import sys, medtasks_utils.__main__\nprint([m for m in ('lm_eval', 'torch', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
