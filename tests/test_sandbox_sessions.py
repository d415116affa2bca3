"""State, limits and the life of the sandbox's processes."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.sandbox import Result, Sandbox, SandboxError
from medtasks_utils.sandbox.client import MAX_CODE
from medtasks_utils.sandbox.wire import Inbox, Malformed, pack, pack_reply, read_reply


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(timeout=20, max_output=1_000) as sandbox:
        yield sandbox


def texts(results: list[Result]) -> list[str]:
    return [result.text for result in results]


# ---- state


def test_variables_are_kept_within_a_session_and_nowhere_else(sandbox: Sandbox) -> None:
    assert texts(sandbox.run([("a", "x = 1\ndef f(): return x"), ("b", "x = 2"), ("a", "f()"), ("b", "x")])) == [
        "",
        "",
        "1",
        "2",
    ]
    assert sandbox.run([("c", "x")])[0].text == "NameError (line 1): name 'x' is not defined"
    assert texts(sandbox.run([("a", "x += 1\nf()")])) == ["2"]


def test_classes_imports_and_settings_are_kept(sandbox: Sandbox) -> None:
    first = "import numpy as np\nfrom decimal import getcontext\ngetcontext().prec = 5\nclass A:\n    n = 3"
    second = "from decimal import Decimal\nprint(np.sum([A().n, 1]), Decimal(1) / 3)"
    assert texts(sandbox.run([("kept", first), ("kept", second), ("other", "np")]))[1:] == [
        "4 0.33333",
        "NameError (line 1): name 'np' is not defined",
    ]


def test_a_failed_call_keeps_what_it_did_before(sandbox: Sandbox) -> None:
    results = sandbox.run([("f", "x = 5\nprint('so far')\nx / 0"), ("f", "x")])
    assert results == [Result("so far\nZeroDivisionError (line 3): division by zero", True), Result("5", False)]


def test_forgotten_sessions_are_fresh(sandbox: Sandbox) -> None:
    sandbox.run([("gone", "x = 1")])
    sandbox.forget("gone")
    sandbox.forget("never there")
    assert sandbox.run([("gone", "'x' in str(x)")])[0].failed


def test_sessions_draw_different_numbers(sandbox: Sandbox) -> None:
    code = "import random, numpy as np\nprint(random.random(), np.random.rand())"
    assert len(set(texts(sandbox.run([(f"r{n}", code) for n in range(5)])))) == 5


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from("uvw"), st.integers(0, 9)), max_size=12))
def test_order_within_sessions_and_of_results(sandbox: Sandbox, calls: list[tuple[str, int]]) -> None:
    for session in "uvw":
        sandbox.forget(session)
    setup = [(session, "seen = []") for session in "uvw"]
    results = sandbox.run([*setup, *((session, f"seen.append({n})\nseen") for session, n in calls)])[3:]
    seen: dict[str, list[int]] = {"u": [], "v": [], "w": []}
    for (session, n), result in zip(calls, results, strict=True):
        seen[session].append(n)
        assert result == Result(repr(seen[session]), False)


def test_progress_counts_every_call(sandbox: Sandbox) -> None:
    done: list[int] = []
    sandbox.run([("a", "1"), ("b", "1 /"), ("a", "x" * (MAX_CODE + 1))], progress=lambda: done.append(1))
    assert len(done) == 3
    assert sandbox.run([]) == []


# ---- limits


def test_timeout_kills_and_the_session_goes_on_fresh() -> None:
    with Sandbox(timeout=0.5, processes=3) as sandbox:
        sandbox.run([("slow", "x = 1"), ("other", "y = 2")])
        started = time.monotonic()
        results = sandbox.run(
            [
                ("slow", "while True: pass"),
                ("other", "y"),
                ("slow", "x"),
                ("third", "import itertools\nlist(itertools.count())"),
            ]
        )
        assert results[0] == Result("Error: timed out after 0.5 s; all variables were lost", True)
        assert results[1] == Result("2", False)
        assert results[2].text == "NameError (line 1): name 'x' is not defined"
        assert results[3].failed
        assert time.monotonic() - started < 20


def test_memory_is_limited_and_the_session_survives_it(sandbox: Sandbox) -> None:
    results = sandbox.run([("m", "x = 7"), ("m", "y = 'a' * 10**10"), ("m", "x")])
    assert results[1].failed and results[1].text.startswith("MemoryError")
    assert results[2].text == "7"


def test_output_is_bounded_and_says_how_much_was_cut(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("o", "print('x' * 5_000)")])
    assert result == Result("x" * 1_000 + "\n... (4,001 more characters)", False)
    (failed,) = sandbox.run([("o", "print('x' * 5_000)\n1 / 0")])
    assert failed.text.endswith("more characters)\nZeroDivisionError (line 2): division by zero")


def test_code_is_bounded(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("l", "#" * (MAX_CODE + 1))])
    assert result.failed and "too long: 50,001 characters, at most 50,000" in result.text
    assert sandbox.run([("l", "#" * MAX_CODE)])[0] == Result("", False)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = = 1", "SyntaxError (line 1): invalid syntax: x = = 1"),
        ("", ""),
        ("# nothing", ""),
        ("import os", "ImportError (line 1): No module named 'os' is available here; there are"),
        ("import pandas as pd", "ImportError (line 1): No module named 'pandas' is available here"),
        ("open('x')", "PermissionError (line 1): open() is not available here"),
        ("input('age?')", "PermissionError (line 1): input() is not available here"),
        ("import numpy as np\nnp.save", "AttributeError (line 2): module 'numpy' has no attribute 'save' here"),
        ("().__class__.__bases__", 'Refused: Line 1: the attribute "__bases__" is not available here'),
        ("def f():\n    return 1 / 0\nf()", "ZeroDivisionError (line 2): division by zero"),
        ("'\\ud800'", "'\\ud800'"),
        ("print('\\ud800')", "\ufffd"),
    ],
)
def test_texts(sandbox: Sandbox, code: str, text: str) -> None:
    (result,) = sandbox.run([("texts", code)])
    assert result.text.startswith(text) and bool(text) == bool(result.text)
    assert result.failed == ("Error" in text or "Refused" in text)


@pytest.mark.parametrize(
    "limits", [{"timeout": 0}, {"memory_mb": -1}, {"max_output": 0}, {"processes": 0}, {"alive": 0}]
)
def test_limits_must_be_positive(limits: dict[str, int]) -> None:
    with pytest.raises(SandboxError, match="must be positive"):
        Sandbox(**limits)  # type: ignore[arg-type]


# ---- processes


def test_more_sessions_than_processes_alive() -> None:
    """The longest idle ones end, and their code runs again."""
    with Sandbox(timeout=20, alive=3) as sandbox:
        sessions = [str(n) for n in range(8)]
        sandbox.run([(session, f"x = {session}\nprint('once')") for session in sessions])
        assert texts(sandbox.run([(session, "x += 1\nx") for session in sessions])) == [str(n + 1) for n in range(8)]
        assert texts(sandbox.run([(session, "x += 1\nx") for session in reversed(sessions)])) == [
            str(n + 2) for n in range(7, -1, -1)
        ]


def test_code_too_long_to_run_again_is_said_to_be_lost() -> None:
    with Sandbox(timeout=20, alive=1) as sandbox:
        sandbox.run([("a", "x = 1\n#" + "x" * 45_000)] * 5)
        sandbox.run([("b", "1")])
        assert (
            sandbox.run([("a", "x")])[0].text
            == "Error: too many sessions are alive; the variables of this one were lost"
        )
        assert sandbox.run([("a", "x = 2\nx")])[0].text == "2"


def test_a_sandbox_that_is_killed_is_started_anew(caplog: pytest.LogCaptureFixture) -> None:
    with Sandbox(timeout=20) as sandbox:
        sandbox.run([("a", "x = 1")])
        sandbox.started()._process.kill()
        sandbox.started()._process.wait()
        with caplog.at_level(logging.WARNING):
            first, second = sandbox.run([("a", "2"), ("a", "3")])
        assert first.text in ("2", "Error: the sandbox was lost; all variables were lost")
        assert second.text == "3"
        assert "lost and started anew" in caplog.text


def test_closed_and_used_again() -> None:
    sandbox = Sandbox(timeout=20)
    sandbox.close()
    assert sandbox.run([("a", "1")])[0].text == "1"
    sandbox.close()
    sandbox.close()
    assert sandbox.run([("a", "2")])[0].text == "2"
    sandbox.close()


def test_a_fork_of_the_run_has_its_own_sandbox(sandbox: Sandbox) -> None:
    sandbox.run([("a", "x = 'of the parent'")])
    child = os.fork()
    if child == 0:
        code = 1
        try:
            (result,) = sandbox.run([("a", "x")])
            code = 0 if "NameError" in result.text else 2
            sandbox.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sandbox.run([("a", "x")])[0].text == "'of the parent'"


def test_an_interpreter_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SandboxError, match=r"cannot start .*No such file"):
        Sandbox().run([("a", "1")])


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medtasks_utils.sandbox.client._search_path", lambda: ["/nowhere"])
    with pytest.raises(SandboxError, match="No module named"):
        Sandbox().run([("a", "1")])


def test_layers_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="lm_eval.medtasks"), Sandbox(_off=["landlock"]) as sandbox:
        assert sandbox.layers["landlock"] == "switched off"
    assert "sandbox: on: guards" in caplog.text and "off: landlock (switched off)" in caplog.text


def descendants(pid: int) -> set[int]:
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in listing.splitlines()}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}").exists()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("off", [[], ["namespaces"]])
def test_nothing_outlives_a_run_that_is_killed(off: list[str]) -> None:
    script = f"""
