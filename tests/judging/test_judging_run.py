"""Many cases at once: both judges' scores, the limit, faults, a kill, a rerun, interruption."""

import time

import pytest
from judge_server import LABELS, JudgeServer, faulty, sound
from judging_cases import case, cases, judged, no_keys_and_no_waits, settings_for
from local_server import Fault
from scripts import together, whole

from medtasks_utils.judging import judge_all, make_judge, templates

__all__ = ["no_keys_and_no_waits"]


@pytest.mark.parametrize("coverage", [False, True])
def test_factscore_asks_for_claims_then_each_verdict_and_a_second_time_for_nothing(coverage, tmp_path, capsys):
    """With coverage the claims of each reference are extracted by a call of their own, and united."""
    todo = [*cases(4), case(9, references=("One only.",))]
    with JudgeServer() as server:
        judge = make_judge("factscore", use_coverage=coverage)
        judgements, again = (judge_all(judge, settings_for(server.url, tmp_path), todo) for _ in range(2))
        asked = [whole(request["messages"]) for request in server.requests]
    calls = len(server.requests)
    assert calls == len(todo) * 7 + 7 * coverage * sum(len(one.references) for one in todo)
    told = f"{judge.signature}|model:judge: 5 judged; requests: {{}}; tokens: {{}} in prompts, {{}} in completions\n"
    assert capsys.readouterr().err == told.format(calls, 7 * calls, 3 * calls) + told.format(0, 0, 0)
    assert again == judgements
    for one, found in zip(todo, judgements, strict=True):
        assert len(found.output["claims"]) == len(found.output["labels"]) == 6
        assert found.score == found.output["support"] or coverage
        for text in one.references:
            assert any(f"\n{text}\n</explanation>" in prompt for prompt in asked) == coverage
        for example in templates.examples(one.specialty):
            assert any(one.question in prompt and example["explanation"] in prompt for prompt in asked)


def test_claims_that_both_references_make_count_once_and_texts_without_claims_are_no_error(tmp_path):
    def answer(request):
        text = whole(request["messages"])
        if "JSON array" not in text:
            return LABELS[0] if "shared" in text else LABELS[1] if "Because of" in text else LABELS[2]
        return "[]" if "Zzz." in text else '["shared", "own"]' if "Mine." in text else '["shared", "x", "y"]'

    todo = [case(0, references=("Mine.", "Yours.")), case(1, explanation="Zzz."), case(2, references=("Zzz.",))]
    with JudgeServer(answer) as server:
        both, silent, bare = judged(server, tmp_path, todo, "factscore", coverage=True)
    assert both.output["reference_claims"] == ["shared", "own", "x", "y"]
    assert both.output["labels"] == [LABELS[0], LABELS[2], LABELS[2]]
    assert both.output["coverage"] == 62.5, "each by the explanation alone"
    assert (both.output["support"], both.score) == pytest.approx((100 / 3, (100 / 3 + 62.5) / 2))
    assert (silent.output["claims"], silent.output["support"], silent.score) == ([], 0.0, silent.output["coverage"] / 2)
    assert (bare.output["coverage"], bare.score) == (None, bare.output["support"])


# ---- the limit, faults, a kill, interruption


def test_as_many_calls_as_the_limit_says_are_under_way_and_never_more(tmp_path):
    faults = faulty([(0.3, Fault(503))], sound)

    def slowly(request):
        time.sleep(0.05)
        return faults(request)

    with JudgeServer(together(4, slowly)) as server:
        judged(server, tmp_path, cases(12), concurrency=4, max_retries=50)
        assert server.most_at_once == 4
