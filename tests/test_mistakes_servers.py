"""Servers that answer oddly, or are asked by a detour: one line with what was seen and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import openai_server
from test_mistakes import CHAT, TASKS, at, run, the_line

DEAD = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with openai_server() as (address, _):
        yield address


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "LMEVAL_LOG_LEVEL", "MEDTASKS_DATA", "NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("connections", [1, 3])
@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("short", "breaks off in the middle of its answer: try again later"),
        ("cut", "answers with JSON that is cut short: try again later"),
        ("overloaded", r"without choices \(model overloaded\): is base_url right\? If it is, try again later"),
        ("circle", "redirects without end: is base_url right"),
        ("late1-short", "breaks off in the middle of an answer; with --use_cache"),
    ],
)
def test_odd_answers(
    model: str, message: str, connections: int, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = model.replace("1", str(connections))
    assert run(*TASKS[:4], "--limit", "20", *CHAT, *at(server, name, num_concurrent=connections)) == 1
    assert re.search(message, the_line(capsys))


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_a_dead_proxy_is_named(
    variable: str, server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, DEAD)
    assert run(*TASKS, *CHAT, *at(server)) == 1
    assert re.search(rf"proxy that {variable} names, which does not answer .* no_proxy$", the_line(capsys))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert run(*TASKS, *CHAT, *at(server)) == 0


def test_where_the_run_heeds_no_proxy_the_first_question_does_not_either(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("http_proxy", DEAD)
    assert run(*TASKS, *CHAT, *at(server, num_concurrent=2)) == 0
    capsys.readouterr()
    assert run(*TASKS, *CHAT, *at("http://127.0.0.1:1", num_concurrent=2)) == 1
    assert "(http_proxy is not heeded with num_concurrent above 1)" in the_line(capsys)
