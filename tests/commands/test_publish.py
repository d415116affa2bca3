"""``medtasks publish``: the Hub's client can read the files, and results on a part are held back."""

from shlex import quote
from typing import Any

import huggingface_hub
import yaml
from commanding import exit_code, succeed
from given import each_row
from saved_runs import right_in, save_run


def saved(tmp_path, part="", whole="", **settings):
    """Save a run whose results say that its rows are the Hub's; a text ``part`` replaces ``whole`` in them."""
    path = save_run(tmp_path / "run", **settings)
    content = path.read_text().replace('"data_source": "sample"', '"data_source": "hub"')
    path.write_text(content.replace(whole, part) if part else content, encoding="utf-8")
    return path


def published(folder):
    """Return the entries by task; check that the Hub's client, if it knows them, reads and writes them as we do."""
    by_task: dict[str, dict[str, Any]] = {}
    for path in (folder / ".eval_results").iterdir():
        entries = yaml.safe_load(path.read_text())
        if hasattr(huggingface_hub, "parse_eval_result_entries"):
            read = huggingface_hub.parse_eval_result_entries(entries)
            assert huggingface_hub.eval_result_entries_to_yaml(read) == entries
        by_task |= {entry["dataset"]["task_id"]: entry for entry in entries}
    return by_task


def test_publish_writes_entries_of_all_benchmarks_and_says_how_to_upload_them(tmp_path, monkeypatch, capsys):
    """Their values and notes are among ``facts_of_small_runs``."""
    tasks = ["medmcqa_openmed", "medexqa", "medcalc_bench_calculator", "medhallu"]
    path = saved(tmp_path, answer=right_in(0.7), tasks=tasks, metadata={"medcalc_bench": {"revision": "v2"}})
    succeed("publish", path, "--model_repo", "org/name", "-o", tmp_path / "out")
    upload = f"hf upload org/name {quote(f'{tmp_path}/out/.eval_results')} .eval_results --create-pr"
    assert capsys.readouterr().out.splitlines()[-1] == f"next: {upload}"
    monkeypatch.chdir(tmp_path)
    succeed("publish", path, "--model_repo", "org/name")
    assert (tmp_path / "name" / ".eval_results").is_dir(), "by default, of the model's name"
    found = published(tmp_path / "out")
    assert {*found} == {*tasks}, "the group stands for its tasks"
    assert found["medhallu"]["dataset"]["revision"] == "515060458a945c633debc6fd5baac7764416b724"
    assert found["medcalc_bench_calculator"]["dataset"]["revision"] == "v2"
    assert "tools: calculator" in found["medcalc_bench_calculator"]["notes"]
    succeed("publish", path, "--model_repo", "org/name", "-o", "eee", "--format", "every_eval_ever")
    assert [*(tmp_path / "eee").rglob("*.json")]


@each_row("held_back")
def test_results_on_a_part_of_the_rows_are_published_only_with_allow_partial(reason, part, whole, tmp_path, capsys):
    """A run's results say ``part``, and would say ``whole`` of the whole benchmark."""
    path = saved(tmp_path, part, whole, tasks=["medhallu"])
    arguments = ["publish", path, "--model_repo", "org/name", "-o", tmp_path / "out"]
    assert exit_code(arguments) == 1
    errors = capsys.readouterr().err
    assert reason in errors and "--allow_partial" in errors and errors.count("\n") == 1
    assert not (tmp_path / "out").exists()
    is_sample, is_local = reason == "the rows are the bundled sample", reason == "local files"
    assert exit_code([*arguments, "--allow_partial"]) == is_sample
    if not is_sample:
        entry = published(tmp_path / "out")["medhallu"]
        assert entry["value"] > 0
        assert ("revision" not in entry["dataset"]) is ("rows from local files" in entry["notes"]) is is_local
