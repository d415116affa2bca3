"""State, limits and the life of the sandbox's processes."""

import itertools
import logging
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
from given import each_row, table
from hypothesis import given
from hypothesis import strategies as st
from places import as_its_row_says

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox import ExecutionResult, Sandbox, workers
from medtasks_utils.sandbox.execution_result import readable
from medtasks_utils.sandbox.inside import kernel_filters, root
from medtasks_utils.sandbox.sandbox import most_alive


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(timeout=20, max_output=4_000) as sandbox:
        yield sandbox


def texts(sandbox, *calls):
    """What calls give, each a session's key and code."""
    return [result.text for result in sandbox.run(list(calls))]


def until(condition):
    """Wait for it, however long that takes."""
    while not condition():
        time.sleep(0.05)


test_a_function_of_the_sandbox_returns_what_its_row_says = as_its_row_says("functions_of_sandbox")


# ---- state


@each_row("sandbox_calls")
def test_calls_share_variables_only_within_their_session(calls, sandbox):
    hold(calls, sandbox)


def hold(calls, sandbox):
    """Check the texts of calls by patterns, and whether they failed."""
    results = sandbox.run([(key, code) for key, code, _, _ in calls])
    for (key, _, pattern, failed), result in zip(calls, results, strict=True):
        assert re.fullmatch(pattern, result.text) and result.failed == failed, result
        sandbox.forget(key)


def test_a_session_that_is_forgotten_begins_anew(sandbox):
    sandbox.run([("a", "x = 1")])
    sandbox.forget("a")
    assert sandbox.run([("a", "x")])[0].failed


def test_sessions_draw_numbers_of_their_own(sandbox):
    code = "import random\nrandom.random(), float(np.random.random())"
    one, another = map(eval, texts(sandbox, ("d", code), ("e", code)))
    assert {*one}.isdisjoint(another)


# ---- limits and texts


@pytest.fixture(scope="module")
def hasty():
    with Sandbox(timeout=1.5) as sandbox:  # long enough for a short call on a busy machine
        yield sandbox


@each_row("endless_codes")
def test_a_call_that_times_out_shows_its_output_and_its_session_starts_afresh(code, shown, hasty):
    _, slow, after = hasty.run([(code, each) for each in ("x = 1", code, "x")])
    assert slow == ExecutionResult(f"{shown}Error: timed out after 1.5 s; all variables were lost", True)
    assert after.text.endswith("NameError: name 'x' is not defined")


def test_a_call_whose_output_never_pauses_ends_at_its_deadline(monkeypatch):
    session = workers.Session()
    session.connection = Mock(recv=lambda size: b"x")
    monkeypatch.setattr("medtasks_utils.sandbox.workers.time.monotonic", itertools.count().__next__)
    data, failed, problem = session.run("while True: print(end='x')", 99)
    assert (failed, problem) == (True, "timed out after 99 s") and len(data) < 99


# ---- room


def test_a_session_without_room_says_that_it_is_lost():
    with Sandbox(timeout=20, processes=1, alive=3) as sandbox:
        sandbox.run([(str(n), f"x = {n}") for n in range(8)])
        again = sandbox.run([(str(n), "x") for n in range(8)])
        assert texts(sandbox, ("3", "x = 'anew'\nx")) == ["'anew'"]
    lost = "Error: the process was ended to make room for others; all variables were lost"
    assert again == [ExecutionResult(lost if 2 <= n < 7 else str(n), 2 <= n < 7) for n in range(8)]


@each_row("open_files")
def test_sessions_use_half_of_the_open_files(limits, wanted, raised, most, monkeypatch):
    set_limit = Mock()
    monkeypatch.setattr("resource.getrlimit", lambda kind: limits)
    monkeypatch.setattr("resource.setrlimit", set_limit)
    assert most_alive(wanted) == most
    set_limit.assert_called_once_with(resource.RLIMIT_NOFILE, (raised, limits[1]))


@each_row("landlock")
def test_landlock_forbids_all_that_its_version_knows(version, files, network, scoped, monkeypatch):
    calls = Mock(side_effect=[version, os.open(os.devnull, os.O_RDONLY)])
    monkeypatch.setattr(kernel_filters, "libc", calls)
    kernel_filters.landlock([])
    assert calls.call_args_list[1].args[2:4] == (struct.pack("=QQQ", (1 << files) - 1, network, scoped), 24)


def test_a_root_has_the_given_folders_alone_and_they_are_read_only(tmp_path, monkeypatch):
    """By the numbers of ``linux/mount.h`` and ``sched.h``; a folder that forbids programs keeps forbidding them."""
    made = Mock()
    monkeypatch.setattr(root, "libc", made.libc)
    monkeypatch.setattr("os.chdir", made.chdir)
    monkeypatch.setattr("os.statvfs", lambda path: Mock(f_flag=8 | 1024))
    monkeypatch.setattr("socket.sethostname", made.sethostname)
    root.enter_namespaces()
    root.enter_root(str(tmp_path), [("/lib", "/usr")])
    calls = [[name, *map(str, args)] for name, args, _ in made.mock_calls]
    assert calls == [[text.replace("FOLDER", str(tmp_path)) for text in row] for row in table("root_calls")]


# ---- processes


def test_a_sandbox_that_is_killed_is_started_anew(sandbox, caplog):
    sandbox.run([("a", "x = 1")])
    process = sandbox.started()._process
    killed = descendants(process.pid)
    process.kill()
    process.wait()
    psutil.wait_procs(killed)
    with caplog.at_level(logging.WARNING):
        first, second = sandbox.run([("a", "2"), ("a", "3")])
    assert first.failed and first.text.endswith("all variables were lost")
    assert second.text == "3" and "ended unexpectedly; starting it again" in caplog.text


