"""Forking processes of sandboxes that last as long as the tests: sandboxes with equal settings fork from one."""

import atexit
from typing import Any

import pytest

from medtasks_utils.sandbox import sandbox
from medtasks_utils.sandbox.workers import Zygote

_started: dict[str, Any] = {}


def lasting(settings: dict[str, object], accepts_weak: bool) -> Any:
    """The process for these settings, which is started once, and anew if it has ended."""
    key = f"{settings} {accepts_weak}"
    if key not in _started or _started[key]._process.poll() is not None:
        zygote: Any = Zygote(settings, accepts_weak)
        atexit.register(zygote.end)
        zygote.end = lambda: None
        _started[key] = zygote
    return _started[key]


@pytest.fixture
def own_process(monkeypatch):
    """A sandbox starts and ends a forking process of its own, as for users."""
    monkeypatch.setattr(sandbox, "Zygote", Zygote)


setattr(sandbox, "Zygote", lasting)  # noqa: B010 # a function in the place of a class
