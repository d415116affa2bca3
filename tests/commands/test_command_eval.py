"""``medtasks eval``: the same results as ``lm_eval run``, plain flags, errors before anything loads, help."""

import argparse
import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from commanding import succeed
from given import TASKS, each_row
from lm_eval._cli.harness import HarnessCLI
from lm_eval.tasks import TaskManager
from local_server import LocalServer
from places import at
from running import saved_results

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.harness import catalog
from medtasks_utils.harness.command_line import add_flags_of_run, configured
from medtasks_utils.writing import WIDTH, write_whole

ANSWERS = ("The answer is B. \\boxed{1}", "\\boxed{0}", "\\boxed{A}", "<answer>7</answer>", "I cannot tell.", "C")


@pytest.fixture(scope="module")
def server():
    """Yield flags for a model that answers at once, and always in the same way to the same prompt."""
    with LocalServer(lambda body: ANSWERS[sum(str(body["messages"]).encode()) % len(ANSWERS)]) as served:
        yield served.flags()


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def outcome(folder):
    """Return a run's results without times, and its samples by file name without the time."""
    results = saved_results(folder)
    for name in ("medtasks", "date", "start_time", "end_time", "total_evaluation_time_seconds", "pretty_env_info"):
        results.pop(name, None)
    results["config"]["model_args"].pop("seed", None)  # that of --seed, which lm_eval does not send
    logs = folder.glob("**/samples_*.jsonl")
    return results, {str(path.relative_to(folder)).rpartition("_")[0]: path.read_text() for path in logs}


# ---- the same results


@each_row("stock_arguments")
def test_results_are_those_of_the_stock_command(arguments, metadata, more, server, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:  # lm_eval run in this process, without the index of its own tasks
        patch.setattr("lm_eval.tasks.TaskManager", partial(TaskManager, include_defaults=False))
        words = ["--include_path", str(TASKS), "--metadata", metadata, "--output_path", "stock/results.json"]
        patch.setattr(sys, "argv", ["lm_eval", "run", *server, *arguments, *words])
        harness = HarnessCLI()
        harness.execute(harness.parse_args())
    succeed("eval", *server, *arguments, *more, "--data", "sample", "--output_path", "ours/results.json")
    expected, found = outcome(tmp_path / "stock"), outcome(tmp_path / "ours")
    assert found == expected
    assert expected[0]["results"]
    assert bool(expected[1]) == ("--log_samples" in arguments or "--predict_only" in arguments)


def test_a_configuration_file_keeps_its_metadata_and_is_not_shown(server, tmp_path, capsys):
    settings = tmp_path / "run.yaml"
    settings.write_text(
        f"tasks: medhallu\nmodel: {server[1]}\nmodel_args: {server[3]}\napply_chat_template: true\nlimit: 2\n"
        'metadata: {"medtasks_data": "sample", "medhallu": {"difficulty": "hard"}}\n'
    )
    succeed("eval", "--config", settings, "--set", "medhallu.repeats=2", "--output_path", "set", "--limit", "1")
    assert "model_args" not in "".join(capsys.readouterr())
    results = saved_results(tmp_path / "set")
    options = results["configs"]["medhallu"]["dataset_kwargs"]
    assert (options["difficulty"], options["repeats"], results["config"]["limit"]) == ("hard", 2, 1)


# ---- what a server says


@each_row("ends_of_runs")
def test_a_run_ends_with_its_scores_and_what_to_do_next(name, words, said, capsys):
    """The expected output is a pattern, in which FOLDER stands for the folder of the results."""
    with LocalServer(lambda body: "\\boxed{1}") as served:
        for _ in range(1 + (name == "another run there")):
            capsys.readouterr()
            succeed(*served.run_of("medhallu"), *words)
    folder = "".join({str(path.parent) for path in Path("out").rglob("results_*.json")})
    printed = capsys.readouterr().out
    assert re.fullmatch(said.replace("FOLDER", re.escape(folder)), printed, re.DOTALL)
    assert "--json" in words or max(map(len, printed.splitlines())) <= WIDTH


def test_the_probe_sends_the_settings_of_the_run_and_no_empty_stop():
    own = json.dumps({"chat_template_kwargs": {"enable_thinking": False}, "until": [], "max_gen_toks": 7})
    with LocalServer(lambda body: ".") as served:
        succeed(*served.run_of("medhallu"), "--limit", "2", "--gen_kwargs", own)
        (probe,) = served.probes
        for body in served.requests:
            assert body == {**probe, "messages": body["messages"], "max_tokens": 7} and "stop" not in body


# ---- which tasks are known


def test_the_harness_s_own_tasks_are_read_only_if_one_of_them_is_asked_for(tmp_path, monkeypatch, caplog):
    """A folder with one task replaces the harness's 14,000 tasks."""
    for file, text in {
        "defaults/stock_task.yaml": "task: stock_task\ndataset_path: none\n",
        "mine/mixed.yaml": "group: mixed\ntask:\n  - medhallu\n  - task: stock_task\n    num_fewshot: 1\n",
        "mine/ours.yaml": "group: ours\ntask: [medhallu, {group: inner, task: [medmcqa_openmed]}]\n",
        "mine/mine.yaml": f"include: {TASKS}/medhallu/medhallu.yaml\ntask: mine\n",
    }.items():
        write_whole(tmp_path / file, text)
    monkeypatch.setattr("lm_eval.tasks.manager.__file__", str(tmp_path / "defaults" / "manager.py"))
    folder = tmp_path / "mine"
    for names, path in ((["medexqa", "medexqa_*_logits"], TASKS), (["ours"], folder), (["mine", "medtasks"], folder)):
        assert "stock_task" not in catalog.manager_for(names, str(path)).all_tasks
    assert caplog.text == ""
    for name in ("stock_task", "mixed"):
        assert "stock_task" in catalog.manager_for([name], str(folder)).all_tasks
    assert "Reading lm_eval's own task files to find stock_task" in caplog.text
    write_whole(folder / "own.yaml", f"include: {TASKS}/medcalc_bench/medcalc_bench.yaml\ntask: medcalc_bench\n")
    both = ["medhallu", str(folder / "mine.yaml")]
    manager = catalog.manager_for([*both, str(folder)], str(folder), {"medtasks_data": "sample"})
    assert manager.task_index["medcalc_bench"].yaml_path.parent == folder, "a task of ours is replaced"
    catalog.make_tasks(manager, both)
    assert manager.load(both)["tasks"].keys() == {"medhallu", "mine"}


# ---- help


def test_help_names_every_task_option_and_flag(capsys):
    succeed("eval", "--help")
    shown = capsys.readouterr().out
    for name in catalog.manager_for().all_tasks:
        assert re.search(rf"^{name}( \*)?\s+\S", shown, re.MULTILINE), name
    flat = " ".join(shown.split())
    for benchmark in benchmarks().values():
        assert f"(--set {benchmark.name}.OPTION=VALUE)" in flat
        for option, settings in benchmark.options_class.model_fields.items():
            assert settings.description
            assert re.search(rf" {option} \([^)]+\) {re.escape(settings.description)}", flat), option
    for flag in ("--model", "--use_cache", "--hf_hub_log_args", "--data", "--set"):
        assert re.search(rf"^  (-\w, |--\w+, )*{flag}[ ,]", shown, re.MULTILINE), flag


@each_row("settings_of_runs")
def test_the_words_of_a_run_are_read_as_settings(name, words, expected):
    parser = argparse.ArgumentParser()
    add_flags_of_run(parser)
    assert at([], expected, configured(parser.parse_args(words))) == expected
