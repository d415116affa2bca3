"""Single calls: what is retried and how long it waits, what an endpoint refuses, the cache, the key."""

from __future__ import annotations

import email.utils
import json
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from judge_server import HANG_UP, Answer, Fault, JudgeServer, completion, geval_reply, reply_to, whole
from judging_cases import case, settings_for
from tenacity import wait_none

from medtasks_utils.judging import JudgeError, JudgeSettings, check, judge_all, make_judge, retries
from medtasks_utils.judging.cache import Cache
from medtasks_utils.judging.retries import requested_wait
from medtasks_utils.judging.settings import cache_file, endpoint, find_key

KEY = "sk-canary-2718281828"


@pytest.fixture(autouse=True)
def _no_keys_and_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(retries, "_BACKOFF", wait_none())


class InTurn:
    """The answers of a list, one a request, and the last one for ever."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.count = 0

    def __call__(self, request: dict[str, Any]) -> Answer:
        answer = self.answers[min(self.count, len(self.answers) - 1)]
        self.count += 1
        result: Answer = answer(request) if callable(answer) else answer
        return result


GOOD = json.dumps(geval_reply(80))


def judge_one(answer: Any, folder: Path, **changed: Any) -> tuple[Any, JudgeServer]:
    with JudgeServer(answer if isinstance(answer, InTurn) else InTurn(answer)) as server:
        (judgement,) = judge_all(make_judge("g-eval"), settings_for(server.url, folder, **changed), [case()])
    return judgement, server


# ---- what is tried again


@pytest.mark.parametrize(
    "fault",
    [
        HANG_UP,
        *(Fault(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
        Fault(200, "<html>starting</html>", {"Content-Type": "text/html"}),
        Fault(200, '{"choices": [', {"Content-Type": "application/json"}),
        Fault(200, {"choices": []}),
        Fault(200, {"choices": [{}]}),
        Fault(200, {"choices": None}),
        Fault(200, []),
    ],
)
def test_what_may_pass_is_tried_again(fault: Fault, tmp_path: Path) -> None:
    judgement, server = judge_one(InTurn(fault, fault, GOOD), tmp_path)
    assert (judgement.score, judgement.failure, judgement.calls) == (80.0, None, 3)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_stays_wrong_is_not(status: int, tmp_path: Path) -> None:
    fault = Fault(status, {"error": {"message": "context length exceeded,\nsay we"}})
    judgement, server = judge_one(fault, tmp_path)
    assert (judgement.score, judgement.failure) == (None, f"http_{status}")
    assert judgement.error == f"HTTP {status}: context length exceeded, say we"
    assert len(server.requests) == 1


def test_a_spent_quota_is_not_waited_for(tmp_path: Path) -> None:
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    judgement, server = judge_one(Fault(429, body), tmp_path)
    assert (judgement.failure, len(server.requests)) == ("http_429", 1)


def test_tries_end(tmp_path: Path) -> None:
    judgement, server = judge_one(Fault(500), tmp_path, max_retries=3)
    assert (judgement.failure, judgement.calls, len(server.requests)) == ("http_500", 4, 4)


def test_a_timeout_is_a_failure_of_its_own(tmp_path: Path) -> None:
    release = threading.Event()

    def late(request: dict[str, Any]) -> Answer:
        release.wait(30)
        return GOOD

    with JudgeServer(late) as server:
        settings = settings_for(server.url, tmp_path, timeout=0.2, max_retries=1)
        (judgement,) = judge_all(make_judge("g-eval"), settings, [case()])
        release.set()
    assert (judgement.failure, judgement.error, judgement.calls) == ("timeout", "no answer within 0.2 s", 2)


def test_nobody_there(tmp_path: Path) -> None:
    with JudgeServer() as server:
        settings = settings_for(server.url, tmp_path, max_retries=1)
    (judgement,) = judge_all(make_judge("g-eval"), settings, [case()])
    assert (judgement.failure, judgement.calls) == ("unreachable", 2)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_wait_that_an_endpoint_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(headers, now=1_000_000) == seconds


def test_the_wait_is_kept_unless_it_is_longer_than_a_run_can_bear(tmp_path: Path) -> None:
    start = time.monotonic()
    judgement, _ = judge_one(InTurn(Fault(429, headers={"Retry-After": "1"}), GOOD), tmp_path)
    assert judgement.score == 80.0
    assert time.monotonic() - start >= 1
    judgement, server = judge_one(Fault(429, headers={"Retry-After": "86400"}), tmp_path / "other")
    assert (judgement.failure, len(server.requests)) == ("http_429", 1)
    assert judgement.error.endswith("(asked to wait 86400 s)")


# ---- replies


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ("85 of 100", "unreadable"),
        (json.dumps(geval_reply("eighty-five")), "unreadable"),
        ("", "refusal"),
        (completion(None), "refusal"),
        (completion(None, refusal="I cannot judge this."), "refusal"),
        (completion(GOOD, finish="content_filter"), "refusal"),
        (completion(GOOD, finish="length"), "unreadable"),
        (f"<think>The object: {GOOD}", "refusal"),
        (f"<think>{GOOD}</think>I would say 85.", "unreadable"),
    ],
)
def test_a_useless_reply_is_asked_for_again_then_a_failure(bad: Answer, kind: str, tmp_path: Path) -> None:
    judgement, server = judge_one(InTurn(bad, bad, GOOD), tmp_path / "mended")
    assert (judgement.score, judgement.calls, judgement.tokens) == (80.0, 3, (21, 9))
    prompts = [whole(request["messages"]) for request in server.requests]
    assert prompts[1].startswith(prompts[0])
    assert "could not be used" in prompts[1]
    judgement, server = judge_one(bad, tmp_path / "for ever")
    assert (judgement.score, judgement.failure, len(server.requests)) == (None, kind, 3)


def test_think_blocks_and_reasoning_fields_are_not_read(tmp_path: Path) -> None:
    other = json.dumps(geval_reply(10))
    reply = completion(f"<think>Perhaps {other}</think>\n{GOOD}", reasoning_content=other, reasoning=other)
    assert judge_one(reply, tmp_path)[0].score == 80.0


def test_texts_with_half_characters_are_sent(tmp_path: Path) -> None:
    with JudgeServer() as server:
        odd = case(explanation="Half \ud800 a character.")
        (judgement,) = judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path), [odd])
    assert judgement.score is not None
    assert "Half \ufffd a character." in whole(server.requests[0]["messages"])


# ---- what endpoints refuse


def refusing(*names: str) -> Any:
    def answer(request: dict[str, Any]) -> Answer:
        form = request.get("response_format", {}).get("type")
        for name in names:
            if name in request or name == form:
                hint = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return Fault(400, {"error": {"message": f"Unsupported parameter: '{name}'.{hint}", "param": name}})
        return reply_to(request["messages"])

    return answer


@pytest.mark.parametrize(
    ("refused", "requests"),
    [
        ((), 1),
        (("temperature",), 2),
        (("max_tokens",), 2),
        (("json_schema",), 2),
        (("response_format",), 3),
        (("max_tokens", "temperature", "response_format"), 5),
    ],
)
def test_refused_parameters_are_done_without_and_remembered(
    refused: tuple[str, ...], requests: int, tmp_path: Path
) -> None:
    with JudgeServer(refusing(*refused)) as server:
        settings = settings_for(server.url, tmp_path)
        check(settings)
        assert len(server.requests) == requests
        judgements = judge_all(make_judge("g-eval"), settings, [case(number) for number in range(20)])
        assert len(server.judging) == 20  # what the check learned needs no learning again
    assert all(judgement.score is not None for judgement in judgements)
    last = server.requests[-1]
    assert ("temperature" in last) == ("temperature" not in refused)
    assert ("max_tokens" in last) == ("max_tokens" not in refused)


def test_a_refusal_without_words_is_put_down_to_structured_output(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        return Fault(422, "") if "response_format" in request else reply_to(request["messages"])

    judgement, server = judge_one(answer, tmp_path)
    assert judgement.score is not None
    assert [request.get("response_format", {}).get("type") for request in server.requests] == [
        "json_schema",
        "json_object",
        None,
    ]


def test_requests_are_deterministic_and_ask_for_the_object(tmp_path: Path) -> None:
    _, server = judge_one(GOOD, tmp_path, max_tokens=99)
    (request,) = server.requests
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("judge", 0.0, 99)
    assert request["response_format"]["json_schema"]["strict"] is True
    assert set(request) == {"model", "messages", "temperature", "max_tokens", "response_format"}


# ---- the check before a run


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(401, {"error": {"message": "bad key"}}), "right key"),
        (Fault(403), "right key"),
        (Fault(404, {"error": {"message": "The model `judge` does not exist"}}), "serve this model"),
        (Fault(200, "<html></html>", {"Content-Type": "text/html"}), "base URL"),
        (Fault(400, {"error": {"message": "max_tokens exceeds the context length"}}), "context length"),
        (Fault(500), "HTTP 500"),
        (HANG_UP, "running"),
    ],
)
def test_the_check_says_what_is_wrong(fault: Fault, words: str, tmp_path: Path) -> None:
    with JudgeServer(lambda request: fault) as server:
        settings = settings_for(server.url, tmp_path)
        with pytest.raises(JudgeError, match=words) as caught:
            check(settings)
    message = str(caught.value)
    assert "judge" in message and server.url in message and "\n" not in message


def test_the_check_is_one_small_call_and_holds_for_a_while(tmp_path: Path) -> None:
    with JudgeServer() as server:
        settings = settings_for(server.url, tmp_path)
        check(settings)
        check(settings)
        assert len(server.requests) == 1
        assert len(whole(server.requests[0]["messages"])) < 100
    check(settings)  # all may be in the cache: then no server is needed


def test_a_later_check_learns_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medtasks_utils.judging.client.CHECK_HOLDS", -1.0)
    with JudgeServer(refusing("response_format")) as server:
        settings = settings_for(server.url, tmp_path)
        check(settings)
        server.answer = refusing()
        check(settings)
        judge_all(make_judge("g-eval"), settings, [case()])
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_an_unreachable_endpoint_is_known(tmp_path: Path) -> None:
    with JudgeServer() as server:
        settings = settings_for(server.url, tmp_path)
    with pytest.raises(JudgeError, match=r"cannot be used: .*is the server running"):
        check(settings)


# ---- endpoint, key, settings


def test_endpoints_in_one_form() -> None:
    forms = ("http://h:1/v1", "http://h:1/v1/", " http://h:1/v1/chat/completions", "http://h:1/v1/chat/completions/")
    assert {endpoint(form) for form in forms} == {"http://h:1/v1"}


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://h/v1", "http://", "http://[", f"http://me:{KEY}@h/v1",
                                 f"http://h/v1?key={KEY}", f"http://{KEY}@h/v1", f"http://h/v1#{KEY}"])  # fmt: skip
def test_what_is_no_endpoint_or_holds_credentials_is_refused_without_them(url: str) -> None:
    with pytest.raises(JudgeError) as caught:
        endpoint(url)
    assert KEY not in str(caught.value)


def test_where_the_key_is_found() -> None:
    both = {"JUDGE_API_KEY": "judge-key", "OPENAI_API_KEY": "openai-key", "MINE": " mine-key\n"}
    assert find_key(None, both) == "judge-key"
    assert find_key(None, {"JUDGE_API_KEY": " ", "OPENAI_API_KEY": "openai-key"}) == "openai-key"
    assert find_key("MINE", both) == "mine-key"
    assert find_key(None, {}) is None


@pytest.mark.parametrize("name", [KEY, "NOT_SET", "EMPTY", "A" * 40, ""])
def test_a_key_in_place_of_a_variables_name_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(JudgeError) as caught:
        find_key(name, {"EMPTY": "", "JUDGE_API_KEY": "other"})
    assert name == "" or name not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated() -> None:
    for key in (f"{KEY} {KEY}", f"{KEY}é", f"{KEY}\n{KEY}"):
        with pytest.raises(JudgeError, match="JUDGE_API_KEY") as caught:
            find_key(None, {"JUDGE_API_KEY": key})
        assert KEY not in str(caught.value)


def test_the_provider_needs_a_key_and_a_local_endpoint_does_not(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"needs a key: set JUDGE_API_KEY or OPENAI_API_KEY"):
        JudgeSettings.from_environment(cache=tmp_path / "cache")
    judgement, _ = judge_one(GOOD, tmp_path)
    assert judgement.score == 80.0


def test_the_key_reaches_the_endpoint_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("JUDGE_API_KEY", KEY)
    echo = Fault(400, {"error": {"message": f"context length; you sent Bearer {KEY}"}}, {"X-Echo": KEY})
    answers = InTurn(f"Your key is {KEY}.", echo, json.dumps(geval_reply(5, justification=f"As {KEY} says.")))
    with JudgeServer(answers) as server:
        settings = settings_for(server.url, tmp_path)
        judgements = judge_all(make_judge("g-eval"), settings, [case(number) for number in range(3)])
        answers.answers = [echo]
        with pytest.raises(JudgeError) as caught:
            check(settings)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert {judgement.failure for judgement in judgements} == {"http_400", None}
    written = b"".join(path.read_bytes() for path in tmp_path.glob("*"))
    assert b"As [key] says." in written
    said = (repr(settings), repr(judgements), str(caught.value), caplog.text, *capfd.readouterr(), repr(written))
    for text in said:
        assert KEY not in text


# ---- the cache


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_file(None) == tmp_path / "medtasks" / "judge.sqlite3"
    assert cache_file(tmp_path) == tmp_path / "judge.sqlite3"
    assert cache_file(str(tmp_path / "mine")) == tmp_path / "mine"


def test_a_cache_that_cannot_be_written_is_known_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "other").write_bytes(b"no database, but long enough to look at" * 100)
    for path in (tmp_path / "file" / "cache", tmp_path / "other", Path("/proc/cache")):
        with pytest.raises(JudgeError, match="cannot be written") as caught:
            Cache(path)
        assert str(path) in str(caught.value)


def test_what_makes_another_question(tmp_path: Path) -> None:
    def count(**changed: Any) -> int:
        before = len(server.requests)
        judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path, **changed), [case()])
        return len(server.requests) - before

    with JudgeServer() as server:
        assert [count(), count(), count(repeat=1), count(repeat=1), count(repeat=0)] == [1, 0, 1, 0, 0]
        assert [count(concurrency=1), count(max_tokens=7), count(timeout=9)] == [0, 0, 0]
        judge_all(make_judge("g-eval"), settings_for(server.url, tmp_path), [case(explanation="Other.")])
        assert len(server.requests) == 3


def test_useless_replies_are_not_kept(tmp_path: Path) -> None:
    with JudgeServer(InTurn("prose", "prose", "prose", GOOD)) as server:
        settings = settings_for(server.url, tmp_path)
        assert judge_all(make_judge("g-eval"), settings, [case()])[0].failure == "unreadable"
        assert judge_all(make_judge("g-eval"), settings, [case()])[0].score == 80.0
        (judgement,) = judge_all(make_judge("g-eval"), settings, [case()])
        assert (judgement.calls, judgement.failure) == (0, None)
    assert len(server.requests) == 4


FILL = """
import sys
from pathlib import Path
from medtasks_utils.judging.cache import Cache

cache = Cache(Path(sys.argv[1]))
for number in range(50):
    cache.put(f"{sys.argv[2]}-{number}", {"text": "x" * 1000})
    cache.put("shared", {"text": sys.argv[2]})
"""


def test_several_processes_write_the_same_cache(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    workers = [subprocess.Popen([sys.executable, "-c", FILL, path, str(worker)]) for worker in range(4)]
    assert [process.wait(60) for process in workers] == [0] * 4
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM replies").fetchone() == (201,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_full_disk_costs_the_cache_and_not_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = Cache(tmp_path / "cache")
    cache._database.execute("PRAGMA query_only = ON")
    cache.put("a", {})
    cache.put("b", {})
    assert cache.get("a") is None
    assert [record.levelname for record in caplog.records if "cannot be written" in record.message] == ["WARNING"]
