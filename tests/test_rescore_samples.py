"""Which responses ``medtasks rescore`` finds in sample logs, and what it says of the rest."""

from __future__ import annotations

from pathlib import Path

from saved_runs import save_run

from medtasks_utils.rescore import find_responses

STRICT = "strict-match"


def test_each_generation_is_a_response_with_its_own_answer(tmp_path: Path) -> None:
    calls = iter(range(1000))

    def sometimes(doc: dict[str, object]) -> str:
        return f"The answer is {'ABCD'[next(calls) % 4]}."

    save_run(tmp_path, sometimes, "medexqa_be", metadata={"medexqa": {"repeats": 4}})
    found = find_responses([str(tmp_path)], STRICT).found
    assert len(found) == 16
    for example in {response.example for response in found}:
        own = [response for response in found if response.example == example]
        assert [response.generation for response in own] == [0, 1, 2, 3]
        assert all(response.text == f"The answer is {response.given}." for response in own)
        assert sum(response.needs_judge for response in own) == 1


def test_samples_of_other_tasks_are_left_out_and_said(tmp_path: Path) -> None:
    save_run(
        tmp_path,
        lambda doc: "The answer is A." if "continuation" not in doc else -1.0,
        ["medexqa_be", "medexqa_biomedical_engineering_logits", "medmcqa_openmed"],
    )
    responses = find_responses([str(tmp_path / "*" / "*.jsonl")], STRICT)
    assert {response.task for response in responses.found} == {"medexqa_biomedical_engineering"}
    assert len(responses.problems) == 2
    (other,) = (problem for problem in responses.problems if "medmcqa_openmed" in problem)
    (logits,) = (problem for problem in responses.problems if "logits" in problem)
    assert "not one of MedExQA's" in other
    assert "no answers of the filter strict-match" in logits and "log-likelihoods" in logits
