"""Runs of the defining environments: read, scored anew, reported, compared with runs of the harness."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Row, evaluate, right_answer
from environment_runs import ENVIRONMENTS, lines, rows, write
from lm_eval.loggers import EvaluationTracker

from medtasks_utils import cli
from medtasks_utils.compare import compare_runs
from medtasks_utils.errors import MedtasksError
from medtasks_utils.rescore import find_responses
from medtasks_utils.results import ResultsError, read_runs

STRICT = "strict-match"


def mostly_right(doc: Row) -> str:
    """Right but for every fourth question, by its length."""
    return right_answer(doc) if len(str(doc["question"])) % 4 else "<think>hm</think> I cannot say."


@pytest.mark.parametrize("benchmark", ENVIRONMENTS)
def test_answers_and_metrics_are_those_of_the_harness(benchmark: str, tmp_path: Path) -> None:
    environment, function, name, _ = ENVIRONMENTS[benchmark]
    (run,) = read_runs(write(tmp_path, benchmark, lines(benchmark, mostly_right)))
    assert (run.model, run.date, list(run.tasks)) == ("org/model-7b", "2026-03-04T05-06-07", [name])
    task = run.tasks[name]
    assert (task.benchmark, task.problems, run.problems) == (benchmark, [], [])
    result = evaluate(name, mostly_right)
    theirs = [sample for sample in result["samples"][name] if sample["filter"] == STRICT]
    assert len(task.samples) == len(theirs)
    shared = {"acc", "answered", "format", "macro_acc", "answer_accuracy", "reward", "unsure_rate", "f1"}
    for ours, harness in zip(task.samples, theirs, strict=True):
        assert ours.answers[STRICT] == [str(harness["filtered_resps"][0])]
        assert ours.details[STRICT]["found_by"] == harness["found_by"]
        for metric in shared & harness.keys():
            assert ours.metrics[STRICT][metric] == harness[metric], metric
        assert ours.metrics[STRICT]["env_reward"] == ours.metrics[STRICT][f"env_{function}"]
        assert not {"env_generation_ms", "env_example_id", "env_total_ms"} & ours.metrics[STRICT].keys()
    rewards = [sample.metrics[STRICT]["env_reward"] for sample in task.samples]
    assert rewards[:3] == [0.0, 1.0, 1.0]
    assert environment in str(run.path)


@pytest.mark.parametrize("benchmark", ENVIRONMENTS)
def test_a_run_is_compared_with_one_of_the_harness(benchmark: str, tmp_path: Path) -> None:
    name = ENVIRONMENTS[benchmark][2]
    write(tmp_path / "theirs", benchmark, lines(benchmark, mostly_right))
    tracker = EvaluationTracker(output_path=str(tmp_path / "ours"))
    result = evaluate(name, right_answer, evaluation_tracker=tracker)
    tracker.save_results_aggregated(
        results={k: v for k, v in result.items() if k != "samples"}, samples=result["samples"]
    )
    tracker.save_results_samples(task_name=name, samples=result["samples"][name])
    a, b = read_runs([tmp_path / "theirs", tmp_path / "ours"])
    compared = compare_runs(a, b, resamples=50)
    accuracy = next(line for line in compared.lines if line.metric == "acc" and line.breakdown is None)
    assert accuracy.contrast.n == len(rows(benchmark))
    assert accuracy.contrast.b == 1.0 > accuracy.contrast.a
    assert compared.flips and all(flip.direction == "gained" for flip in compared.flips)
    assert any("signature" in warning for warning in compared.warnings)


def test_report_and_rescore_read_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for benchmark in ENVIRONMENTS:
        write(tmp_path, benchmark, lines(benchmark, mostly_right))
    page = tmp_path / "report.html"
    assert cli.main(["report", str(tmp_path), "-o", str(page)]) == 0, capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    for shown in ("MedMCQA", "MedExQA", "MedCalc-Bench", "MedHallu", "env_reward", "env_check_correctness"):
        assert shown in text
    found = find_responses([str(tmp_path)], STRICT)
    assert len(found.found) == len(rows("medexqa"))
    assert {response.case.specialty for response in found.found} == {doc["specialty"] for doc in rows("medexqa")}
    assert all(len(response.case.references) == 2 for response in found.found)
    assert {response.run for response in found.found} == {"org/model-7b 2026-03-04T05-06-07"}


def test_rollouts_of_an_example_are_its_generations(tmp_path: Path) -> None:
    def second_wrong(doc: Row) -> str:
        return right_answer(doc) if doc["rollout"] != 1 else "No."

    written = lines("medhallu", second_wrong, rollouts=4)
    for case, strip in enumerate(((), ("example_id",))):  # by id, else by prompt
        shorter = [{key: value for key, value in line.items() if key not in strip} for line in written]
        (run,) = read_runs(write(tmp_path / str(case), "medhallu", shorter, {"rollouts_per_example": 4}))
        samples = run.tasks["medhallu"].samples
        assert len(samples) == len(rows("medhallu"))
        for sample in samples:
            assert len(sample.responses) == len(sample.answers[STRICT]) == 4
            assert sample.metrics[STRICT]["acc"] == 0.75
            assert len(sample.details[STRICT]["found_by"]) == 4
            assert sample.metrics[STRICT]["env_reward"] in (pytest.approx(0.5), pytest.approx(0.75))


@pytest.mark.parametrize(
    ("task", "environment", "folder"),
    [
        ("medarc/medcalc-bench", "", "x--m"),
        ("default", "medcalc_bench", "x--m"),
        ("default", "", "medcalc-bench--m"),
        ("", "", "x--m"),
        (None, "other", "x--m"),
    ],
)
def test_the_benchmark_is_told_by_task_metadata_folder_or_info(
    tmp_path: Path, task: str | None, environment: str, folder: str
) -> None:
    place = tmp_path / folder / "1"
    place.mkdir(parents=True)
    text = "".join(json.dumps({**line, "task": task}) + "\n" for line in lines("medcalc_bench", right_answer))
    (place / "results.jsonl").write_text(text)
    (place / "metadata.json").write_text(json.dumps({"env_id": environment}))
    (run,) = read_runs(tmp_path)
    assert [sample.metrics[STRICT]["acc"] for sample in run.tasks["medcalc_bench"].samples] == [1.0] * len(
        rows("medcalc_bench")
    )


def test_where_it_cannot_be_told_there_is_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gsm8k--m" / "1" / "results.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"prompt": "2 + 2?", "completion": "4", "answer": "4", "task": "gsm8k", "reward": 1.0}))
    for given in (path, tmp_path):
        with pytest.raises(
            ResultsError, match=r"line 1: neither task \('gsm8k'\), info nor metadata.json tells"
        ) as caught:
            read_runs(given)
        assert "\n" not in str(caught.value)
    assert cli.main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    write(tmp_path, "medhallu", lines("medhallu", right_answer))
    (run,) = read_runs(tmp_path)  # among others it is left out, and said so
    assert list(run.tasks) == ["medhallu"]
    assert any("gsm8k" in problem for problem in run.problems)


def test_bad_lines_are_counted_and_rows_without_what_scoring_needs_are_left_out(tmp_path: Path) -> None:
    written = lines("medhallu", right_answer)
    written[2]["answer"] = "maybe"
    path = write(tmp_path, "medhallu", written)
    path.write_text(path.read_text() + '{"prompt": "cut o\n[1, 2]\n{"task": "medhallu", "completion": null}\n')
    (run,) = read_runs(path)
    assert len(run.tasks["medhallu"].samples) == len(written) - 1
    assert run.problems == [
        f"{path}: left out 3 lines that are no response or cut short (the first is line {len(written) + 1})"
    ]
    assert run.tasks["medhallu"].problems == [f"{path}: left out 1 examples (line 3: answer is 'maybe', not 0 or 1)"]
    path.write_text("\n\n")
    with pytest.raises(ResultsError, match="has no response as vf-eval -s writes them"):
        read_runs(path)


def test_any_file_of_that_form_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "old-history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines("medmcqa", mostly_right)))
    (run,) = read_runs(path)
    assert list(run.tasks) == ["medmcqa_openmed"]


def test_turns_with_tools_end_in_the_last_reply_and_all_are_kept(tmp_path: Path) -> None:
    (line, *_) = lines("medcalc_bench", right_answer)
    final = line["completion"][-1]
    call = {"role": "assistant", "content": None, "tool_calls": ['{"name": "calculator"}']}
    line["completion"] = [call, {"role": "tool", "content": "<answer>1</answer>"}, final]
    (run,) = read_runs(write(tmp_path, "medcalc_bench", [line]))
    (sample,) = run.tasks["medcalc_bench"].samples
    assert sample.responses == [final["content"]]
    assert sample.metrics[STRICT]["acc"] == 1.0
    transcript = sample.details[STRICT]["transcript"]
    assert [turn["role"] for turn in transcript] == ["system", "user", "assistant", "tool", "assistant"]
    assert "calculator" in transcript[2]["content"]


def test_boxed_answers_come_first_where_the_environment_asked_for_them(tmp_path: Path) -> None:
    (line, *_) = lines("medcalc_bench", lambda doc: f"<answer>-1</answer> \\boxed{{{doc['shown_truth']}}}")
    for form, right in (("boxed", 1.0), ("xml", 0.0)):
        path = write(tmp_path / form, "medcalc_bench", [line], {"env_args": {"answer_format": form}})
        (run,) = read_runs(path)
        assert run.tasks["medcalc_bench"].samples[0].metrics[STRICT]["acc"] == right


def test_columns_of_the_data_sets_in_info_and_info_as_json_are_read(tmp_path: Path) -> None:
    (line, *_) = lines("medcalc_bench", right_answer)
    of_info = line["info"]
    limits = {"Lower Limit": of_info["upper_bound"], "Upper Limit": of_info["lower_bound"]}
    info = {
        "Calculator ID": of_info["calc_id"],
        "Ground Truth Answer": of_info["ground_truth"],
        **limits,
        "Category": "lab",
    }
    line |= {"info": json.dumps(info), "answer": "", "task": "default", "prompt": "What is it?", "reward": None}
    (run,) = read_runs(write(tmp_path, "medcalc_bench", [line], {"env_id": None}))
    (sample,) = run.tasks["medcalc_bench"].samples
    assert sample.metrics[STRICT]["acc"] == sample.metrics[STRICT]["acc_lab_test"] == 1.0
    assert "env_reward" not in sample.metrics[STRICT]


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [None], [{"role": 3}], math.nan, {"calc_id": {}}, "\ud800"])
@pytest.mark.parametrize("key", ["prompt", "completion", "answer", "info", "task", "reward", "example_id", "metrics"])
def test_no_value_anywhere_stops_reading(tmp_path: Path, key: str, value: Any) -> None:
    written = [line for name in ENVIRONMENTS for line in lines(name, right_answer)[:2]]
    written[0][key] = value
    written[-1][key] = value
    told = None
    try:
        (run,) = read_runs(write(tmp_path, "medhallu", written))
    except MedtasksError as error:
        told = str(error)
    if told is None:
        assert sum(len(task.samples) for task in run.tasks.values()) >= 4
    else:
        assert "\n" not in told
