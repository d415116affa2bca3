"""Confidences in runs of the real harness: where they come from, what samples say of them, and what is left out."""

import math

import pytest
from commanding import exit_code, one_line
from given import error_line
from running import Scripted, evaluate, right_answer
from saved_runs import save_run

from medtasks_utils.benchmarks import benchmarks
from medtasks_utils.errors import MedtasksError
from medtasks_utils.harness.confidences import confidence_metrics
from medtasks_utils.report.calibration import (
    calibrations,
    confidence_lines,
    to_draw,
)
from medtasks_utils.results import read_runs

SAMPLED = {"gen_kwargs": "do_sample=true,temperature=0.7"}


def confidences(results, task):
    return [sample["confidence"] for sample in results["samples"][task] if sample["filter"] in ("none", "strict-match")]


def half_sure(doc):
    """Return log-likelihoods that give the second letter a probability of one half, and the others less."""
    return math.log({"B": 0.5, "A": 0.3, "C": 0.1, "D": 0.1}[doc["continuation"][-1]])


@pytest.mark.parametrize("task", ["medmcqa_logits", "medexqa_clinical_psychology_logits"])
def test_log_likelihoods_are_a_confidence(task):
    results = evaluate(task, Scripted(half_sure))
    assert all(one == {"origin": "logits", "values": [pytest.approx(0.5)]} for one in confidences(results, task))
    found, samples = results["results"][task], results["samples"][task]
    share = {
        letter: sum(sample["target"] == place for sample in samples) / len(samples)
        for place, letter in enumerate("ABCD")
    }
    assert found["acc,none"] == share["B"] and found["brier,none"] == pytest.approx(0.25)
    nll = -sum(share[letter] * half_sure({"continuation": letter}) for letter in share)
    assert found["nll,none"] == pytest.approx(nll) and found["ece_stderr,none"] > 0
    assert found["auroc,none"] == 0.5


def test_a_confidence_is_asked_for_and_read_apart_from_the_answer():
    def answer(doc):
        return right_answer(doc) + ("\nConfidence: 90%" if doc["target"] == "1" else "")

    plain = evaluate("medhallu", right_answer)
    asked = evaluate("medhallu", answer, metadata={"medhallu": {"ask_confidence": True}})
    values = [one["values"] for one in confidences(asked, "medhallu")]
    assert values.count([0.9]) == values.count([None]) == len(values) / 2
    (remark,) = asked["configs"]["medhallu"]["metadata"]["remarks"]
    assert f"{len(values) // 2} of {len(values)} responses state no confidence" in remark
    for filter_name in ("strict-match", "flexible-extract"):
        assert asked["results"]["medhallu"][f"acc,{filter_name}"] == 1
        assert asked["results"]["medhallu"][f"brier,{filter_name}"] == pytest.approx(0.01)
    prompts = [result["samples"]["medhallu"][0]["arguments"][0][0] for result in (plain, asked)]
    assert (
        prompts[1].replace(
            " After your answer, add a line with the probability that it is right, in this form: Confidence: N%", ""
        )
        == prompts[0]
    )
    signatures = [result["configs"]["medhallu"]["metadata"]["signature"]["strict-match"] for result in (plain, asked)]
    assert ["opts:-" in signatures[0], "opts:ask_confidence=true" in signatures[1]] == [True, True]
    assert not any(name.startswith("ece") for name in plain["results"]["medhallu"])


def test_generations_that_agree_are_a_confidence_and_those_that_abstain_are_none():
    replies = iter(["\\boxed{1}", "\\boxed{1}", "\\boxed{0}", "?", *["\\boxed{2}"] * 4, *["?"] * 4])
    metadata = {"medhallu": {"repeats": 4}}
    results = evaluate("medhallu", lambda doc: next(replies), metadata=metadata, limit=3, **SAMPLED)
    found = confidences(results, "medhallu")
    assert [one["values"] for one in found] == [[0.5], [None], [0.0]] and found[0]["origin"] == "agreement"
    medhallu = benchmarks()["medhallu"]
    assert confidence_metrics(medhallu(medhallu.options_class(repeats=2)))


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
    assert calibrations([run])[0].origin == "stated", "the first sample does not speak for all"


def test_a_metric_of_confidence_without_any_is_an_error_with_the_way_out(tmp_path, capsys):
    save_run(tmp_path, right_answer, tasks="medmcqa_openmed")
    assert "ask_confidence=true" in error_line(MedtasksError, to_draw, read_runs(tmp_path))
    assert exit_code(
        ["report", str(tmp_path), "-o", str(tmp_path / "a.html"), "--figure", str(tmp_path / "calibration.svg")]
    )
    assert "repeats above 1" in one_line(capsys.readouterr().err)
    words = ["eval", "--tasks", "medmcqa_logits", "--model", "hf", "--model_args", "pretrained=x", "--data", "sample"]
    assert exit_code([*words, "--set", "medmcqa.ask_confidence=true"]) == 2
    assert "omit it" in one_line(capsys.readouterr().err)
