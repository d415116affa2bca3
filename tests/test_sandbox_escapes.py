"""What must not get out of the sandbox, with all its layers and with each off; the attempts are in sandbox_escapes."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sandbox_escapes import CATEGORIES, SUCCESS

from medtasks_utils.sandbox import Sandbox

MEMORY_MB = 192
MAX_OUTPUT = 5_000
KERNEL = ("namespaces", "landlock", "seccomp")
LAYERS = ("guards", *KERNEL, "limits")
SECRET = "MEDTASKS_TEST_SECRET"

# With one layer off and all others on, what gets through is what that layer alone was holding. Everything else is held
# at least twice. "inside" is about the guards themselves: without them, code does get hold of modules, and has no use
# of it.
HELD_ALONE: dict[str, set[str]] = {
    "guards": {"inside"},
    "namespaces": set(),
    "landlock": set(),
    "seccomp": set(),
    "limits": {"memory"},
}
# What each of the others holds by itself, without guards and without the rest.
HELD_BY_ITSELF = {
    "namespaces": {"read", "write", "connect"},
    "landlock": {"read", "write"},
    "seccomp": {"read", "write", "connect", "disturb"},
    "limits": {"read", "connect", "memory"},
}
BEYOND_LANDLOCK = {"write: os.chmod"}
"""Changing the mode of a file of one's own is no access that Landlock knows."""


@dataclass
class Watch:
    """Traces that an escape would leave outside."""

    root: Path
    secret: str
    listener: socket.socket

    def prepare(self, attempt: str) -> tuple[Path, str]:
        """A folder with a canary for an attempt alone, and its code."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        folder.chmod(0o777)
        canary = folder / "canary"
        canary.write_text(self.content, encoding="utf-8")
        values = {
            "CANARY": str(canary),
            "FOLDER": str(folder),
            "PORT": self.listener.getsockname()[1],
            "SECRET": SECRET,
            "RUN": os.getpid(),
        }
        return folder, "; ".join(f"{name} = {value!r}" for name, value in values.items()) + "\n" + attempt

    @property
    def content(self) -> str:
        return f"{self.secret}\n" * 9

    def traces(self, folder: Path, text: str) -> list[str]:
        """What an attempt got, by its text and by what it left."""
        found = []
        if self.secret in text:
            found.append("read the secret")
        if SUCCESS in text:
            found.append("got hold of it")
        if len(text) > MAX_OUTPUT + 3_000:
            found.append(f"{len(text)} characters of text")
        canary = folder / "canary"
        if [path.name for path in folder.iterdir()] != ["canary"]:
            found.append("made or removed a file")
        elif canary.read_text(encoding="utf-8") != self.content or canary.stat().st_mode & 0o777 != 0o644:
            found.append("changed a file")
        try:
            self.listener.accept()[0].close()
            found.append("connected")
        except BlockingIOError:
            pass
        return found


@pytest.fixture(scope="module")
def watch() -> Iterator[Watch]:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)  # for the sandbox's user, whoever that is
        watch = Watch(Path(root), "canary-" + os.urandom(8).hex(), listener)
        os.environ[SECRET] = watch.secret
        yield watch
    del os.environ[SECRET]
    listener.close()


def make(*off: str, timeout: float = 3.0) -> Sandbox:
    return Sandbox(timeout=timeout, memory_mb=MEMORY_MB, max_output=MAX_OUTPUT, processes=2, _off=off)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with make() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def impatient() -> Iterator[Sandbox]:
    with make(timeout=0.5) as sandbox:
        yield sandbox


Attempt = tuple[str, str, str]


def attempts(*categories: str) -> list[Attempt]:
    return [(category, name, code) for category in categories for name, code in CATEGORIES[category].items()]


def got_through(sandbox: Sandbox, watch: Watch, *categories: str) -> dict[str, list[str]]:
    """By category and name, what attempts got that must get nothing."""
    found = {}
    for category in categories:
        size = 1 if category == "connect" else 100  # a connection does not tell whose it is
        of_category = attempts(category)
        for start in range(0, len(of_category), size):
            batch = [(name, *watch.prepare(code)) for _, name, code in of_category[start : start + size]]
            results = sandbox.run([("witness", "x = 41"), *((f"{category}: {name}", code) for name, _, code in batch)])[
                1:
            ]
            for (name, folder, _), result in zip(batch, results, strict=True):
                if traces := watch.traces(folder, result.text):
                    found[f"{category}: {name}"] = traces
                sandbox.forget(f"{category}: {name}")
            if sandbox.run([("witness", "x + 1")])[0].text != "42":
                found[f"{category}: one of {[name for name, _, _ in batch]}"] = ["disturbed another session"]
    return found


@pytest.mark.parametrize(
    ("category", "name", "code"), [pytest.param(*each, id=f"{each[0]}: {each[1]}") for each in attempts(*CATEGORIES)]
)
def test_held(sandbox: Sandbox, impatient: Sandbox, watch: Watch, category: str, name: str, code: str) -> None:
    used = impatient if category == "time" else sandbox
    folder, code = watch.prepare(code)
    sandbox.run([("witness", "x = 41")])
    (result,) = used.run([(name, code)])
    assert watch.traces(folder, result.text) == []
    assert sandbox.run([("witness", "x + 1")])[0].text == "42"
    assert used.run([(name, "'still here'")])[0].text == "'still here'"
    used.forget(name)
    result.text.encode("utf-8")
    if category in ("connect", "memory", "time"):
        assert result.failed


@pytest.mark.parametrize("layer", LAYERS)
def test_with_one_layer_off(watch: Watch, layer: str) -> None:
    with make(layer) as sandbox:
        skip_without(sandbox, *(other for other in LAYERS if other != layer))
        found = got_through(sandbox, watch, "read", "write", "connect", "inside", "disturb", "memory")
    print(f"{layer} alone was holding {len(found)}: {', '.join(found) or 'nothing'}")
    assert {name.partition(":")[0] for name in found} == HELD_ALONE[layer], found


def test_guards_by_themselves(watch: Watch) -> None:
    """As on a system whose kernel offers nothing."""
    with make(*KERNEL) as sandbox:
        assert got_through(sandbox, watch, "read", "write", "connect", "inside", "disturb") == {}


@pytest.mark.parametrize("layer", HELD_BY_ITSELF)
def test_one_layer_by_itself(watch: Watch, layer: str) -> None:
    with make(*(other for other in LAYERS if other != layer)) as sandbox:
        skip_without(sandbox, layer)
        found = got_through(sandbox, watch, *sorted(HELD_BY_ITSELF[layer]))
    assert set(found) - (BEYOND_LANDLOCK if layer == "landlock" else set()) == set(), found


def test_attempts_are_real(watch: Watch) -> None:
    """Without any layer, most get through; the others ask for what this system or version does not have."""
    with make(*LAYERS) as sandbox:
        found = got_through(sandbox, watch, "read", "write", "connect")
    assert len(found) > 80, sorted(found)


def skip_without(sandbox: Sandbox, *layers: str) -> None:
    missing = {layer: reason for layer, reason in sandbox.layers.items() if layer in layers and reason}
    if missing:
        pytest.skip(f"not on this machine: {missing}")


def test_layers_are_on_where_the_kernel_offers_them(sandbox: Sandbox) -> None:
    assert set(sandbox.layers) == set(LAYERS)
    assert not sandbox.layers["guards"] and not sandbox.layers["limits"]
    if sys.platform != "linux":
        assert all(sandbox.layers[layer] for layer in KERNEL)
