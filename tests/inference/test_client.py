"""The HTTP client of runs and judges: when requests are retried, and how long they wait."""

import asyncio
from collections import Counter
from contextlib import nullcontext
from itertools import cycle

import pytest
from fake_time import FakeTime, FastLoop
from given import each_row
from local_server import HANG_UP, Fault, LocalServer
from places import as_its_row_says
from scripts import as_answer, in_turn, refusal

from medtasks_utils.inference import pace
from medtasks_utils.inference.client import Client, Endpoint, run_with
from medtasks_utils.inference.pace import Pace
from medtasks_utils.inference.replies import Completion
from medtasks_utils.inference.responses import (
    NoConnection,
    NoResponse,
    PromptRefused,
    RequestRefused,
    ServerBusy,
    parse_response,
)


@pytest.fixture
def time(monkeypatch):
    monkeypatch.setattr("medtasks_utils.inference.client.ANSWERING", set())  # a port may be another test's again
    return FakeTime(monkeypatch)


def sent_to(url, work=lambda client: client.complete({}), model="m", **settings):
    """Return what comes of work with a client, by default of one request."""
    return run_with(Endpoint(url=url, model=model, headers={}, **settings), work)


@each_row("requests_tried_again")
def test_requests_sent_together_are_tried_again_as_their_row_says(
    name, answers, number, known, settings, expected, time, caplog
):
    """Answers come in turn, each so many times; a known server has answered a request before."""
    in_order = [as_answer(answer) for answer, times in answers for _ in range(times)]

    async def work(client):
        if known:
            await client.complete({})
        return await asyncio.gather(*(client.complete({}) for _ in range(number)), return_exceptions=True)

    with LocalServer(in_turn(*in_order)) as server:
        found = sent_to(server.chat, work, **settings)
    results = Counter(type(result).__name__ for result in found)
    said = [line.partition("; failing for ")[2] for line in caplog.messages if "; failing for " in line]
    got = {"results": results, "requests": len(server.requests), "slept": time.slept, "said": said}
    assert got == expected


@pytest.mark.parametrize(("fault", "status"), [(Fault(500, "no"), 500), (HANG_UP, None)])
def test_a_prompt_gets_no_reply_if_the_server_fails_at_it_alone(fault, status, time):
    """After three failures another prompt is tried each time, and after five answers to it the first is given up."""

    async def work(client):
        return [await client.complete({"prompt": prompt}) for prompt in ("good", "bad")]

    refused = pytest.raises(PromptRefused, match=r" \(in 7 attempts\), although it answers other prompts$")
    with LocalServer(lambda request: fault if request["prompt"] == "bad" else ".") as server, refused as raised:
        sent_to(server.chat, work)
    assert (raised.value.status, raised.value.body) == (status, "no" if status else "")
    assert Counter(request["prompt"] for request in server.requests) == {"good": 1, "bad": 7, "Hi": 5}
    assert sum(time.slept) < 60


def test_a_server_that_has_answered_a_model_before_is_waited_for(time):
    with LocalServer(in_turn(".", *[HANG_UP] * 3, ".", ".", HANG_UP)) as server:
        for model, error in (("m", None), ("m", None), ("other", NoConnection)):
            with pytest.raises(error) if error else nullcontext():
                sent_to(server.chat, model=model)
    assert len(server.requests) == 1 + (3 + 2) + 3, "other words are tried too"


@pytest.mark.parametrize("kind", [ServerBusy, NoResponse])
def test_a_server_that_is_busy_or_slow_is_waited_for_and_not_tried_with_another_prompt(kind, time, monkeypatch):
    asked = []

    async def send(client, body):
        asked.append(body["prompt"])
        if body["prompt"] == "slow":
            raise kind("late")
        return Completion([], {})

    async def work(client):
        await client.complete({"prompt": "good"})
        await client.complete({"prompt": "slow"})

    monkeypatch.setattr(Client, "_send", send)
    with pytest.raises(kind):
        sent_to("http://a", work)
    assert asked.count("good") == 1 and sum(time.slept) > 600


# ---- how many at once


@pytest.mark.parametrize(("rate", "at_once"), [(4, 16), (1, 64), (30, 8)])
def test_a_server_that_takes_few_requests_a_second_answers_all_of_them(rate, at_once, monkeypatch):
    """A reply takes 0.2 s."""
    loop = FastLoop()
    monkeypatch.setattr(pace, "clock", loop.time)
    taken: list[float] = []
    refused: list[float] = []
    of_server = Pace(at_once)

    async def request():
        while True:
            await of_server.start()
            is_refused = len([time for time in taken if time > loop.time() - 1]) >= rate
            (refused if is_refused else taken).append(loop.time())
            await asyncio.sleep(0.01 if is_refused else 0.2)
            of_server.release()
            if not is_refused:
                of_server.succeed()
                return
            of_server.fail(ServerBusy(""))
            assert of_server.failing_for < pace.LONGEST_OUTAGE

    async def work():
        await asyncio.gather(*(request() for _ in range(44)))

    loop.run_until_complete(work())
    loop.close()
    assert len(taken) == 44 and len(refused) < 2 * 44 + at_once
    assert loop.passed < 3 * 44 / rate + 10


