"""MedExQA's explanation scores under the harness: gating, references, weights, macro averages."""

import pytest
from given import TASKS, Row, sample_rows, write_rows
from lm_eval.tasks import TaskManager
from running import evaluate, samples

from medtasks_utils.benchmarks.medexqa.metrics.bleu import Bleu
from medtasks_utils.benchmarks.medexqa.metrics.rouge import RougeL

LEXICAL = {"use_explanations": True, "explanation_metrics": ["rougeL", "bleu"]}


def answered(doc: Row) -> str:
    """Right, with an explanation near the first reference, for most; wrong for the rest."""
    if "wh" in doc["question"].lower()[:3]:
        return f"<think>Or is it {doc['options'][0]}?</think>B. {doc['explanation_2']}"
    near = doc["explanation_1"][: len(doc["question"])]
    return f"<think>Let me see.</think>The answer is {doc['answer_letter']}. {near}"


def test_each_example_is_scored_against_both_references_if_its_answer_is_right_and_0_if_not():
    weights = {"mcq_weight": 0.3, "explanation_weight": 0.7}
    found = samples(evaluate("medexqa_all", answered, metadata={"medexqa": {**LEXICAL, **weights}}))
    assert {sample["acc"] for sample in found} == {0.0, 1.0}
    for sample in found:
        doc = sample["doc"]
        text, references = answered(doc).split("</think>")[1], [doc["explanation_1"], doc["explanation_2"]]
        scores = [sample["acc"] * metric.score([text], [references])[0] for metric in (RougeL(), Bleu())]
        assert (scores[0] > 0) == sample["acc"]
        explanation = sum(scores) / 2
        combined = 0.3 * 100 * sample["acc"] + 0.7 * explanation
        names = ("rougeL", "bleu", "explanation", "combined")
        assert [sample[name] for name in names] == pytest.approx([*scores, explanation, combined], abs=1e-9)
        assert "meteor" not in sample


def test_one_blank_reference_uses_the_other_and_two_are_reported_not_scored(tmp_path):
    def right(doc):
        return f"The answer is {doc['answer_letter']}. It is so."

    task, file = "medexqa_clinical_psychology", "medexqa/test/clinical_psychologist_test.tsv"
    rows = sample_rows(file)
    rows[0]["explanation_1"], rows[1]["explanation_1"], rows[1]["explanation_2"] = "", "", "  "
    write_rows(rows, tmp_path / file, header=False)
    result = evaluate(task, right, data=tmp_path, metadata={"medexqa": LEXICAL})
    one, none, *both = samples(result)
    assert [one["rougeL"]] == pytest.approx(RougeL().score([right(one["doc"])], [[one["doc"]["explanation_2"]]]))
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
