"""Runs are found and read whatever happened to their files; nothing but missing paths is an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import TASKS as TASKS_FOLDER
from conftest import clean_environment, evaluate, lm_eval, right_answer
from hypothesis import given
from hypothesis import strategies as st
from saved_runs import TASKS, edit_lines, right_in, sample_file, save_run

from medtasks_utils.compare import as_json, compare_runs
from medtasks_utils.report.outcomes import outcomes
from medtasks_utils.report.sections import unit_sections
from medtasks_utils.report.units import arrange
from medtasks_utils.results import ResultsError, Sample, read_runs
from medtasks_utils.results.runs import benchmark_of
from medtasks_utils.results.samples import read_samples


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results file of a run of all four benchmarks."""
    return save_run(tmp_path_factory.mktemp("saved"), right_in(0.7), tasks=["medtasks"])


@pytest.fixture
def results(saved: Path, tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    shutil.copytree(saved.parent, tmp_path / "run")
    return tmp_path / "run" / saved.name


# ---- what a run holds


def test_a_run_of_all_benchmarks_is_read_whole(saved: Path) -> None:
    (run,) = read_runs(saved.parent)
    assert (run.name, run.model, run.problems) == ("model", "org/model", [])
    assert run.date and run.date in saved.name
    assert {task.benchmark: name for name, task in run.tasks.items()} == {
        "medmcqa": "medmcqa_openmed",
        "medexqa": "medexqa_all",
        "medcalc_bench": "medcalc_bench",
        "medhallu": "medhallu",
    }
    assert list(run.groups) == ["medtasks"] and run.groups["medtasks"].tasks == list(TASKS)
    assert ("acc", "strict-match") in run.groups["medtasks"].metrics
    for task in run.tasks.values():
        assert task.filters == ["strict-match", "flexible-extract"]
        assert not task.problems
        assert len(task.samples) == run.results["n-samples"][task.task]["effective"]
        value, stderr = task.metrics["acc", "strict-match"]
        assert value == run.results["results"][task.task]["acc,strict-match"]
        assert stderr == run.results["results"][task.task]["acc_stderr,strict-match"]


def test_a_sample_joins_both_filters(saved: Path) -> None:
    (run,) = read_runs(saved)
    task = run.tasks["medhallu"]
    lines = [json.loads(line) for line in sample_file(saved, "medhallu").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 2 * len(task.samples)
    for sample in task.samples:
        strict, flexible = (line for line in lines if line["doc_id"] == sample.doc_id)
        assert sample.doc == strict["doc"] and sample.doc_hash == strict["doc_hash"] == flexible["doc_hash"]
        assert sample.responses == strict["resps"][0] and sample.target == strict["target"]
        assert sample.answers == {line["filter"]: line["filtered_resps"] for line in (strict, flexible)}
        assert sample.metrics["strict-match"] == {name: strict[name] for name in strict["metrics"]}
        assert sample.found_by == {line["filter"]: [line["found_by"]] for line in (strict, flexible)}
        assert [message["role"] for message in sample.messages] == ["system", "user"]
        assert sample.doc["question"] in sample.prompt
        assert not any({"judge", "transcript"}.intersection(details) for details in sample.details.values())


def test_generations_of_an_example_stay_together(tmp_path: Path) -> None:
    save_run(tmp_path, tasks="medhallu", metadata={"medhallu": {"repeats": 3}}, limit=4)
    (run,) = read_runs(tmp_path)
    for sample in run.tasks["medhallu"].samples:
        assert len(sample.responses) == len(sample.answers["strict-match"]) == 3
        assert len(sample.found_by["strict-match"]) == 3


def test_a_prompt_without_a_chat_template_is_one_message(tmp_path: Path) -> None:
    save_run(tmp_path, tasks="medmcqa_openmed", apply_chat_template=False, limit=2)
    (run,) = read_runs(tmp_path)
    (message,) = run.tasks["medmcqa_openmed"].samples[0].messages
    assert message["role"] == "prompt" and "Choices:" in message["content"]


def test_log_likelihoods_are_read_as_letters(tmp_path: Path) -> None:
    def prefers_b(doc: dict[str, Any]) -> float:
        return -0.5 if doc["continuation"].strip() == "B" else -2.0

    save_run(tmp_path, prefers_b, tasks="medexqa_clinical_psychology_logits")
    (run,) = read_runs(tmp_path)
    (task,) = run.tasks.values()
    assert task.benchmark == "medexqa" and task.filters == ["none"]
    for sample in task.samples:
        assert sample.answers == {"none": ["B"]}
        assert sample.responses[1] == "B: -0.5" and len(sample.responses) == 4
        assert sample.target == sample.doc["answer_letter"]
        assert sample.metrics["none"]["acc"] == float(sample.target == "B")


@pytest.mark.slow
def test_the_command_line_writes_what_is_read(tmp_path: Path) -> None:
    done = lm_eval(
        *("run", "--model", "dummy", "--tasks", "medhallu", "--include_path", TASKS_FOLDER, "--limit", "3"),
        *("--log_samples", "--output_path", tmp_path / "out"),
        cwd=tmp_path,
        env={"MEDTASKS_DATA": "sample"},
    )
    assert done.returncode == 0, done.stderr
    (run,) = read_runs(tmp_path / "out")
    assert len(run.tasks["medhallu"].samples) == 3 and run.tasks["medhallu"].signatures
    assert clean_environment()["HF_HUB_OFFLINE"] == "1"


# ---- finding runs


def test_a_file_names_its_run_and_no_other(tmp_path: Path) -> None:
    first = save_run(tmp_path, tasks="medhallu", limit=2)
    second = save_run(tmp_path, tasks="medmcqa_openmed", limit=2)
    assert first.parent == second.parent
    assert [run.path for run in read_runs(first)] == [first]
    assert [run.path for run in read_runs(sample_file(second, "medmcqa_openmed"))] == [second]
    both = read_runs(tmp_path)
    assert [run.path for run in both] == [first, second]
    assert len({run.name for run in both}) == 2 and all(run.name.startswith("model 20") for run in both)
    assert [list(run.tasks) for run in both] == [["medhallu"], ["medmcqa_openmed"]]


def test_a_run_named_twice_is_read_once(saved: Path) -> None:
    assert len(read_runs([saved, saved.parent, saved.parent.parent])) == 1


def test_names_are_unique_for_copies_of_one_run(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results.parent, tmp_path / "copy")
    names = [run.name for run in read_runs(tmp_path)]
    assert len(set(names)) == 2


def test_an_output_path_that_is_a_file_name(tmp_path: Path) -> None:
    """With --output_path out/my.json the harness writes out/my_<date>.json and the samples beside it."""
    save_run(tmp_path, tasks="medhallu", limit=2)
    (path,) = tmp_path.glob("**/results_*.json")
    path.rename(path.with_name(path.name.replace("results_", "my_")))
    (run,) = read_runs(tmp_path)
    assert not run.problems and len(run.tasks["medhallu"].samples) == 2


def test_a_hundred_runs_are_found_without_reading_their_samples(results: Path, tmp_path: Path) -> None:
    for index in range(100):
        folder = tmp_path / "many" / f"model-{index}"
        folder.mkdir(parents=True)
        shutil.copy(results, folder)
        (folder / sample_file(results, "medhallu").name).write_bytes(b"not read yet")
    runs = read_runs(tmp_path / "many")
    assert len(runs) == 100 and len({run.name for run in runs}) == 100
    assert runs[7].tasks["medhallu"].samples == [] and "1 line" in runs[7].tasks["medhallu"].problems[0]


@pytest.mark.parametrize("make", [lambda path: path, lambda path: path / "absent"])
def test_nothing_found_is_one_clear_error(tmp_path: Path, make: Any) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(ResultsError, match=r"no (results in|file or folder) .*--output_path") as error:
        read_runs(make(tmp_path))
    assert "\n" not in str(error.value)
    with pytest.raises(ResultsError, match="no results in no path"):
        read_runs([])


# ---- damage


def test_lines_cut_short_are_counted_and_the_rest_is_used(results: Path) -> None:
    path = sample_file(results, "medmcqa_openmed")
    whole = len(read_samples(path).samples)
    edit_lines(path, lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]])
    log = read_samples(path)
    assert len(log.samples) == whole
    assert any("1 line that" in problem or "1 line" in problem for problem in log.problems)
    assert any("1 example lacks the filter flexible-extract" in problem for problem in log.problems)