def test_the_slot_of_a_request_stays_occupied_for_the_pause_after_it(monkeypatch):
    loop = FastLoop()
    times = []

    async def send(client, body):
        times.append(loop.time())
        return Completion([], {})

    async def work():
        client = Client(Endpoint(url="http://a", model="m", headers={}, at_once=2, pause=7.0))
        await asyncio.gather(*(client.complete({}) for _ in range(5)))

    monkeypatch.setattr(Client, "_send", send)
    loop.run_until_complete(work())
    loop.close()
    assert times == [0, 0, 7, 7, 14]


def test_requests_are_sent_from_a_notebook_too_which_runs_a_loop_already():
    async def cell():
        return sent_to(server.chat)

    with LocalServer() as server:
        assert len(asyncio.run(cell()).replies) == 1


# ---- what is refused


@each_row("refused_words")
def test_a_prompt_is_at_fault_for_a_refusal_if_other_words_are_answered(status, says, refused, kinds, time):
    async def work(client):
        prompts = ({"prompt": "bad"}, {"prompt": "good"}, {"messages": [{"role": "user", "content": "bad"}]})
        return await asyncio.gather(*map(client.complete, prompts), return_exceptions=True)

    with LocalServer(lambda request: refusal(status, says) if refused in str(request) else ".") as server:
        found = sent_to(server.chat, work)
    assert [type(each).__name__ for each in found] == kinds
    alone = sum(kind.startswith("Prompt") for kind in kinds)
    assert not alone or len(server.requests) == 1 + 3 * alone, "a prompt, other words, and the prompt once more"


def results_of(answer, number):
    """Send prompts one after the other; return the results by kind, and the numbers of requests and of test prompts."""

    async def work(client):
        prompts = ({"prompt": f"p{place}"} for place in range(number))
        return [await asyncio.gather(client.complete(prompt), return_exceptions=True) for prompt in prompts]

    def say(request):
        return "." if answer(request["prompt"]) else refusal(400, f"No 0{len(server.requests):x}.")

    with LocalServer(say) as server:
        found = sent_to(server.chat, work)
    tests = sum(request["prompt"] == "Hi" for request in server.requests)
    return Counter(type(result).__name__ for (result,) in found), len(server.requests), tests


def test_of_many_prompts_refused_in_the_same_words_only_a_few_are_sent_again(time, caplog):
    tests = 10 + 2
    assert results_of("Hi".__eq__, 300) == ({"PromptRefused": 300}, 300 + 2 * tests, tests)
    assert caplog.text.count("it refused 10 prompts in these words") == 1


def test_a_server_that_refuses_prompts_once_and_twice_in_turn_is_always_asked_again(time):
    answers = cycle([False, True, True, False, True, False])  # to the prompt, the test prompt and the prompt again
    kinds = {"Completion": 25, "PromptRefused": 25}
    assert results_of(lambda prompt: next(answers), 50) == (kinds, 150, 50)


def test_a_server_that_begins_to_refuse_all_prompts_in_the_same_words_is_noticed(time):
    answers = iter(range(10))
    kinds, *_ = results_of(lambda prompt: prompt == "Hi" and next(answers, None) is not None, 105)
    assert kinds == {"PromptRefused": 100, "RequestRefused": 5}


# ---- what errors say


test_errors_pauses_and_other_words_for_a_server_are_what_their_rows_say = as_its_row_says("functions_of_inference")


@each_row("contexts_in_pages")
def test_the_context_of_a_model_is_read_in_what_its_server_says_of_it(name, path, pages, context, monkeypatch):
    with LocalServer() as server:
        monkeypatch.setattr(server, "get", lambda method, path: Fault(200, pages.get(path, {})))
        assert sent_to(server.base + path, Client.context) == context


def test_a_proxy_of_the_environment_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://me:word@127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "c")
    says = r"^http://a/v1, through the proxy 127.0.0.1:9 \(NO_PROXY=a avoids it\), "
    with pytest.raises(NoConnection, match=says + r"does not respond"):
        sent_to("http://a/v1", attempts=1)
    with pytest.raises(RequestRefused, match=says + "answered with status 403"):
        parse_response(403, "<html>Forbidden</html>", "http://a/v1", "m", {})
    with pytest.raises(RequestRefused, match=r"^http://c/v1 answered with status 403"):
        parse_response(403, "", "http://c/v1", "m", {})


@each_row("paces", ["however busy a server is, one may be sent", "BSBSBSBSBSB", 1.0, 1])
def test_a_server_gets_fewer_requests_at_once_while_it_is_busy_and_one_after_a_failure(
    name, events, allowed, at_once, time
):
    """Of at most eight: B is a failure of a busy server, A one of a server that is away, and S a reply."""

    async def started():
        starts = [asyncio.ensure_future(paced.start()) for _ in range(9)]
        for _ in range(99):
            await asyncio.sleep(0)
        return sum(start.cancel() is False for start in starts)

    paced = Pace(8, has_replied=False)
    for event in events:
        paced.succeed() if event == "S" else paced.fail({"B": ServerBusy, "A": NoConnection}[event](""))
        time.now += 200 * (event == "S")
    assert paced.allowed == pytest.approx(allowed)
    assert asyncio.run(started()) == at_once
