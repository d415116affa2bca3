"""Many cases at once: both judges' scores, the limit, faults, a kill, a rerun, interruption."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judge_server import HANG_UP, LABELS, Answer, Fault, Faulty, JudgeServer, draw, reply_to, sound, whole
from judging_cases import SPECIALTIES, case, cases, settings_for
from tenacity import wait_none

from medtasks_utils.judging import (
    Case,
    JudgeError,
    Judgement,
    check,
    failures_by_kind,
    judge_all,
    make_judge,
    retries,
    summary,
    templates,
)

WORTH = dict(zip(LABELS, (1.0, 0.5, 0.0), strict=True))
FAULTS = ((0.10, Fault(429, headers={"Retry-After": "0"})), (0.05, Fault(500)), (0.03, HANG_UP))
JUDGES = ("g-eval", "factscore")


@pytest.fixture(autouse=True)
def _no_keys_and_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(retries, "_BACKOFF", wait_none())


def fields(one: Case) -> dict[str, Any]:
    return {name: getattr(one, name) for name in Case.__dataclass_fields__}


def rate(one: Case, text: str, prompt: str) -> float:
    """What the server's replies to FActScore's prompts amount to."""
    extraction = templates.load("factscore_claims")
    asked = extraction.messages(specialty=one.specialty, question=one.question, explanation=text)
    claims = json.loads(reply_to(asked))
    verify = templates.load(f"factscore_{prompt}")
    labels = [reply_to(verify.messages(**fields(one), claim=claim)) for claim in claims]
    return 100 * sum(WORTH[label] for label in labels) / len(labels)


def expected(judge: str, one: Case, use_coverage: bool = False) -> float:
    if judge == "g-eval":
        score: float = json.loads(reply_to(templates.load("geval").messages(**fields(one))))["final_score"]
        return score
    support = rate(one, one.explanation, "verify")
    return (support + rate(one, "\n\n".join(one.references), "cover")) / 2 if use_coverage else support


# ---- scores and calls


@pytest.mark.parametrize(
    ("judge", "use_coverage", "calls"), [("g-eval", False, 1), ("factscore", False, 7), ("factscore", True, 14)]
)
def test_scores_and_calls(judge: str, use_coverage: bool, calls: int, tmp_path: Path) -> None:
    todo = cases(10)
    told: dict[int, Judgement] = {}
    with JudgeServer() as server:
        judge_ = make_judge(judge, use_coverage=use_coverage)
        settings = settings_for(server.url, tmp_path)
        judgements = judge_all(judge_, settings, todo, on_result=told.__setitem__)
        assert len(server.requests) == calls * 10
        again = judge_all(judge_, settings, todo)
        assert len(server.requests) == calls * 10
    assert [judgement.score for judgement in judgements] == [expected(judge, one, use_coverage) for one in todo]
    assert [told[index] for index in range(10)] == judgements
    assert {(j.calls, j.tokens, j.failure) for j in judgements} == {(calls, (7 * calls, 3 * calls), None)}
    assert [(j.score, j.output, j.tokens) for j in again] == [(j.score, j.output, j.tokens) for j in judgements]
    assert {(j.calls, j.failure) for j in again} == {(0, None)}


def test_factscore_tells_claims_labels_and_rates(tmp_path: Path) -> None:
    with JudgeServer() as server:
        (judgement,) = judge_all(
            make_judge("factscore", use_coverage=True), settings_for(server.url, tmp_path), [case()]
        )
    output = judgement.output
    assert set(output) == {"claims", "labels", "support", "reference_claims", "reference_labels", "coverage"}
    for claims, labels, share in (
        ("claims", "labels", "support"),
        ("reference_claims", "reference_labels", "coverage"),
    ):
        assert len(output[claims]) == len(output[labels]) == 6
        assert output[share] == pytest.approx(100 * sum(WORTH[label] for label in output[labels]) / 6)
    assert judgement.score == pytest.approx((output["support"] + output["coverage"]) / 2)


def test_texts_without_claims(
    tmp_path: Path,
) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        text = whole(request["messages"])
        return "[]" if "JSON array" in text and ("Zzz." in text or "Hmm." in text) else sound(request)

    todo = [case(0, explanation="Zzz."), case(1, references=("Hmm.",))]
    with JudgeServer(answer) as server:
        silent, bare = judge_all(make_judge("factscore", use_coverage=True), settings_for(server.url, tmp_path), todo)
    assert (silent.output["claims"], silent.output["support"]) == ([], 0.0)
    assert silent.score == silent.output["coverage"] / 2
    assert (bare.output["coverage"], bare.score) == (None, bare.output["support"])


@pytest.mark.parametrize("specialty", SPECIALTIES)
def test_claims_are_extracted_with_examples_of_the_own_specialty(specialty: str, tmp_path: Path) -> None:
    with JudgeServer() as server:
        judge_all(make_judge("factscore"), settings_for(server.url, tmp_path), [case(specialty=specialty)])
    (extraction,) = (whole(r["messages"]) for r in server.requests if "JSON array" in whole(r["messages"]))
    for other in SPECIALTIES:
        for example in templates.examples(other):
            assert (example["explanation"] in extraction) == (other == specialty)


def test_the_same_case_is_judged_once(tmp_path: Path) -> None:
    told: Counter[int] = Counter()
    with JudgeServer() as server:
        judgements = judge_all(
            make_judge("g-eval"),
            settings_for(server.url, tmp_path),
            [case(0), case(1), case(0)],
            lambda i, _: told.update([i]),
        )
    assert len(server.requests) == 2
    assert judgements[0] == judgements[2] != judgements[1]
    assert told == {0: 1, 1: 1, 2: 1}


def test_no_cases_no_calls(tmp_path: Path) -> None:
    with JudgeServer() as server:
        assert judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path), []) == []
    assert server.requests == []


# ---- the limit


@pytest.mark.parametrize(
    ("judge", "count", "limit"), [("g-eval", 60, 8), ("factscore", 12, 8), ("factscore", 1, 4), ("g-eval", 5, 1)]
)
def test_the_limit_is_kept_and_used(judge: str, count: int, limit: int, tmp_path: Path) -> None:
    with JudgeServer(latency=0.05) as server:
        judge_all(make_judge(judge), settings_for(server.url, tmp_path, concurrency=limit), cases(count))
        assert server.most_in_flight == limit


def test_the_limit_is_kept_and_used_while_some_wait(tmp_path: Path) -> None:
    faults = Faulty([(0.4, Fault(429, headers={"Retry-After": "0.2"}))])
    with JudgeServer(faults, latency=0.02) as server:
        judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path, concurrency=4, max_retries=50), cases(40))
        assert server.most_in_flight == 4


def test_a_pause_is_taken_after_each_call(tmp_path: Path) -> None:
    with JudgeServer() as server:
        start = time.monotonic()
        judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path, concurrency=2, pause=0.1), cases(10))
        assert time.monotonic() - start >= 0.4  # five rounds of two, a pause between them


# ---- faults, a kill, interruption


@pytest.mark.parametrize("judge", JUDGES)
def test_means_are_of_the_judged_alone_and_the_rest_is_counted(judge: str, tmp_path: Path) -> None:
    todo = cases(60)

    def hopeless(text: str) -> bool:
        return draw(text).random() < 0.1

    def answer(request: dict[str, Any]) -> Answer:
        text = whole(request["messages"]).split("(An earlier reply")[0].strip()
        return "I would give it 85 of 100." if hopeless(text) else reply_to([{"role": "user", "content": text}])

    with JudgeServer(Faulty(FAULTS, otherwise=answer)) as server:
        settings = settings_for(server.url, tmp_path, max_retries=20)
        judgements = judge_all(make_judge(judge), settings, todo)
        failed = [judgement for judgement in judgements if judgement.score is None]
        assert failures_by_kind(judgements) == {"unreadable": len(failed)}
        assert 0 < len(failed) < 60
        assert all(judgement.error for judgement in failed)
        assert len(server.requests) == sum(judgement.calls for judgement in judgements)
    # What is judged is judged as without any fault.
    with JudgeServer(answer) as server:
        calm = judge_all(make_judge(judge), settings_for(server.url, tmp_path / "calm"), todo)
    assert [judgement.score for judgement in calm] == [judgement.score for judgement in judgements]
    scores = [judgement.score for judgement in judgements if judgement.score is not None]
    assert all(0 <= score <= 100 for score in scores) and math.fsum(scores) > 0


SCRIPT = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from judging_cases import cases, settings_for
    from medtasks_utils.judging import judge_all, make_judge, summary

    settings = settings_for(sys.argv[1], Path(sys.argv[2]), concurrency=8)
    print(summary(judge_all(make_judge(sys.argv[3]), settings, cases(int(sys.argv[4])))))
    """
)


