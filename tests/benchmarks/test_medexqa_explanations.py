"""MedExQA's explanation scores under the harness: gating, references, weights, macro averages."""

import pytest
from given import TASKS, Row, sample_rows, write_rows
from lm_eval.tasks import TaskManager
from rouge_score.rouge_scorer import RougeScorer
from running import evaluate, samples

from medtasks_utils.benchmarks.medexqa.metrics.bleu import Bleu

LEXICAL = {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}


def answered(doc: Row) -> str:
    """Right, with an explanation near the first reference, for most; wrong for the rest."""
    if "wh" in doc["question"].lower()[:3]:
        return f"<think>Or is it {doc['options'][0]}?</think>B. {doc['explanation_2']}"
    near = doc["explanation_1"][: len(doc["question"])]
    return f"<think>Let me see.</think>The answer is {doc['answer_letter']}. {near}"


def expected(doc: Row, references: list[str]) -> dict[str, float]:
    text = answered(doc).split("</think>")[1]
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    rouge = max(100 * scorer.score(reference, text)["rougeL"].fmeasure for reference in references)
    return {"rougeL": rouge, "bleu": Bleu().score([text], [references])[0]}


def test_each_example_is_scored_as_the_libraries_do_and_gated_on_a_right_answer():
    result = evaluate(
        "medexqa_all", answered, metadata={"medexqa": {**LEXICAL, "mcq_weight": 0.3, "explanation_weight": 0.7}}
    )
    right = wrong = 0
    for sample in samples(result):
        doc = sample["doc"]
        if sample["acc"]:
            right += 1
            scores = expected(doc, [doc["explanation_1"], doc["explanation_2"]])
            assert 0 < scores["rougeL"] <= 100
        else:
            wrong += 1
            scores = {"rougeL": 0.0, "bleu": 0.0}
        assert {name: sample[name] for name in scores} == pytest.approx(scores, abs=1e-9)
        explanation = sum(scores.values()) / 2
        assert sample["explanation"] == pytest.approx(explanation, abs=1e-9)
        assert sample["combined"] == pytest.approx(0.3 * 100 * sample["acc"] + 0.7 * explanation, abs=1e-9)
        assert "meteor" not in sample
    assert right
    assert wrong


def test_one_blank_reference_uses_the_other_and_two_are_reported_not_scored(tmp_path):
    def right(doc):
        return f"The answer is {doc['answer_letter']}. It is so."

    task, file = "medexqa_clinical_psychology", "medexqa/test/clinical_psychologist_test.tsv"
    rows = sample_rows(file)
    rows[0]["explanation_1"], rows[1]["explanation_1"], rows[1]["explanation_2"] = "", "", "  "
    write_rows(rows, tmp_path / file, header=False)
    result = evaluate(task, right, data=tmp_path, metadata={"medexqa": LEXICAL})
    one, none, *both = samples(result)
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    alone = 100 * scorer.score(one["doc"]["explanation_2"], right(one["doc"]))["rougeL"].fmeasure
    assert one["rougeL"] == pytest.approx(alone, abs=1e-9)
    assert [none[name] for name in ("rougeL", "bleu", "explanation", "combined")] == [None] * 4
    assert none["acc"] == 1.0
    scored = [sample["explanation"] for sample in (one, *both)]
    assert result["results"][task]["explanation,strict-match"] == pytest.approx(sum(scored) / 3)
    (said,) = result["configs"][task]["metadata"]["remarks"]
    assert said.startswith("examples without a reference explanation") and said.endswith("1 of 4")


def test_explanations_are_scored_by_default_but_not_in_the_group_of_accuracies():
    defaults = TaskManager(include_path=str(TASKS), include_defaults=False, metadata={"medtasks_data": "sample"})
    assert defaults.load(["medexqa_be"])["tasks"]["medexqa_biomedical_engineering"].options.use_explanations
    assert not defaults.load(["medtasks"])["tasks"]["medexqa_all"].options.use_explanations
