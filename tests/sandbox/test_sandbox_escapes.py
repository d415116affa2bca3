"""What must not get out of the sandbox, with all its layers and with each off; attempts are in ``tables/escape*``.

In their code, ``CANARY`` is the path of a file that anyone may read, ``FOLDER`` a folder that anyone may write to,
``PORT`` a listening port of this machine, ``SECRET`` a variable of the run's environment, ``RUN`` the run's process,
``FORM`` what the secret looks like, and ``PLANTED`` what one example leaves for another to find. Code that gets hold of
what it must not have, without a trace outside, prints ``GOT`` backwards. Those that go beyond the limit of memory do so
by little, so that nothing breaks where the limit is off.
"""

import errno
import os
import platform
import re
import socket
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from given import each_row, error_line, table

from medtasks_utils.errors import MedtasksError
from medtasks_utils.sandbox import ExecutionResult, Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no boundary to test")

MEMORY_MB = 192
MAX_OUTPUT = 5_000
LAYERS = ("namespaces", "landlock", "seccomp", "limits")
SECRET = "MEDTASKS_TEST_SECRET"
FORM = rb"canary-[0-9a-f]{16}"

SUCCESS = "TOG"
KERNEL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    as_long = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return libc.syscall(ctypes.c_long(number), *as_long)
def got(yes=True):
    if yes: print('GOT'[::-1], globals().get('name'))
def child(result):
    if result == 0: os._exit(0)
    got(result > 0)
"""
"""What code begins with that calls the C library (``libc``), or the system by number (``call``)."""
CLASSES = {"disturb": {name: start + piece * times + end for name, start, piece, times, end in table("escape_long")}}
for of_class, name, code in table("escapes"):
    CLASSES.setdefault(of_class, {})[name] = (KERNEL if of_class in ("start", "kernel") else "") + code
OUTLIVE = dict(table("escape_outlive"))
with_and_without_namespaces = pytest.mark.parametrize(
    "off", [(), pytest.param(("namespaces",), marks=pytest.mark.slow)], ids=str
)


@dataclass
class Watch:
    """Traces that an escape would leave outside."""

    root: Path
    secret: str
    listener: socket.socket

    def prepare(self, attempt):
        """A folder with a canary for an attempt alone, and its code."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        folder.chmod(0o777)
        canary = folder / "canary"
        canary.write_text(self.content)
        names = f"CANARY, FOLDER, PORT = {str(canary)!r}, {str(folder)!r}, {self.listener.getsockname()[1]}\n"
        names += f"SECRET, RUN, FORM = {SECRET!r}, {os.getpid()}, {FORM!r}\n"
        return folder, names + attempt

    @property
    def content(self):
        return f"{self.secret}\n" * 9

    def traces(self, folder, text):
        """What an attempt got, by its text and by what it left."""
        found = [each for each in (self.secret, SUCCESS) if each in text]
        if len(text) > MAX_OUTPUT:
            found.append(f"{len(text)} characters of text")
        canary = folder / "canary"
        is_alone = [*folder.iterdir()] == [canary]
        if not is_alone or canary.read_text() != self.content or canary.stat().st_mode & 0o777 != 0o644:
            found.append("made, removed or changed a file")
        with suppress(BlockingIOError):
            self.listener.accept()[0].close()
            found.append("connected")
        return found


@pytest.fixture(scope="module")
def watch():
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)  # for the sandbox's user, whoever that is
        watch = Watch(Path(root), "canary-" + os.urandom(8).hex(), listener)
        os.environ[SECRET] = watch.secret
        yield watch
    del os.environ[SECRET]
    listener.close()


def make(*off, timeout=3.0):
    """Return a sandbox without some layers; skip the test if this machine lacks others."""
    sandbox = Sandbox(timeout=timeout, memory_mb=MEMORY_MB, max_output=MAX_OUTPUT, _off=off, _anyway=True)
    missing = {layer: reason for layer, reason in sandbox.layers.items() if reason and layer not in off}
    if missing:
        pytest.skip(f"not on this machine: {missing}")
    return sandbox


@pytest.fixture(scope="module")
def sandbox():
    with make() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def hasty():
    with make(timeout=0.4) as sandbox:
        yield sandbox


def of_the_machine():
    """What no text may show: where things are on this machine, and what it is called."""
    paths = {sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), str(Path.home())}
    shown = {path for path in paths if path.count("/") > 2} | {socket.gethostname()}
    return {each for each in shown if len(each) > 4}


def got_through(sandbox, watch, whole, *classes):
    """By class and name, what attempts got that must get nothing; but for the whole classes, of every third attempt."""
    found = {}
    for of_class in classes:
        attempts = CLASSES[of_class]
        size = 1 if of_class == "connect" else 200  # a connection does not tell whose it is
        names = list(attempts)[:: 1 if of_class in whole else 3]
        for start in range(0, len(names), size):
            batch = [(name, *watch.prepare(attempts[name])) for name in names[start : start + size]]
            sandbox.run([("victim", f"x = {watch.secret!r}\nprint(x * 99)\n[x] * 9")])
            results = sandbox.run([(f"{of_class}: {name}", code) for name, _, code in batch])
            for (name, folder, _), result in zip(batch, results, strict=True):
                found[f"{of_class}: {name}"] = watch.traces(folder, result.text) + told(of_class, result)
                sandbox.forget(f"{of_class}: {name}")
            if sandbox.run([("victim", "x[:6]")])[0].text != "'canary'":
                found[f"{of_class}: one of {names[start : start + size]}"] = ["disturbed another session"]
    return {name: traces for name, traces in found.items() if traces}