import sys
from medtasks_utils.sandbox import Sandbox
sandbox = Sandbox(timeout=600, processes=3, _off={off!r})
sandbox.run([("idle", "1")])
print("ready", flush=True)
sandbox.run([("a", "while True: pass"), ("b", "import itertools; sum(itertools.count())")])
"""
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    left: set[int] = set()
    while len(left) < 5:  # launcher, supervisor, three sessions
        left = descendants(run.pid)
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    deadline = time.monotonic() + 30
    while alive(left) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(left) == set()


def test_no_process_is_left_after_close() -> None:
    before = descendants(os.getpid())
    with Sandbox(timeout=20) as sandbox:
        sandbox.run([(str(n), "1") for n in range(5)])
        started = descendants(os.getpid()) - before
        assert len(started) >= 7
    deadline = time.monotonic() + 30
    while alive(started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(started) == set()


# ---- messages


@given(st.lists(st.binary(max_size=50)), st.integers(1, 20))
def test_messages_survive_any_cut(bodies: list[bytes], size: int) -> None:
    stream = b"".join(map(pack, bodies))
    inbox = Inbox(50)
    assert [body for at in range(0, len(stream), size) for body in inbox.feed(stream[at : at + size])] == bodies
    assert not inbox


def test_a_message_that_announces_too_much_is_refused_at_once() -> None:
    with pytest.raises(Malformed):
        Inbox(50).feed(b"\xff\xff\xff\xff")


@given(st.binary())
def test_any_bytes_are_a_reply(body: bytes) -> None:
    failed, text = read_reply(body)
    json.dumps([failed, text]).encode()
    text.encode("utf-8")


@given(st.booleans(), st.text())
def test_replies_are_valid_utf8(failed: bool, text: str) -> None:
    (body,) = Inbox(10_000).feed(pack_reply(failed, text + "\ud800"))
    assert read_reply(body) == (failed, text + "\ufffd")
