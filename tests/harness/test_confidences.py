"""Confidences in runs of the real harness: where they come from, what samples say of them, and what is left out."""

import pytest
from commanding import exit_code, one_line
from given import error_line
from running import right_answer
from saved_runs import save_run

from medtasks_utils.errors import MedtasksError
from medtasks_utils.report.calibration import (
    calibrations,
    confidence_lines,
    to_draw,
)
from medtasks_utils.results import read_runs


def test_confidences_in_samples_aggregate_to_the_metrics_of_the_run(tmp_path):
    save_run(
        tmp_path,
        lambda doc: f"\\boxed{{{len(doc['question']) % 3}}} {50 + len(doc['answer']) % 50}% sure",
        tasks="medhallu_knowledge",
        metadata={"medhallu": {"ask_confidence": True}},
    )
    (run,) = read_runs(tmp_path)
    task = run.tasks["medhallu_knowledge"]
    for name in ("brier", "brier_resolution", "ece", "auroc", "aurc", "e_aurc", "acc@80"):
        aggregation, scores = task.metric(name).aggregation, task.metric_scores("strict-match", name)
        assert aggregation.value(scores) == pytest.approx(task.metrics[name, "strict-match"].value)
        assert aggregation.stderr(scores) == pytest.approx(task.metrics[name, "strict-match"].stderr)
    (drawn,) = calibrations([run])
    abstains = [sample.answers["strict-match"] == ["2"] for sample in task.samples]
    assert sum(bin.n for bin in drawn.bins) == abstains.count(False) and drawn.origin == "stated"
    lines = "".join(confidence_lines(run))
    assert lines.strip().startswith("medhallu_knowledge, how sure: ")
    for name, words in (("ece", "ECE"), ("auroc", "AUROC"), ("acc@80", "acc of the surest 80 %")):
        assert f"{words} {100 * task.metrics[name, 'strict-match'].value:.1f}" in " ".join(lines.split())
    del task.samples[0].details["strict-match"]["confidence"]
    assert calibrations([run])[0].origin == "stated"  # the first sample does not speak for all


def test_a_metric_of_confidence_without_any_is_an_error_with_the_way_out(tmp_path, capsys):
    save_run(tmp_path, right_answer, tasks="medmcqa_openmed")
    assert "ask_confidence=true" in error_line(MedtasksError, to_draw, read_runs(tmp_path))
    assert exit_code(["report", tmp_path, "-o", tmp_path / "a.html", "--figure", tmp_path / "calibration.svg"])
    assert "repeats above 1" in one_line(capsys.readouterr().err)
    words = ["eval", "--tasks", "medmcqa_logits", "--model", "hf", "--model_args", "pretrained=x", "--data", "sample"]
    assert exit_code([*words, "--set", "medmcqa.ask_confidence=true"]) == 2
    assert "omit it" in one_line(capsys.readouterr().err)