def start_judging(server: JudgeServer, folder: Path, judge: str, count: int) -> subprocess.Popen[str]:
    here = str(Path(__file__).parent)
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, server.url, str(folder), judge, str(count)],
        env={**os.environ, "PYTHONPATH": here},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("judge", "count", "calls"), [pytest.param("g-eval", 200, 200, marks=pytest.mark.slow), ("factscore", 30, 210)]
)
def test_killed_halfway_and_started_again_no_answered_call_is_made_twice(
    judge: str, count: int, calls: int, tmp_path: Path
) -> None:
    with JudgeServer(latency=0.05) as server:
        first = start_judging(server, tmp_path, judge, count)
        while len(server.requests) < calls / 2:
            assert first.poll() is None, first.communicate()[1]
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        time.sleep(0.2)  # the calls under way end at the server, with nobody to hear
        before, replies = Counter(server.answered), len(server.requests)
        second = start_judging(server, tmp_path, judge, count)
        out, err = second.communicate(timeout=120)
        assert f"{count} of {count} judged" in out, err
        # Only what was under way at the kill, at most the limit, is asked again.
        assert len(server.requests) - replies <= calls - sum(before.values()) + 8
        assert set(server.answered.values()) <= {1, 2}
        assert sum(times == 2 for times in server.answered.values()) <= 8
        assert len(server.answered) == calls