@pytest.fixture
def _namespaces(sandbox):
    sandbox.started()
    if sandbox.layers["namespaces"]:
        pytest.skip(f"no namespaces here (a chroot has none): {sandbox.layers['namespaces']}")


@pytest.mark.usefixtures("_namespaces", "own_process")
def test_a_closed_sandbox_leaves_nothing_and_starts_anew_when_it_is_used(caplog):
    with Sandbox(timeout=20, _off=["landlock"]) as sandbox:
        sandbox.close()
        with caplog.at_level(logging.INFO, logger="lm_eval.medtasks"):
            assert texts(sandbox, ("a", "x = 1\nx")) == ["1"]
        assert sandbox.layers["landlock"] == "switched off"
        assert "sandbox: plain Python, confined by namespaces, seccomp, limits" in caplog.text
        started = descendants(sandbox.started()._process.pid)  # not of this process: other sandboxes still fork
        assert len(started) >= 2
        descriptors = psutil.Process().num_fds()
        sandbox.close()
        sandbox.close()
        psutil.wait_procs(started)
        (text,) = texts(sandbox, ("a", "x"))
        assert "NameError" in text, "the key of a session that ended"
    assert psutil.Process().num_fds() < descriptors


@pytest.mark.usefixtures("own_process")
def test_calls_that_wait_when_it_is_closed_do_not_start_it_again():
    sandbox = Sandbox(timeout=60, processes=1)
    sandbox.started()
    with ThreadPoolExecutor(3) as threads:
        calls = [threads.submit(sandbox.run, [(key, "import time; time.sleep(50)")]) for key in "abc"]
        until(lambda: sandbox._threads._work_queue.qsize() == 2)
        sandbox.close()
        ended = [call.exception(timeout=30) for call in calls]
    assert [type(error) for error in ended] == [type(None), CancelledError, CancelledError]
    assert sandbox._zygote is None


def test_a_sandbox_closed_while_it_starts_a_process_stays_closed(monkeypatch):
    sandbox = Sandbox()

    def closed(*given):
        sandbox.close()
        raise ConnectionResetError

    monkeypatch.setattr(workers.Zygote, "spawn", closed)
    (said,) = texts(sandbox, ("s", "1"))
    assert said == "Error: could not start a process for the code: the sandbox was closed; all variables were lost"
    assert sandbox._zygote is None


@pytest.mark.usefixtures("own_process")
def test_a_sandbox_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr("medtasks_utils.sandbox.layout.PACKAGES", ("six",))
    with pytest.raises(MedtasksError, match=r"cannot start: .*No module named 'numpy'"):
        Sandbox().run([("a", "1")])


def test_a_sandbox_without_room_for_its_folder_says_so(monkeypatch):
    full = Mock(side_effect=OSError("no space"))
    monkeypatch.setattr("medtasks_utils.sandbox.sandbox.Zygote", full)
    (said,) = texts(Sandbox(), ("s", "1"))
    assert said == "Error: could not start a process for the code: no space; all variables were lost"


def descendants(pid):
    return {*psutil.Process(pid).children(recursive=True)}


@pytest.mark.usefixtures("_namespaces")  # without them, the folder of links stays
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_outlives_a_run_that_is_killed():
    script = """
from medtasks_utils.sandbox import Sandbox
sandbox = Sandbox(timeout=600, processes=3)
sandbox.run([("idle", "1")])
print(sandbox.started()._layout.folder, flush=True)
sandbox.run([("a", "while True: pass"), ("b", "import itertools; sum(itertools.count())")])
"""
    run: Any = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    folder = Path(run.stdout.readline().strip())
    until(lambda: len(descendants(run.pid)) >= 5)  # two to start and to fork, three sessions
    left = descendants(run.pid)
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    psutil.wait_procs(left)
    assert folder.name.startswith("medtasks-python-") and not folder.exists()


# ---- RestrictedPython


@pytest.fixture(scope="module")
def weak():
    with Sandbox(timeout=1, weak=True, _off=["seccomp", "namespaces", "landlock", "limits"]) as sandbox:
        yield sandbox


def test_a_weak_sandbox_warns_that_nothing_confines_it(weak, caplog):
    started = weak.started()
    assert [record.levelname for record in caplog.records if "sandbox: WEAK" in record.getMessage()] == ["WARNING"]
    assert started.missing == ["landlock", "limits", "namespaces", "seccomp"]
    assert "not a security boundary (only for models you trust), confined by nothing" in started.description


def test_weak_calls_end_without_a_process_descriptor(weak):
    weak.run([("endless", "1")])
    assert weak._sessions["endless"].process is None
    before = descendants(os.getpid())
    assert "timed out after 1 s" in texts(weak, ("endless", "while True:\n    pass"))[0]
    until(lambda: before - descendants(os.getpid()))


@each_row("weak_calls")
def test_a_weak_sandbox_runs_code_but_what_could_reach_out(calls, weak):
    hold(calls, weak)


# ---- what a process wrote


@given(st.binary(max_size=600), st.integers(100, 300), st.sampled_from(["", "Error: x"]))
def test_any_bytes_are_text_within_the_limit(data, limit, error):
    assert len(readable(data, limit, ["/home/someone/python", "/home"], error).encode().decode()) <= limit


@given(st.integers(0, 400), st.integers(100, 300))
def test_no_part_of_a_path_is_left_where_a_text_is_cut(before, limit):
    text = readable(b"." * before + b"/home/someone/python/x " * 60, limit, ["/home/someone/python"])
    assert "/home" not in text and "someone" not in text and "/python" not in text
    assert readable(b"in /home/someone/python:", limit, ["/home/someone/python"]) == "in :"