def told(of_class, result):
    result.text.encode("utf-8")
    if of_class == "machine":
        return [each for each in of_the_machine() if each in result.text or each[::-1] in result.text]
    if of_class in ("memory", "time") and not result.failed:
        return ["did not fail"]
    return []


@pytest.mark.parametrize("of_class", [each for each in CLASSES if each != "time"])
def test_no_attempt_to_escape_gets_through(sandbox, watch, of_class):
    assert got_through(sandbox, watch, ("connect", "kernel"), of_class) == {}


def test_code_that_would_never_end_is_ended(hasty, watch):
    assert got_through(hasty, watch, (), "time") == {}


ENDING = (15, 34, 60, 231, 335, 336)  # such as exit, pause and uretprobe, which would end the trial or hold it up
BY_NUMBER = """
for number, arguments in CALLS:
    ctypes.set_errno(0)
    print(ctypes.get_errno() if call(number, *arguments) < 0 else 0)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls by number")
def test_exactly_these_system_calls_get_through_seccomp_alone(watch):
    """By number, and by their arguments where these matter; all others below 480 are not permitted."""
    rows = table("system_calls")
    others = {*range(480)} - {number for _, number, *_ in rows} - {*ENDING}
    rows += [[number, number, [argument] * 6, False] for number in sorted(others) for argument in (-1, 0)]
    with make("namespaces", "landlock", "limits") as sandbox:
        calls = [(number, arguments) for _, number, arguments, _ in rows]
        (result,) = sandbox.run([("calls", f"{KERNEL}\nCALLS = {calls}\n{BY_NUMBER}")])
    errors = result.text.split("\n")
    wrong = [row[0] for row, error in zip(rows, errors, strict=True) if (error != str(errno.EPERM)) != row[3]]
    assert wrong == []


@each_row("layers_alone")
def test_each_layer_alone_holds_what_it_is_for(layer, code, shown, watch):
    with make(*(other for other in LAYERS if other != layer)) as sandbox:
        (result,) = sandbox.run([("alone", watch.prepare(code)[1])])
    assert result.text.split("\n") == shown


@pytest.mark.slow
@each_row("escape_layers")
def test_without_a_layer_exactly_those_attempts_succeed_that_it_alone_prevents(layer, whole, held_alone, watch):
    """Each class is tried whole with one of the layers off; what then gets through, that layer alone was holding."""
    with make(layer) as sandbox:
        found = got_through(sandbox, watch, whole, *(each for each in CLASSES if each != "time"))
    assert {name.partition(":")[0] for name in found} == {*held_alone}, found


@pytest.mark.slow
def test_attempts_to_escape_succeed_without_a_sandbox(watch):
    """Without any layer, most get through; the others ask for what this system or version does not have."""
    with make(*LAYERS) as sandbox:
        found = got_through(sandbox, watch, (), "read", "write", "connect")
    assert len(found) > 12, sorted(found)


@with_and_without_namespaces
def test_two_examples_have_nothing_in_common(watch, off):
    with make(*off) as sandbox:
        channels = table("escape_channels")
        sandbox.run([(f"{name}: plant", f"PLANTED = {watch.secret!r}\n{plant}") for name, plant, _ in channels])
        results = sandbox.run([(f"{name}: look", look) for name, _, look in channels])
    seen = re.compile(f"{watch.secret[:15]}|{SUCCESS}")
    assert [name for (name, *_), result in zip(channels, results, strict=True) if seen.search(result.text)] == []


@with_and_without_namespaces
def test_two_examples_do_not_notice_each_other(off):
    with make(*off, timeout=10) as sandbox:
        for name, *codes in table("escape_pairs"):
            results = sandbox.run([(f"{name}: {place}", code) for place, code in enumerate(codes)])
            assert SUCCESS not in str(results), name


def number_of(session):
    about = Path(f"/proc/self/fdinfo/{session.process}").read_text(encoding="ascii")
    return about.partition("Pid:")[2].split()[0]


def test_nothing_outlives_its_call(hasty):
    hasty.run(list(OUTLIVE.items()))
    sessions = [session for name, session in hasty._sessions.items() if session.connection and name in OUTLIVE]
    assert sessions
    for path in filter(os.path.exists, (f"/proc/{number_of(session)}/stat" for session in sessions)):
        while ") T " not in Path(path).read_text(encoding="ascii"):  # the signal was sent, and is about to arrive
            time.sleep(0.05)
    texts = {result.text for result in hasty.run([(name, "'next'") for name in OUTLIVE])} - {"'next'"}
    assert [text for text in texts if "late" in text or "Error: " not in text] == []


@pytest.mark.parametrize("off", [["seccomp"], ["limits"], ["namespaces", "landlock"]])
def test_a_sandbox_without_confinement_is_an_error_and_runs_nothing(off):
    """As on macOS, or where a kernel or its administrator gives nothing."""
    with Sandbox(_off=off) as sandbox:
        message = error_line(MedtasksError, sandbox.run, [("a", "1 + 1")])
    assert "weak_sandbox=true" in message and "libseccomp" in message
    assert all(f"{layer}: switched off" in message for layer in off)


def test_code_runs_where_there_are_no_namespaces():
    with Sandbox(_off=["namespaces"]) as sandbox:
        assert sandbox.run([("a", "1 + 1")]) == [ExecutionResult("2", False)]
        assert re.match(r"plain Python, confined by .*seccomp", sandbox.started().description)
        worker = psutil.Process(int(number_of(sandbox._sessions["a"])))
        sandbox.started()._process.kill()
        worker.wait(60)  # the kernel ends it with the process that it was forked from
