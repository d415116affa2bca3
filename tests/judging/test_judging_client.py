"""Requests to judges, one and many at once: what is tried again, what an endpoint refuses, cache, key and claims."""

import json
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from given import each_row, error_line, table
from judge_server import LABELS, JudgeServer, faulty, geval_reply, sound
from judging_cases import case, cases, judged, no_keys_and_no_waits, settings_for
from local_server import HANG_UP, Fault, completion
from places import as_its_row_says
from scripts import in_turn, together, whole

from medtasks_utils.judging import (
    JudgeError,
    JudgeSettings,
    check_endpoint,
    judge_all,
    make_judge,
    templates,
)
from medtasks_utils.judging.cache import Cache
from medtasks_utils.judging.judge_settings import find_key

__all__ = ["no_keys_and_no_waits"]
KEY = "sk-canary-2718281828"
GOOD = json.dumps(geval_reply(80.5))


def answer_of(written):
    """A score, a text, the fields of a fault, or those of a completion."""
    if isinstance(written, dict):
        return Fault(**written) if "status" in written else completion(**written)
    return written if isinstance(written, str) else json.dumps(geval_reply(written))


# ---- what is tried again


@each_row("judged_at_servers")
def test_what_a_judge_s_server_answers_comes_to_this(name, answers, settings, result, requests, tmp_path, capsys):
    score, failure, says = result
    with JudgeServer(in_turn(*map(answer_of, answers))) as server:
        (judgement,) = judged(server, tmp_path, [case()], **settings)
    assert (judgement.score, judgement.failure, len(server.requests)) == (score, failure, requests)
    assert says in str(judgement.error) and bool(judgement.output) == (failure is None)
    assert f": 1 {failure or 'judged'}; requests: {requests};" in capsys.readouterr().err


def test_a_reply_that_cannot_be_used_is_requested_again_with_one_reminder_but_shows_that_the_endpoint_works(tmp_path):
    bad = answer_of({"content": None, "refusal": "I cannot."})
    with JudgeServer(in_turn(bad, bad, bad, GOOD)) as server:
        check_endpoint(settings_for(server.url, tmp_path))
        for _ in range(2):  # the second time, the reply is in the cache
            judged(server, tmp_path, [case()])
    _, *prompts = (whole(request["messages"]) for request in server.requests)
    assert prompts[1].startswith(prompts[0]) and "could not be used: the judge refused" in prompts[1]
    assert prompts[1:] == [prompts[1]] * 2


