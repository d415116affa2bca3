"""State, limits and the life of the sandbox's processes."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medtasks_utils.sandbox import Result, Sandbox, SandboxError
from medtasks_utils.sandbox.client import MAX_CODE
from medtasks_utils.sandbox.layout import Layout
from medtasks_utils.sandbox.output import readable


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
    assert sandbox.run([("c", "x")])[0].text.endswith("NameError: name 'x' is not defined")
    assert texts(sandbox.run([("a", "x += 1\nf()")])) == ["2"]


def test_classes_imports_and_settings_are_kept(sandbox: Sandbox) -> None:
    first = "import numpy as np\nfrom decimal import getcontext\ngetcontext().prec = 5\nclass A:\n    n = 3"
    second = "from decimal import Decimal\nprint(np.sum([A().n, 1]), Decimal(1) / 3)"
    assert texts(sandbox.run([("kept", first), ("kept", second), ("other", "A")]))[1] == "4 0.33333"
    assert sandbox.run([("other", "A")])[0].failed


def test_a_failed_call_keeps_what_it_did_before(sandbox: Sandbox) -> None:
    results = sandbox.run([("f", "x = 5\nprint('so far')\nx / 0"), ("f", "x")])
    assert results[0].text.startswith('so far\nTraceback (most recent call last):\n  File "main.py", line 3')
    assert results[0].text.endswith("ZeroDivisionError: division by zero") and results[0].failed
    assert results[1] == Result("5", False)


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
        assert results[2].text.endswith("NameError: name 'x' is not defined")
        assert results[3].failed
        assert time.monotonic() - started < 20


def test_memory_is_limited_and_the_session_survives_it(sandbox: Sandbox) -> None:
    results = sandbox.run([("m", "x = 7"), ("m", "y = 'a' * 10**10"), ("m", "x")])
    assert results[1].failed and results[1].text.endswith("MemoryError")
    assert results[2].text == "7"


@pytest.mark.parametrize("code", ["print('x' * 5_000)", "print('€' * 18_000)", "print('\\U0001f489' * 9_000)"])
def test_output_is_bounded_and_says_how_much_was_cut(sandbox: Sandbox, code: str) -> None:
    (result,) = sandbox.run([("o", code)])
    assert not result.failed and 900 < len(result.text) <= 1_000
    assert "characters left out]" in result.text and len(set(result.text[:500])) == 1
    (failed,) = sandbox.run([("o", f"{code}\n1 / 0")])
    assert failed.text.endswith("\nZeroDivisionError: division by zero") and len(failed.text) <= 1_000
    assert sandbox.run([("o", "'goes on'")])[0].text == "'goes on'"


def test_the_text_of_an_error_is_output_too(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("o", "raise ValueError('x' * 100_000)")])
    assert result.failed and len(result.text) <= 1_000


def test_endless_output_ends(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("endless", "while True: print('x' * 100_000)")])
    assert result.failed and result.text.endswith("Error: the output had no end; all variables were lost")


def test_code_is_bounded(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("l", "#" * (MAX_CODE + 1))])
    assert result.failed and "too long: 50,001 characters, at most 50,000" in result.text
    assert sandbox.run([("l", "#" * MAX_CODE)])[0] == Result("", False)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = = 1", "SyntaxError: invalid syntax"),
        ("x = '\\0'\n\0", "SyntaxError: source code string cannot contain null bytes"),
        ("", ""),
        ("# nothing", ""),
        ("import torch", "ModuleNotFoundError: No module named 'torch'"),
        ("open('x', 'w')", "Error: "),
        ("input('age?')", "EOFError: EOF when reading a line"),
        ("().__class__.__bases__", "(<class 'object'>,)"),
        ("def f():\n    return 1 / 0\nf()", "ZeroDivisionError: division by zero"),
        ("'\\ud800'", "'\\ud800'"),
        ("raise SystemExit", ""),
        ("exit(0)", ""),
        ("raise SystemExit('enough Error')", "enough Error"),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", "<exception str() failed>"),
        ("np.mean([1, 2]), numpy is np, math.pi > 3", "(np.float64(1.5), True, True)"),
    ],
)
def test_texts(sandbox: Sandbox, code: str, text: str) -> None:
    sandbox.forget("texts")
    (result,) = sandbox.run([("texts", code)])
    assert text in result.text.splitlines()[-1] if text else result.text == ""
    assert result.failed == ("Error" in text or "failed" in text)


def test_tracebacks_are_cpythons_with_paths_that_say_nothing(sandbox: Sandbox) -> None:
    (result,) = sandbox.run([("trace", "def f(x):\n    return np.linalg.inv(x)\nf([[0, 0], [0, 0]])")])
    assert result.text.startswith(
        'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    f([[0, 0], [0, 0]])\n'
    )
    assert '  File "numpy/linalg/_linalg.py", line ' in result.text
    (result,) = sandbox.run([("trace", "f([[0, 0], [0, 0]])")])
    assert '  File "main2.py", line 1' in result.text and "return np.linalg.inv(x)" in result.text


def test_errors_come_in_order_with_the_output(sandbox: Sandbox) -> None:
    code = (
        "import sys\nprint(1)\nprint(2, file=sys.stderr)\nimport os\nsys.stdout.flush()\nos.write(1, b'3\\n')\nprint(4)"
    )
    assert sandbox.run([("order", code)])[0].text.split() == ["1", "2", "3", "4"]


def test_streams_are_mended_for_the_next_call(sandbox: Sandbox) -> None:
    for harm in ("sys.stdout = None", "sys.stdout.close()", "sys.stdout = sys.stderr = 3", "del sys.stdout"):
        assert not sandbox.run([("streams", f"import sys\n{harm}")])[0].failed
        assert sandbox.run([("streams", "print('there')")])[0] == Result("there", False)


def test_a_logger_of_an_earlier_call_writes_in_order(sandbox: Sandbox) -> None:
    first = "import logging, sys\nlogging.basicConfig(format='%(message)s')\nkept = sys.stdout"
    second = "print('1')\nlogging.warning('2')\nprint('3', file=kept)\nprint('4')"
    assert texts(sandbox.run([("logger", first), ("logger", second), ("logger", "print('5', file=kept)")])) == [
        "",
        "1\n2\n3\n4",
        "5",
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            "x = 1\nreturn x",
            "  File \"main.py\", line 2\n    return x\n    ^^^^^^^^\nSyntaxError: 'return' outside function",
        ),
        ("math.sqr(4)", "has no attribute 'sqr'. Did you mean: 'sqrt'?"),
        ("dosage = 5\ndosge", "name 'dosge' is not defined. Did you mean: 'dosage'?"),
        ("raise ValueError('\\ud800')", "ValueError: \\ud800"),
    ],
)
def test_errors_say_all_that_cpython_says(sandbox: Sandbox, code: str, text: str) -> None:
    sandbox.forget("errors")
    assert sandbox.run([("errors", code)])[0].text.endswith(text)


def test_a_folder_at_the_root_is_no_path_to_hide(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container ``sys.prefix`` may be ``/app``, and a text may have ``mg/application``."""
    monkeypatch.setattr("sys.prefix", "/app")
    layout = Layout()
    layout.remove()
    assert "/app" not in layout.paths and all(path.count("/") > 1 for path in layout.paths)


