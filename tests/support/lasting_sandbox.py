"""Let sandboxes with equal settings share a forking process, which lasts as long as the tests."""

import atexit
from typing import Any

import pytest

from medtasks_utils.sandbox import sandbox
from medtasks_utils.sandbox.workers import Zygote

_started: dict[str, Any] = {}


def lasting(settings: dict[str, object], accepts_weak: bool) -> Any:
    """Return the process for these settings; start it at the first call, and again if it has ended."""
    key = f"{settings} {accepts_weak}"
    if key not in _started or _started[key]._process.poll() is not None:
        zygote: Any = Zygote(settings, accepts_weak)
        atexit.register(zygote.end)
        zygote.end = lambda: None
        _started[key] = zygote
    return _started[key]


@pytest.fixture
def own_process(monkeypatch):
    """Let each sandbox start and end its own forking process, as for users."""
    monkeypatch.setattr(sandbox, "Zygote", Zygote)


setattr(sandbox, "Zygote", lasting)  # noqa: B010 # a function in the place of a class