def test_ctrl_c_ends_the_run_and_keeps_what_is_answered(tmp_path: Path) -> None:
    with JudgeServer(latency=0.05) as server:
        run = start_judging(server, tmp_path, "g-eval", 200)
        while len(server.requests) < 40:
            assert run.poll() is None, run.communicate()[1]
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
        assert "KeyboardInterrupt" in err
        asked = len(server.requests)
        assert asked < 200
        time.sleep(0.2)
        second = start_judging(server, tmp_path, "g-eval", 200)
        assert "200 of 200 judged" in second.communicate(timeout=120)[0]
        assert len(server.requests) <= 200 + 8


def test_an_error_of_our_own_is_raised_not_counted(tmp_path: Path) -> None:
    with JudgeServer() as server:

        def full(index: int, judgement: Judgement) -> None:
            raise OSError("no space left")

        with pytest.raises(OSError, match="no space left"):
            judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path), cases(20), full)


def test_it_works_where_an_event_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> list[Judgement]:
        check(settings)
        return judge_all(make_judge("g-eval"), settings, cases(3))

    with JudgeServer() as server:
        settings = settings_for(server.url, tmp_path)
        assert [judgement.failure for judgement in asyncio.run(notebook())] == [None] * 3


def test_threads_share_a_cache(tmp_path: Path) -> None:
    with JudgeServer() as server:
        settings = settings_for(server.url, tmp_path)
        results: list[list[Judgement]] = []
        threads = [
            threading.Thread(target=lambda: results.append(judge_all(make_judge("g-eval"), settings, cases(5))))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [[j.score for j in result] for result in results] == [[j.score for j in results[0]]] * 3


# ---- words


def test_the_summary_names_failures_by_kind() -> None:
    judgements = [
        Judgement(50.0),
        Judgement(None, "http_429"),
        Judgement(None, "unreadable"),
        Judgement(None, "http_429"),
    ]
    assert summary(judgements) == "1 of 4 judged, failed: 2 http_429, 1 unreadable; 0 calls, 0 + 0 tokens"


def test_judges_by_name_and_signature() -> None:
    assert make_judge("geval").signature == make_judge("g-eval").signature
    assert "coverage:no" in make_judge("factscore").signature
    assert "coverage:yes" in make_judge("factscore", use_coverage=True).signature
    with pytest.raises(JudgeError, match="g-eval, factscore"):
        make_judge("oracle")
