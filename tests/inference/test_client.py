"""The one HTTP client, which runs and judges use: when a request is sent again, and how long it waits before."""

import asyncio
from unittest.mock import AsyncMock, call

import pytest
from given import each_row
from local_server import Fault, LocalServer
from scripts import in_turn

from medtasks_utils.inference.client import Endpoint, pause_before, run_with
from medtasks_utils.inference.responses import ServerBusy, ServerUnavailable, read


def test_a_request_waits_before_it_is_sent_again(monkeypatch):
    monkeypatch.setattr(asyncio, "sleep", sleep := AsyncMock())
    busy = (Fault(429, headers={"Retry-After": text}) for text in ("7", "3600"))
    with LocalServer(in_turn(*busy, Fault(503), ".")) as server:
        endpoint = Endpoint(url=server.chat, model="m", headers={}, attempts=4)
        run_with(endpoint, lambda client: client.complete({}))
    assert sleep.await_args_list == [call(7), call(120), call(4)]


def test_pauses_double_up_to_ten_seconds():
    assert [pause_before(attempt, ServerUnavailable("")) for attempt in range(2, 8)] == [1, 2, 4, 8, 10, 10]


@each_row("pauses", ["9" * 400, 120])
def test_a_server_may_ask_for_a_pause_of_two_minutes_in_any_form(asked, pause):
    with pytest.raises(ServerBusy) as raised:
        read(503, "", "http://a", "m", {}, asked)
    assert pause_before(2, raised.value) == pause
