"""The process that forks: it imports what code may use, confines itself, and forks a worker for each that is asked for.

It is started as a fresh interpreter in a folder of links to the libraries, with no environment and one socket. Requests
are one byte and the descriptor of the worker's own socket: no code and no output ever comes here, and a worker inherits
none. It answers each on that socket, with the worker's process as a descriptor.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from . import confine, weak, worker
from .system import die_with_parent
from .worker import FAILED, SPAWNED

# Run before the first fork, so that the interpreter adapts its code here and not in each fork, on pages of its own.
_WARM_UP = """
import math, re, json, statistics, decimal, fractions, datetime, itertools, functools, collections
class A:
    def __init__(self, n): self.n = n
def f(x): return sum(a.n for a in x)
print(f"{f([A(1), A(2)]) / 3:.2f}", datetime.date(2024, 1, 1) + datetime.timedelta(days=1))
try: 1 / 0
except ZeroDivisionError: pass
sorted({"a": 1}.items())
import numpy as np
from scipy import stats
values = np.array([1.0, 2.0])
print(f"{values.mean():.2f} {stats.norm.cdf(1.96):.4f}", np.median(values))
"""


def main(descriptor: int) -> None:
    """Entry point of the fresh interpreter."""
    run = os.getppid()
    control = socket.socket(fileno=descriptor)
    (length,) = struct.unpack("!I", _exactly(control, 4))
    settings = confine.Settings(**json.loads(_exactly(control, length)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _offer_to_the_oom_killer()
    confinement = confine.Confinement(settings)
    if confinement.missing and not settings.weak:
        _say(control, layers=confinement.layers, missing=confinement.missing)
        return
    confinement.enter_namespaces()
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            die_with_parent(launcher if confinement.layers["namespaces"] else None)
            _serve(control, settings, confinement)
        except BaseException as error:
            _say(control, error=f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    control.close()
    while os.getppid() == run and os.waitpid(child, os.WNOHANG)[0] == 0:
        time.sleep(0.5)
    try:
        os.kill(child, signal.SIGKILL)
    finally:
        os._exit(0)


def _serve(control: socket.socket, settings: confine.Settings, confinement: confine.Confinement) -> None:
    is_weak = settings.weak and bool(confinement.missing)
    make_session = weak.WeakSession if is_weak else worker.Session
    if not is_weak:
        worker.import_libraries()
    for _ in range(20):
        worker.warm_up(make_session, "import math" if is_weak else _WARM_UP)
    confinement.confine_zygote()
    worker.forget_the_machine(settings.folder)
    gc.collect()
    gc.freeze()  # a collection in a fork would write to every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leave no dead child behind
    _say(control, layers=confinement.layers, missing=confinement.missing)
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not request:
            return
        _fork(descriptors[0], confinement, make_session)


def _fork(descriptor: int, confinement: confine.Confinement, make_session: Callable[[], worker.Session]) -> None:
    zygote = os.getpid()
    with socket.socket(fileno=descriptor) as connection:
        try:
            confinement.prepare_fork()
            pid = os.fork()
        except OSError as error:
            connection.sendall(FAILED + struct.pack("!I", error.errno or 0))
            return
        if pid == 0:
            try:
                worker.become(descriptor)
                session = make_session()
                confinement.confine_worker(zygote)
                worker.serve(session)
            finally:
                os._exit(0)
        _answer(connection, pid, is_number_known=bool(confinement.layers["namespaces"]))


def _answer(connection: socket.socket, pid: int, is_number_known: bool) -> None:
    """Hand the worker's process to the run, as a descriptor where the system has such."""
    answer = SPAWNED + struct.pack("!I", pid)
    with contextlib.suppress(ConnectionError):  # the run may have lost interest
        try:
            process = os.pidfd_open(pid)
        except (OSError, AttributeError) as error:  # an older kernel, another system: the number has to do
            code = getattr(error, "errno", None) or errno.ENOSYS
            connection.sendall(answer if is_number_known else FAILED + struct.pack("!I", code))
            return
        try:
            socket.send_fds(connection, [answer], [process])
        finally:
            os.close(process)


def _say(control: socket.socket, **message: Any) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _exactly(control: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = control.recv(length - len(data))
        if not more:
            sys.exit("the run is gone")
        data += more
    return data


def _offer_to_the_oom_killer() -> None:
    """If memory runs out, the kernel takes these processes before the run, and the largest of them first."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("900")
    except OSError:
        return
