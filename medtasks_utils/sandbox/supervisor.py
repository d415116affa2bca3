"""The process that forks: one confined process per session, a clock on each call, and the way to and from the run.

Started by :mod:`medtasks_utils.sandbox.client` as a fresh interpreter. It first imports all that code may use, then
confines itself (namespaces, privileges), then forks a supervisor, which is the first process of its process namespace:
when it ends, so does all that it started. It runs no code of the model's. What comes from a session's process is a
length, a flag and text; it can neither be long nor mean anything else.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
import types
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from medtasks_utils.sandbox import confine
from medtasks_utils.sandbox.wire import Inbox, Malformed, pack_json, read_reply
from medtasks_utils.sandbox.worker import SOCKET, Session, serve

HEARTBEAT = 5.0
"""Seconds between signs of life while calls run."""

MAX_REPLAY = 200_000
"""Characters of a session's earlier code that are kept, so that its variables can be brought back."""

_FREE_DESCRIPTORS = 32

# Run before the first fork, so that the interpreter adapts its code here and not in each fork, on pages of its own.
_WARM_UP = """
import numpy as np
from scipy import stats
from datetime import date, timedelta
class A:
    def __init__(self, n): self.n = n
def f(x): return sum(a.n for a in x)
values = np.array([f([A(1), A(2)]), 2.0])
print(f"{values.mean():.2f}", stats.norm.cdf(1.96), date(2024, 1, 1) + timedelta(days=1))
sorted({"a": 1}.items())
"""


@dataclass
class Settings:
    """What the run asks for; see :class:`medtasks_utils.sandbox.client.Sandbox`."""

    timeout: float
    memory_mb: int
    max_output: int
    max_code: int
    alive: int
    off: list[str] = field(default_factory=list)

    @property
    def longest_reply(self) -> int:
        """Bytes that a session's process may send at once."""
        return 4 * (self.max_output + 3000)

    @property
    def longest_request(self) -> int:
        """Bytes that it may be sent at once."""
        return 12 * (self.max_code + MAX_REPLAY) + 1000  # as JSON writes characters


@dataclass
class Child:
    """A session's process."""

    pid: int
    connection: socket.socket
    inbox: Inbox
    codes: list[str] | None = field(default_factory=list)
    call: int | None = None
    deadline: float = 0.0
    unsent: bytes = b""