def test_a_judge_that_does_not_answer_at_once_is_reported_before_it_is_given_up(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("medtasks_utils.judging.judge_client._PATIENCE", 0.0)
    with JudgeServer(lambda body: HANG_UP) as server, pytest.raises(JudgeError, match="is the server running"):
        check_endpoint(settings_for(server.url, tmp_path, max_retries=5))
    assert f"at {server.url} has not responded yet; making up to 3 attempts" in caplog.text
    assert len(server.requests) == 3


# ---- what endpoints refuse


@each_row("refused_parameters")
def test_parameters_that_a_judge_s_server_rejects_are_omitted_from_then_on(name, status, refused, kept, tmp_path):
    def answer(request):
        form = request.get("response_format", {}).get("type")
        for name in refused:
            if name in request or name == form:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return Fault(status, {"error": {"message": f"{'x' * 400} Unsupported: '{name}'.{hint}", "param": name}})
        return sound(request)

    with JudgeServer(answer) as server:
        check_endpoint(settings_for(server.url, tmp_path))
        judging = [request for request in server.requests if request["messages"][0]["content"] != "Hi"]
        assert len(judging) == 1 + len(refused)
        assert [server.requests[0]["response_format"]["json_schema"]] == table("form_of_the_check")
        number = len(server.requests)
        assert None not in [judgement.score for judgement in judged(server, tmp_path, cases(20), max_tokens=99)]
        last = server.requests[-1]
        assert last == {"model": "judge", "messages": last["messages"], **kept}
        assert len(server.requests) == number + 20, "what the check learned needs no learning again"
        judged(server, tmp_path, cases(1), model="second")
        another = next(request for request in server.requests if request["model"] == "second")
        assert another.keys() > {"max_tokens", "temperature", "response_format"}, "another model may accept them"


# ---- endpoint, key, settings


test_addresses_parameters_and_points_of_judges_are_what_their_rows_say = as_its_row_says("functions_of_judging")


@each_row("no_names_of_keys")
def test_a_key_in_a_wrong_place_is_refused_and_not_repeated(name, monkeypatch):
    for variable, value in (("JUDGE_API_KEY", " "), ("OPENAI_API_KEY", " openai-key\n"), ("EMPTY", "")):
        monkeypatch.setenv(variable, value)
    assert find_key(None) == find_key("OPENAI_API_KEY") == "openai-key"
    assert KEY not in error_line(JudgeError, find_key, name)
    monkeypatch.setenv("JUDGE_API_KEY", "judge-key")
    assert find_key(None) == "judge-key"


def test_the_key_reaches_the_endpoint_and_nothing_else(tmp_path, monkeypatch, caplog, capfd):
    caplog.set_level("DEBUG")
    monkeypatch.setenv("MINE", KEY)
    echo = Fault(400, {"error": {"message": f"context length exceeded; you sent Bearer {KEY}"}}, {"X-Echo": KEY})
    answers = in_turn(f"Your key is {KEY}.", echo, json.dumps(geval_reply(5, justification=f"As {KEY} says.")))
    with JudgeServer(answers) as server:
        judgements = judged(server, tmp_path, cases(3), key_variable="MINE")
        server.answer = in_turn(echo)
        settings = settings_for(server.url, tmp_path, key_variable="MINE")
        line = error_line(JudgeError, check_endpoint, settings)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert {judgement.failure for judgement in judgements} == {"http_400", None}
    written = b"".join(path.read_bytes() for path in tmp_path.glob("*"))
    assert b"As [secret] says." in written
    for text in (repr(settings), repr(judgements), line, caplog.text, *capfd.readouterr(), repr(written)):
        assert KEY not in text


def test_without_an_address_it_is_that_of_openai_s_own_client(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h:1/v1/")
    monkeypatch.setenv("XDG_CACHE_HOME", "~/caches")
    cache = Path.home() / "caches/medtasks/judge.jsonl"
    expected = JudgeSettings("gpt-4o-mini", "http://h:1/v1", "none", cache, 16, 4096, None, 0.0)
    assert JudgeSettings.from_environment() == expected
    assert JudgeSettings.from_environment(base_url="http://own/v1").base_url == "http://own/v1"


# ---- the cache


def test_cached_judgements_are_reused_unless_text_model_server_or_form_differ(tmp_path, monkeypatch):
    def count(server, explanation="So.", **changed):
        server.requests.clear()
        judged(server, tmp_path, [case(explanation=explanation)], **changed)
        return len(server.requests)

    reasoned = f'<think>{{"final_score": 3}}</think>{GOOD}'
    with JudgeServer(in_turn(reasoned)) as one, JudgeServer() as other:
        found = [count(one), count(one), count(one, "Other."), count(one, model="second"), count(other)]
        assert found == [1, 0, 1, 1, 1]
        assert [count(one, concurrency=1), count(one, max_tokens=7)] == [0, 0]
        monkeypatch.setattr("medtasks_utils.judging.geval.SCHEMA", {"type": "object"})
        assert count(one) == 1


@pytest.mark.parametrize("damage", [b"5", b"", b"{", b"\xff{"])
def test_a_cached_reply_that_is_damaged_is_asked_for_again(damage, tmp_path):
    file = tmp_path / "cache.jsonl"
    with JudgeServer(in_turn(GOOD)) as server:
        judged(server, tmp_path, [case()])
        file.write_bytes(file.read_bytes()[:40] + damage)
        for _ in range(2):
            assert judged(server, tmp_path, [case()])[0].score == 80.5
    assert len(server.requests) == 2


def test_a_full_disk_is_told_with_the_name_of_the_cache(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "c")
    monkeypatch.setattr(cache, "_added", Mock(write=Mock(side_effect=OSError(28, "No space left on device"))))
    with pytest.raises(JudgeError, match=r"cannot write the judge's cache .*c \(.*No space left on device\)"):
        cache.put("a", "text")


def test_processes_find_the_replies_of_each_other(tmp_path):
    one, other = Cache(tmp_path / "c"), Cache(tmp_path / "c")
    for number in range(3):
        one.put(f"{number}", "a")
        assert (other.get(f"{number}"), one.get(f"{number}")) == ("a", "a")


@pytest.mark.parametrize("content", ["a,b\n", "\na"])
def test_a_file_with_other_content_is_no_cache(content, tmp_path):
    path = tmp_path / "cache.jsonl"
    path.write_text(content)
    line = error_line(JudgeError, judged, JudgeServer(), tmp_path, [case()])
    problem = f"cannot write the judge's cache {path} (this file is not a cache of replies)"
    assert line == f"{problem}: name another file with judge_cache or --cache"
    assert path.read_text() == content


# ---- many cases at once: the scores of claims, the limit of calls


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