@pytest.mark.parametrize(
    "limits", [{"timeout": 0}, {"memory_mb": -1}, {"max_output": 0}, {"processes": 0}, {"alive": 0}]
)
def test_limits_must_be_positive(limits: dict[str, int]) -> None:
    with pytest.raises(SandboxError, match="must be positive"):
        Sandbox(**limits)  # type: ignore[arg-type]


# ---- processes


def test_more_sessions_than_may_be_alive_say_that_they_are_lost() -> None:
    with Sandbox(timeout=20, alive=3) as sandbox:
        sessions = [str(n) for n in range(8)]
        assert texts(sandbox.run([(session, f"x = {session}\nx") for session in sessions])) == sessions
        again = [result for result in sandbox.run([(session, "x") for session in sessions])]
        lost = [result for result in again if "room" in result.text and "all variables were lost" in result.text]
        assert len(lost) == 5 and all(result.failed for result in lost)
        assert [result.text for result in again if result not in lost] == [
            session for session, result in zip(sessions, again, strict=True) if not result.failed
        ]


def test_a_sandbox_that_is_killed_is_started_anew(caplog: pytest.LogCaptureFixture) -> None:
    with Sandbox(timeout=20) as sandbox:
        sandbox.run([("a", "x = 1")])
        sandbox.started()._process.kill()
        sandbox.started()._process.wait()
        time.sleep(1)
        with caplog.at_level(logging.WARNING):
            first, second = sandbox.run([("a", "2"), ("a", "3")])
        assert first.failed and first.text.endswith("all variables were lost")
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
    with pytest.raises(SandboxError, match=r"cannot start '.*python'"):
        Sandbox().run([("a", "1")])


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("medtasks_utils.sandbox.layout.PACKAGES", ("six",))
    with pytest.raises(SandboxError, match="No module named 'numpy'"):
        Sandbox().run([("a", "1")])