@given(data=st.data())
def test_no_bytes_are_an_error(saved: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Any cut, and anything at all in place of some lines, leaves the other samples as they were."""
    lines = sample_file(saved, "medhallu").read_bytes().splitlines(keepends=True)[:12]
    before = {sample.doc_id: sample for sample in _read(b"".join(lines), tmp_path_factory)}
    index = data.draw(st.integers(0, len(lines) - 1))
    junk = data.draw(st.binary(max_size=60) | st.sampled_from([b"null", b"[]", b"{}", b'{"doc_id": 1}', b"[" * 5000]))
    damaged = [*lines[:index], junk.replace(b"\n", b"") + b"\n", *lines[index + 1 :]]
    after = {sample.doc_id: sample for sample in _read(b"".join(damaged), tmp_path_factory)}
    lost = json.loads(lines[index])["doc_id"]
    assert {key: value for key, value in after.items() if key != lost} == {
        key: value for key, value in before.items() if key != lost
    }


def _read(content: bytes, factory: pytest.TempPathFactory) -> list[Sample]:
    path = factory.getbasetemp() / "samples_medhallu.jsonl"
    path.write_bytes(content)
    return read_samples(path).samples


def test_repeated_lines_are_used_once(results: Path) -> None:
    path = sample_file(results, "medcalc_bench")
    whole = read_samples(path)
    edit_lines(path, lambda lines: [*lines, *lines[:3]])
    log = read_samples(path)
    assert log.samples == whole.samples and "3 lines repeat" in log.problems[0]


def test_missing_samples_are_a_problem_of_their_task(results: Path) -> None:
    sample_file(results, "medexqa_all").unlink()
    (run,) = read_runs(results)
    assert run.tasks["medexqa_all"].samples == [] and run.tasks["medexqa_all"].metrics
    assert "--log_samples" in run.tasks["medexqa_all"].problems[0]
    assert not run.tasks["medhallu"].problems


@pytest.mark.parametrize("content", [b"", b'{"results": {"medhallu"', b"[]", b'{"other": 1}', b"\xff\xfe"])
def test_an_unreadable_results_file_leaves_the_samples(results: Path, content: bytes) -> None:
    results.write_bytes(content)
    (run,) = read_runs(results.parent)
    assert "cannot be read" in run.problems[0] and run.results == {}
    assert {name: task.benchmark for name, task in run.tasks.items()} == {
        "medmcqa_openmed": "medmcqa",
        "medexqa_all": "medexqa",
        "medcalc_bench": "medcalc_bench",
        "medhallu": "medhallu",
    }
    assert all(task.samples for task in run.tasks.values())


def test_samples_without_a_results_file_are_a_run(results: Path) -> None:
    results.unlink()
    (run,) = read_runs(results.parent)
    assert "no results file" in run.problems[0] and len(run.tasks) == 4


def test_runs_of_other_versions_are_read(results: Path) -> None:
    """Without signatures, ways of finding, hashes and names of metrics, and with arguments as lists."""
    content = json.loads(results.read_text())
    for config in content["configs"].values():
        del config["metadata"]["signature"]
    content["results"]["medhallu"]["f1_stderr,strict-match"] = "N/A"
    results.write_text(json.dumps(content))

    def older(line: bytes) -> bytes:
        sample = json.loads(line)
        for key in ("found_by", "doc_hash", "prompt_hash", "target_hash", "metrics"):
            del sample[key]
        sample["arguments"] = [list(request.values()) for request in sample["arguments"].values()]
        return json.dumps(sample).encode() + b"\n"

    whole = read_samples(sample_file(results, "medhallu")).samples
    edit_lines(sample_file(results, "medhallu"), lambda lines: [older(line) for line in lines])
    (run,) = read_runs(results)
    task = run.tasks["medhallu"]
    assert task.signatures == {} and not task.problems
    assert task.metrics["f1", "strict-match"].stderr is None
    for sample, before in zip(task.samples, whole, strict=True):
        assert sample.doc_hash == before.doc_hash and sample.messages == before.messages
        assert sample.found_by == {}
        assert sample.metrics["strict-match"]["acc"] == before.metrics["strict-match"]["acc"]


def test_hostile_responses_are_kept_and_harm_nothing(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u2028\x00\x1b[31m\x85\r" + "y" * 200_000 + "\\boxed{1}"
    save_run(tmp_path, lambda doc: hostile, tasks="medhallu", limit=3)
    (run,) = read_runs(tmp_path)
    task = run.tasks["medhallu"]
    assert [sample.responses for sample in task.samples] == [[hostile]] * 3 and not task.problems


def test_lone_surrogates_become_replacement_characters(results: Path) -> None:
    path = sample_file(results, "medhallu")

    def broken(line: bytes) -> bytes:
        return json.dumps({**json.loads(line), "resps": [["a\ud800b\ud83d\ude00"]]}).encode() + b"\n"

    edit_lines(path, lambda lines: [broken(line) for line in lines])
    log = read_samples(path)
    assert log.samples[0].responses == ["a\ufffdb\U0001f600"]
    log.samples[0].responses[0].encode()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def somewhere(data: st.DataObject, content: Any) -> None:
    """Replace something in nested dictionaries and lists by anything."""
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        key = data.draw(st.sampled_from(keys))
        if isinstance(content[key], dict | list) and content[key] and data.draw(st.booleans()):
            content = content[key]
        else:
            content[key] = data.draw(ANYTHING)
            return


@given(data=st.data())
def test_no_value_anywhere_stops_reading_and_comparing(
    saved: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever stands in a place of a results file or a sample, all else is read, broken down and compared."""
    folder = tmp_path_factory.getbasetemp() / "anything"
    folder.mkdir(exist_ok=True)
    results = json.loads(saved.read_text())
    somewhere(data, results)
    (folder / "results.json").write_text(json.dumps(results))
    task = data.draw(st.sampled_from(TASKS))
    lines = [json.loads(line) for line in sample_file(saved, task).read_text(encoding="utf-8").splitlines()]
    somewhere(data, lines[data.draw(st.integers(0, 3))])
    (folder / f"samples_{task}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (run,) = read_runs(folder)
    read = run.tasks[task]
    assert len(read.samples) >= len(lines) // 2 - 1
    assert unit_sections(arrange([run]))
    outcomes(read.samples)
    json.loads(as_json(compare_runs(run, run, tasks=[(task, task)], metrics=["acc"])))


# ---- tasks of others


def test_the_harness_has_tasks_of_its_own_with_our_names(results: Path) -> None:
    content = json.loads(results.read_text())
    content["configs"]["medhallu"] |= {"process_results": "lm_eval.tasks.other.score", "metadata": {"version": 1}}
    results.write_text(json.dumps(content))
    (run,) = read_runs(results)
    assert run.tasks["medhallu"].benchmark is None and run.tasks["medhallu"].samples
    assert benchmark_of("medmcqa", {}) is None and benchmark_of("medmcqa_openmed", {}) == "medmcqa"


@pytest.mark.parametrize("benchmark", ["medmcqa", "medexqa", "medcalc_bench", "medhallu"])
def test_runs_saved_by_version_0_1_name_the_class_that_scored_them(benchmark: str) -> None:
    assert benchmark_of("any", {"process_results": f"medtasks_utils.{benchmark}.Class.score"}) == benchmark
    assert benchmark_of("any", {"process_results": "other.score", "metadata": {"benchmark": benchmark}}) == benchmark
    assert benchmark_of(benchmark, {"process_results": "medtasks_utils.other.Class.score"}) is None


def test_a_group_without_metrics_is_no_task(tmp_path: Path) -> None:
    path = save_run(tmp_path, tasks="medexqa", limit=2)
    content = json.loads(path.read_text())
    del content["groups"]
    path.write_text(json.dumps(content))
    (run,) = read_runs(path)
    assert len(run.tasks) == 5 and "medexqa" not in run.tasks


def test_samples_agree_with_the_harness_in_memory(tmp_path: Path) -> None:
    """What is read back is what the evaluator returned."""
    answer = right_in(0.5)
    save_run(tmp_path, answer, tasks="medcalc_bench")
    (run,) = read_runs(tmp_path)
    live = evaluate("medcalc_bench", answer, log_samples=True)["samples"]["medcalc_bench"]
    read = {(sample.doc_id, name): sample for sample in run.tasks["medcalc_bench"].samples for name in sample.answers}
    assert len(read) == len(live)
    for line in live:
        sample = read[line["doc_id"], line["filter"]]
        assert sample.metrics[line["filter"]]["acc"] == line["acc"]
        assert sample.answers[line["filter"]] == [str(line["filtered_resps"][0])]
    assert right_answer(live[0]["doc"])