class Supervisor:
    """Forks, asks, waits, kills.

    Args:
        control: the socket to the run.
        settings: limits.
        confinement: what each session's process adds to what this one has.
    """

    def __init__(self, control: socket.socket, settings: Settings, confinement: confine.Confinement) -> None:
        self._control = control
        self._settings = settings
        self._confinement = confinement
        self._requests = Inbox(64 * (settings.max_code + 1000))
        self._children: OrderedDict[str, Child] = OrderedDict()  # in order of use
        self._asleep: dict[str, list[str] | None] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, None)
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._alive = min(settings.alive, max(1, descriptors - _FREE_DESCRIPTORS))

    def run(self) -> None:
        """Serve until the run closes its end."""
        last_sign = time.monotonic()
        while True:
            running = [child for child in self._children.values() if child.call is not None]
            now = time.monotonic()
            wait = min((child.deadline - now for child in running), default=None)
            for key, _ in self._selector.select(None if wait is None else max(0.0, min(wait, HEARTBEAT))):
                if key.data is None:
                    if not self._receive():
                        return self._stop()
                else:
                    self._hear(key.data)
            now = time.monotonic()
            for session, child in list(self._children.items()):
                if child.call is not None and child.deadline <= now:
                    self._end(session, f"timed out after {self._settings.timeout:g} s")
            if running and now - last_sign > HEARTBEAT:
                self._control.sendall(pack_json({}))
                last_sign = now

    def _stop(self) -> None:
        for child in self._children.values():  # where no namespace or death signal does it
            os.kill(child.pid, signal.SIGKILL)

    def _receive(self) -> bool:
        data = self._control.recv(1 << 16)
        for message in self._requests.feed(data):
            request = json.loads(message)
            if "forget" in request:
                self._forget(request["forget"])
            else:
                self._start(request["session"], request["call"], request["code"])
        return bool(data)

    # ---- calls

    def _start(self, session: str, call: int, code: str) -> None:
        codes = [code]
        child = self._children.get(session)
        if child is None:
            earlier = self._asleep.pop(session, [])
            if earlier is None:
                self._answer(call, True, "Error: too many sessions are alive; the variables of this one were lost")
                return
            try:
                child = self._fork(session)
            except OSError as error:
                self._answer(call, True, f"Error: no process could be started for the code: {error}")
                return
            codes = [*earlier, code]
            child.codes = earlier
        self._children.move_to_end(session)
        if child.codes is not None:
            child.codes.append(code)
            if sum(map(len, child.codes)) > MAX_REPLAY:
                child.codes = None
        child.call = call
        child.deadline = time.monotonic() + self._settings.timeout * len(codes)
        child.unsent = pack_json(codes)
        self._selector.register(child.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, session)
        self._send(session, child)

    def _send(self, session: str, child: Child) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):  # a dead process is noticed when it is heard
            child.unsent = child.unsent[child.connection.send(child.unsent) :]
        if not child.unsent:
            self._selector.modify(child.connection, selectors.EVENT_READ, session)

    def _hear(self, session: str) -> None:
        child = self._children.get(session)
        if child is None or child.call is None:
            return
        if child.unsent:
            self._send(session, child)
        try:
            data = child.connection.recv(1 << 16)
            replies = child.inbox.feed(data)
        except BlockingIOError:
            return
        except (ConnectionError, Malformed):
            data, replies = b"", []
        if replies:
            call, child.call = child.call, None
            self._selector.unregister(child.connection)
            self._answer(call, *read_reply(replies[0]))
            if len(replies) > 1 or child.inbox:  # it talks out of turn
                self._end(session)
        elif not data:
            self._end(session, "")

    def _answer(self, call: int, failed: bool, text: str) -> None:
        self._control.sendall(pack_json({"call": call, "failed": failed, "text": text}))

    # ---- processes

    def _fork(self, session: str) -> Child:
        while len(self._children) >= self._alive and self._put_one_to_sleep():
            pass
        while True:
            ours, theirs = socket.socketpair()
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                theirs.close()
                if not self._put_one_to_sleep():
                    raise
                continue
            break
        if pid == 0:
            self._become_worker(theirs)
        theirs.close()
        ours.setblocking(False)
        self._children[session] = child = Child(pid, ours, Inbox(self._settings.longest_reply))
        return child

    def _become_worker(self, connection: socket.socket) -> None:
        """Turn this fork into a session's process; never returns."""
        try:
            supervisor = os.getppid()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.dup2(connection.fileno(), SOCKET, inheritable=False)
            os.closerange(SOCKET + 1, 1 << 16)
            confine.die_with_parent(supervisor)
            guarded = "guards" not in self._settings.off
            session = Session(guarded=guarded, max_output=self._settings.max_output)
            self._confinement.apply_to_worker()
            serve(session, self._settings.timeout, self._settings.longest_request)
        finally:
            os._exit(0)

    def _put_one_to_sleep(self) -> bool:
        """End the process that was used last; its session's code runs again when it is next called.

        Rounds go through the sessions in one order, so the one used last is needed last.
        """
        for session, child in reversed(self._children.items()):
            if child.call is None:
                self._asleep[session] = child.codes
                self._end(session)
                return True
        return False

    def _forget(self, session: str) -> None:
        self._asleep.pop(session, None)
        if session in self._children:
            self._end(session)

    def _end(self, session: str, reason: str | None = None) -> None:
        """Kill a session's process; with a reason, that is the answer to its call (an empty one: however it ended)."""
        child = self._children.pop(session)
        if child.call is not None:
            self._selector.unregister(child.connection)
        child.connection.close()
        if reason == "":
            time.sleep(0.001)  # its own end comes first, if it is already ending
        done, status = os.waitpid(child.pid, os.WNOHANG)
        if not done:
            os.kill(child.pid, signal.SIGKILL)
            _, status = os.waitpid(child.pid, 0)
        if child.call is not None and reason is not None:
            reason = reason or _how_it_ended(os.waitstatus_to_exitcode(status))
            self._answer(child.call, True, f"Error: {reason}; all variables were lost")


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return "the Python process ended"
    name = signal.Signals(-code).name
    known = {
        "SIGKILL": "it was killed, perhaps for its memory",
        "SIGXCPU": "it was out of CPU time",
        "SIGALRM": "it timed out",
        "SIGSEGV": "it ran out of stack or memory",
    }
    return f"the Python process ended by {name} ({known.get(name, 'it crashed')})"


def main(control: socket.socket, settings: Settings) -> None:
    """Confine this process and serve; the first message says which layers are on."""
    run = os.getppid()
    confine.offer_to_the_oom_killer()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1 << 16) if hard > 0 else 1 << 16, hard))
    confinement = confine.Confinement(
        memory=settings.memory_mb << 20,
        base=confine.address_space(),
        cpu_seconds=100 * (settings.timeout + 2),
        off=settings.off,
    )
    no_namespaces = "switched off" if "namespaces" in settings.off else confine.enter_namespaces()
    confine.give_up_privileges()
    os.environ.clear()
    sys.modules["__main__"] = types.ModuleType("__main__")
    layers = {
        "guards": "switched off" if "guards" in settings.off else "",
        "namespaces": no_namespaces,
        **confinement.layers,
    }
    for _ in range(20):
        Session(guarded=True, max_output=1).run(_WARM_UP)
    gc.collect()
    gc.freeze()  # a collection in a fork would write to every page
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            if no_namespaces:
                confine.die_with_parent(launcher)
            elif confine.LINUX:
                confine.die_with_parent(0)
            confinement.apply_to_supervisor()
            control.sendall(pack_json({"layers": layers}))
            Supervisor(control, settings, confinement).run()
        finally:
            os._exit(0)
    control.close()
    while os.getppid() == run and os.waitpid(child, os.WNOHANG)[0] == 0:
        time.sleep(0.5)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os._exit(0)


def start(arguments: list[str]) -> None:
    """Entry point of the fresh interpreter: the control socket's descriptor, and the settings as JSON."""
    values: dict[str, Any] = json.loads(arguments[1])
    main(socket.socket(fileno=int(arguments[0])), Settings(**values))