def test_full_temporary_folders_are_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **kwargs: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(SandboxError, match=r"/dev/shm or .TMPDIR: No space left on device"):
        Sandbox().run([("a", "1")])


def test_layers_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="lm_eval.medtasks"), Sandbox(_off=["landlock"]) as sandbox:
        assert sandbox.layers["landlock"] == "switched off"
    assert "sandbox: plain Python, confined by namespaces, seccomp, limits" in caplog.text


# ---- many threads


def test_many_threads_at_once(sandbox: Sandbox) -> None:
    def converse(number: int) -> list[str]:
        return [sandbox.run([(f"thread {number}", code)])[0].text for code in (f"x = {number}", "x += 1", "x")]

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(converse, range(40))) == [["", "", str(number + 1)] for number in range(40)]


def test_a_slow_session_holds_up_no_other() -> None:
    with Sandbox(timeout=20, processes=2) as sandbox, ThreadPoolExecutor(1) as threads:
        slow = threads.submit(sandbox.run, [("slow", "import time\ntime.sleep(2)\n'slow'")])
        assert sandbox.run([("quick", "'quick'")])[0].text == "'quick'"
        assert not slow.done()
        assert slow.result()[0].text == "'slow'"


def test_a_session_forgotten_in_the_middle_of_a_call() -> None:
    with Sandbox(timeout=20, processes=2) as sandbox, ThreadPoolExecutor(1) as threads:
        sandbox.run([("gone", "x = 1")])
        slow = threads.submit(sandbox.run, [("gone", "import time\ntime.sleep(9)")])
        time.sleep(0.3)
        sandbox.forget("gone")
        assert slow.result(timeout=5)[0].failed
        assert sandbox.run([("gone", "x")])[0].text.endswith("NameError: name 'x' is not defined")


# ---- RestrictedPython


@pytest.fixture(scope="module")
def weak() -> Iterator[Sandbox]:
    with Sandbox(timeout=5, weak=True, _off=["seccomp", "namespaces", "landlock"]) as sandbox:
        yield sandbox


def test_weak_where_the_kernel_offers_nothing(weak: Sandbox) -> None:
    assert weak.started().missing == ["seccomp", "namespaces", "landlock"]
    assert "WEAK: RestrictedPython, which is not a boundary" in weak.description
    code = "def bmi(kg, cm):\n    return kg / (cm / 100) ** 2\nvalues = [bmi(80, 178)]\nprint(f'{values[0]:.2f}')\n"
    code += "sum(values) > 25"
    assert weak.run([("w", code), ("w", "import statistics\nstatistics.mean([1, 3]), values[0] > 25")]) == [
        Result("25.25\nTrue", False),
        Result("(2, True)", False),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import numpy",
        "open('/etc/passwd')",
        "().__class__",
        "import json",
        "eval('1')",
        "np",
        "exec('1')",
    ],
)
def test_weak_refuses(weak: Sandbox, code: str) -> None:
    assert weak.run([("refused", code)])[0].failed


def test_weak_is_not_used_where_it_need_not_be(sandbox: Sandbox) -> None:
    with Sandbox(weak=True) as willing:
        assert willing.description == sandbox.description
        assert willing.run([("a", "().__class__")])[0] == Result("<class 'tuple'>", False)


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
    while len(left) < 5:  # two to start and to fork, three sessions
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


# ---- what a process wrote


@given(st.binary(max_size=300), st.integers(1, 90))
def test_any_bytes_are_text_within_the_limit(data: bytes, limit: int) -> None:
    for error in ("", "Error: x"):
        text = readable(data, limit, ["/home/someone/python", "/home"], error)
        assert len(text.encode().decode()) <= limit


@given(st.integers(0, 400), st.integers(100, 300))
def test_no_part_of_a_path_is_left_where_a_text_is_cut(before: int, limit: int) -> None:
    text = readable(b"." * before + b"/home/someone/python/x " * 60, limit, ["/home/someone/python"])
    assert "/home" not in text and "someone" not in text and "/python" not in text


def test_an_answer_forged_in_one_call_is_not_continued_in_the_next(sandbox: Sandbox) -> None:
    forge = "import os, sys\nf = sys._getframe()\nwhile 'mark' not in f.f_locals: f = f.f_back\n"
    forge += "os.write(3, f.f_locals['mark'] + b'0')\nfor n in range(3 * 10**6): pass\nos.write(1, b'late')"
    assert sandbox.run([("forged", forge)])[0].text == ""
    (result,) = sandbox.run([("forged", "'next'")])
    assert result.failed and result.text.startswith("Error: the Python process wrote after its last answer")
    assert sandbox.run([("forged", "'next'")])[0] == Result("'next'", False)
